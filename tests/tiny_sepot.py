"""Studies of the SePoT paper's experiments on kuhn_poker, as small as they can be."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment
from experiments.sepot import curves, position, protocol, safety
from experiments.sepot.study import Trained, TrainedGame
from spiel_dl.learning.config import CriticConfig, RNaDConfig
from spiel_dl.runs.reports import Report
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree.depth_limit import DepthLimit

CRITIC = CriticConfig(hidden_sizes=(4,), learning_rate=3e-4, final_learning_rate=None)
_KUHN = {"games": ("kuhn_poker",), "seeds": (0, 1), "iterations": 20}
_NETWORKS = {
    "num_steps": 4,
    "steps_per_evaluation": 3,
    "learner": RNaDConfig(batch_size=4, hidden_sizes=(4,)),
    "critic": CRITIC,
}
TINY = Trained(**_KUHN, **_NETWORKS)
SETTINGS = {
    curves.CFVS: TINY,
    safety.SAFETY: TINY,
    protocol.PROTOCOL: protocol.Settings(
        **{**_KUHN, "seeds": (0, 1, 2)},
        **_NETWORKS,
        limits=(DepthLimit(moves=1),),
        num_searching=2,
        bounds=(100, 200),
        num_games=8,
    ),
    position.POSITION: position.Settings(seeds=(0,)),
}


def study(experiment: Experiment[Any], directory: Path, **changes: object) -> Any:
    settings = dataclasses.replace(SETTINGS[experiment], **changes)
    return experiment.study(settings, Workspace(directory))


def trained_game(directory: Path, **changes: object) -> TrainedGame[Trained]:
    [found] = study(curves.CFVS, directory, **changes).games()
    return found


def report(experiment: Experiment[Any], directory: Path, **changes: object) -> Report:
    return experiment.report(study(experiment, directory, **changes))
