"""Options of the particle experiments reach what they are for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from experiments.particle import linear_targets
from experiments.particle.experiments import EXPERIMENTS
from experiments.particle.study import Settings, Study
from experiments.study import run
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlayConfig
from spiel_dl.runs.workspace import Workspace
from spiel_dl.value_functions.particle_module import ParticleSizes

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"
SIZES = ParticleSizes(base=4, regression_width=1.0)
DEFAULT_SIZES = {"particle": ParticleSizes()}  # a network's file has its own
SETTINGS = Settings(
    GAME,
    particle=SIZES,
    play=ParticleSelfPlayConfig(iterations=5),
    device="meta",
)


def study(path: Path, **changes: Any) -> Study:
    return Study(dataclasses.replace(SETTINGS, **changes), Workspace(path))


def test_seeds_and_rates_are_those_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def train(_: str, **config: Any) -> list[dict[str, float]]:
        found.append((config["seed"], config["learning_rate"]))
        return [{"step": 1, "loss": 0.5}]

    monkeypatch.setattr(linear_targets, "train_on_linear_targets", train)
    own = study(tmp_path / "run", seeds=(3, 4), linear_learning_rate=0.5)
    run(EXPERIMENTS, own, tmp_path / "out", ["linear_targets"])
    assert set(found) == {(3, 0.5), (4, 0.5)}


def test_unknown_experiments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'figure_9' must be one of linear_targets"):
        run(EXPERIMENTS, study(tmp_path / "run"), tmp_path, ["figure_9"])
    assert list(tmp_path.iterdir()) == []
