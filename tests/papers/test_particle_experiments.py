"""Options of the particle experiments reach what they are for."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from papers.particle import experiments as particle_experiments
from papers.particle.experiments import Options, run_experiment
from papers.particle.linear_targets import LinearTargetsConfig, LossAtStep
from papers.particle.study import NetworkSizes

from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, SelfPlayConfig
from spiel_dl.jobs import head_to_head
from spiel_dl.jobs.head_to_head import HeadToHeadConfig
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


def test_networks_live_on_the_device_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = []

    class Recording(ParticleNetwork):
        def __init__(self, *arguments: Any, device: str, **settings: Any):
            devices.append(device)
            super().__init__(*arguments, device=device, **settings)

    def play(config: HeadToHeadConfig, *_: Any, **__: Any) -> None:
        devices.append(config.device)
        raise InterruptedError

    monkeypatch.setattr(particle_experiments, "ParticleNetwork", Recording)
    monkeypatch.setattr(particle_experiments, "self_play", lambda *_: None)
    monkeypatch.setattr(head_to_head, "play", play)
    report = run_experiment("self_play", OPTIONS, tmp_path / "run", {})
    assert report == tmp_path / "run" / "self_play.md"
    with pytest.raises(InterruptedError):
        run_experiment("match", dataclasses.replace(OPTIONS, network="n"), tmp_path / "match", {})
    assert devices == ["meta", "meta"]


def test_self_play_goes_on_with_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = ParticleNetwork(SIZES, conditional=True, seed=7)
    network.initialize(cut(GameTree.from_game(GAME), DepthLimit(rounds=1)).leaves)
    network.save(tmp_path / "network")
    learners: list[ParticleSelfPlay] = []
    monkeypatch.setattr(
        particle_experiments, "self_play", lambda _, learner, __: learners.append(learner)
    )
    options = dataclasses.replace(OPTIONS, network=str(tmp_path / "network"), device="cpu")
    run_experiment("self_play", options, tmp_path / "run", {})
    found = learners[0].network
    assert found.conditional
    for name, array in network.parameter_arrays().items():
        np.testing.assert_array_equal(found.parameter_arrays()[name], array)


def test_a_match_that_was_stopped_goes_on(tmp_path: Path) -> None:
    network = ParticleNetwork(SIZES)
    network.initialize(cut(GameTree.from_game(GAME), DepthLimit(rounds=1)).leaves)
    network.save(tmp_path / "network")
    options = dataclasses.replace(
        OPTIONS, network=str(tmp_path / "network"), device="cpu", num_games=20
    )
    reports = []
    for _ in range(2):
        path = run_experiment("match", options, tmp_path / "run", {})
        rows = json.loads(path.with_suffix(".json").read_text())["rows"]
        reports.append([{k: v for k, v in row.items() if "memory" not in k} for row in rows])
        pieces = sorted((tmp_path / "run" / "work" / "highest").iterdir())
        assert [piece.name[6:12] for piece in pieces] == ["000000", "000005"]
    # Times, too: nothing was played again.
    assert reports[0] == reports[1]
    assert [row["games"] for row in reports[0]] == [20, 20]


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
