"""Options of the particle experiments reach what they are for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from spiel_dl.algorithms.particle_self_play import SelfPlayConfig
from spiel_dl.experiments.particle import experiments as particle_experiments
from spiel_dl.experiments.particle.experiments import Options, run_experiment
from spiel_dl.experiments.particle.linear_targets import LinearTargetsConfig, LossAtStep
from spiel_dl.experiments.particle.study import NetworkSizes
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"
SIZES = ParticleSizes(base=4, regression_width=1.0)
OPTIONS = Options(
    game=GAME,
    sizes=NetworkSizes(particle=SIZES),
    play=SelfPlayConfig(DepthLimit(rounds=1), iterations=5),
    device="meta",
)


@pytest.mark.parametrize("name", ["self_play", "match"])
def test_networks_live_on_the_device_that_is_asked_for(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = ParticleNetwork(SIZES)
    network.bind(cut(GameTree.from_game(GAME), DepthLimit(rounds=1)).leaves)
    network.save(tmp_path / "network")
    devices = []

    class Recording(ParticleNetwork):
        def __init__(self, *arguments: Any, device: str, **settings: Any):
            devices.append(device)
            super().__init__(*arguments, device=device, **settings)

        @staticmethod
        def load(path: Any, device: str = "cpu") -> ParticleNetwork:
            devices.append(device)
            return ParticleNetwork.load(path)

    monkeypatch.setattr(particle_experiments, "ParticleNetwork", Recording)
    monkeypatch.setattr(particle_experiments, name, lambda *_: None)
    options = dataclasses.replace(OPTIONS, network=str(tmp_path / "network"))
    report = run_experiment(name, options, tmp_path / "run", {})
    assert devices == ["meta"]
    assert report == tmp_path / "run" / f"{name}.md"


def test_seeds_and_rates_are_those_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def train(_: str, config: LinearTargetsConfig) -> list[LossAtStep]:
        found.append((config.seed, config.learning_rate))
        return [LossAtStep(1, 0.5)]

    monkeypatch.setattr(particle_experiments, "train_on_linear_targets", train)
    options = Options(num_seeds=2, linear=LinearTargetsConfig(seed=3, learning_rate=0.5))
    run_experiment("linear_targets", options, tmp_path / "run", {})
    assert set(found) == {(3, 0.5), (4, 0.5)}


def test_unknown_experiments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'figure_9' must be one of linear_targets"):
        run_experiment("figure_9", OPTIONS, tmp_path / "run", {})
    assert list(tmp_path.iterdir()) == []
