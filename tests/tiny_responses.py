"""Studies of the experiments with responses, as small as they can be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from experiments.responses.responders import Responder, compile_named, game_value
from experiments.responses.study import Settings, Study
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.workspace import Workspace

SETTINGS = Settings(
    ("kuhn",),
    ("uniform", "random:0"),
    (0,),
    gadgets=("joint", "max_margin"),
    parameters=(0.0, 0.5, 1.0),
    bounds=(0.0, 1.0),
    cfr_iterations=(5,),
)


def study(path: Path, **changes: object) -> Study:
    return Study(dataclasses.replace(SETTINGS, **changes), Workspace(path))


def responder(name: str, model: ArrayPolicy | None = None, player: int = 0) -> Responder:
    tree = compile_named(name)
    return Responder(
        tree, model or ArrayPolicy.uniform(tree), player, game_value(name, tree, player)
    )
