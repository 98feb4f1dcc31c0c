"""Studies of the experiments with responses, as small as they can be."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment
from experiments.responses import biased_rps, frontier, gadgets, local, poker, table_1
from experiments.responses.responders import Responder, compile_named, game_value
from experiments.responses.sweeps import Sweep
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import Workspace

SWEEP = Sweep(
    gadgets=("joint", "max_margin"),
    parameters=(0.0, 0.5, 1.0),
    bounds=(0.0, 1.0),
    cfr_iterations=(5,),
)
_WHO = {"games": ("kuhn",), "models": ("uniform", "random:0"), "players": (0,)}
SETTINGS = {
    table_1.TABLE_1: table_1.Settings(**_WHO),
    frontier.FRONTIER: frontier.Settings(**_WHO, sweep=SWEEP),
    biased_rps.BIASED_RPS: dataclasses.replace(
        biased_rps.SETTINGS,
        models=_WHO["models"],
        sweep=dataclasses.replace(SWEEP, depth_limit=biased_rps.LIMIT),
    ),
    gadgets.GADGET_SETS: gadgets.SETTINGS,
    local.LOCAL_RESPONSES: local.SETTINGS,
    poker.POKER: poker.SETTINGS,
}


def study(experiment: Experiment[Any], path: Path, **changes: object) -> Any:
    settings = dataclasses.replace(SETTINGS[experiment], **changes)
    return experiment.study(settings, Workspace(path))


def responder(name: str, model: ArrayPolicy | None = None, player: int = 0) -> Responder:
    tree = compile_named(name)
    return Responder(tree, model or ArrayPolicy.uniform(tree), player, game_value(tree, player))
