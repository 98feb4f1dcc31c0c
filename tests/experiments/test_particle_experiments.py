"""Options of the particle experiments reach what they are for."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.particle import linear_targets, play
from experiments.particle import study as particle_study
from experiments.particle.experiments import EXPERIMENTS
from experiments.particle.study import Settings, Study
from experiments.study import run
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.runs import head_to_head
from spiel_dl.runs.workspace import Workspace
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleSizes
from spiel_dl.value_functions.training import NETWORK_FILE

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


def saved(path: Path, **settings: Any) -> ParticleNetwork:
    network = ParticleNetwork(SIZES, **settings)
    network.initialize(cut(GameTree.from_game(GAME), DepthLimit(rounds=1)).leaves)
    network.save(path)
    return network


def test_networks_live_on_the_device_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices = []

    class Recording(ParticleNetwork):
        def __init__(self, *arguments: Any, device: str, **settings: Any):
            devices.append(device)
            super().__init__(*arguments, device=device, **settings)

    def stop(*_: Any, device: str, **__: Any) -> None:
        devices.append(device)
        raise InterruptedError

    monkeypatch.setattr(particle_study, "ParticleNetwork", Recording)
    monkeypatch.setattr(play, "ParticleSelfPlay", lambda *_: None)
    monkeypatch.setattr(play, "learn", lambda *_: [{"step": 1, "loss": 0.5}])
    monkeypatch.setattr(head_to_head, "play", stop)
    paths = run(EXPERIMENTS, study(tmp_path / "run"), tmp_path / "out", ["self_play"])
    assert paths == [tmp_path / "out" / "self_play.md"]
    with pytest.raises(InterruptedError):
        EXPERIMENTS["match"].compute(study(tmp_path / "match", network="n", **DEFAULT_SIZES))
    assert devices == ["meta", "meta"]


def test_self_play_goes_on_with_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = saved(tmp_path / "network", conditional=True, seed=7)
    learners: list[ParticleSelfPlay] = []

    def learn(_: Study, learner: ParticleSelfPlay, __: Any) -> list[Any]:
        learners.append(learner)
        return [{"step": 1}]

    monkeypatch.setattr(play, "learn", learn)
    changes = {"network": str(tmp_path / "network"), "device": "cpu", **DEFAULT_SIZES}
    own = study(tmp_path / "run", **changes)
    EXPERIMENTS["self_play"].compute(own)
    found = learners[0].network
    assert found.conditional
    for name, array in network.parameter_arrays().items():
        np.testing.assert_array_equal(found.parameter_arrays()[name], array)


def test_self_play_is_made_once_and_keeps_its_network(tmp_path: Path) -> None:
    found = [
        EXPERIMENTS["self_play"].compute(study(tmp_path / "run", num_games=2, device="cpu"))
        for _ in range(2)
    ]
    assert found[0] == found[1], "also the seconds"
    assert [row["step"] for row in found[0]] == [1, 2]
    assert ParticleNetwork.load(tmp_path / "run" / "self_play" / NETWORK_FILE).parameter_arrays()


def test_a_match_that_was_stopped_goes_on(tmp_path: Path) -> None:
    saved(tmp_path / "network")
    changes = {
        "network": str(tmp_path / "network"),
        "device": "cpu",
        "num_games": 20,
        **DEFAULT_SIZES,
    }
    reports = []
    for _ in range(2):
        [path] = run(EXPERIMENTS, study(tmp_path / "run", **changes), tmp_path / "out", ["match"])
        [rows] = json.loads(path.with_suffix(".json").read_text())["tables"].values()
        reports.append([{k: v for k, v in row.items() if "memory" not in k} for row in rows])
        parts = sorted((tmp_path / "run" / "highest" / "parts").iterdir())
        assert [part.name[6:12] for part in parts] == ["000000", "000005"]
    # Times, too: nothing was played again.
    assert reports[0] == reports[1]
    assert [row["games"] for row in reports[0]] == [20, 20]


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
