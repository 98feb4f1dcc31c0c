"""Runs of all learners: killed at a random step and resumed, they end with the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import ArrayPolicy, DepthLimit
from spiel_dl.algorithms.particle_self_play import ParticleSelfPlay, ParticleSelfPlayConfig
from spiel_dl.learning.config import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs import learner_run
from spiel_dl.system import tensor_files
from spiel_dl.system.run_directory import CHECKPOINT_FILE, RunDirectory
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes
from tests.reference import Killed, assert_same_arrays, timeless
from tests.small_learners import small_critic, small_learner

GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=random)"
NUM_STEPS, STEPS_PER_EVALUATION = 17, 4

AnyLearner = Learner | ParticleSelfPlay


def self_play(kind: str, **arguments: Any) -> Callable[[], AnyLearner]:
    common = {"batch_size": 4, "hidden_sizes": (8,), "learning_rate": 0.01, "seed": 3}
    return lambda: small_learner(kind, **common, **arguments)


class HalvedFeatures(InfostateFeatures):
    """Features that are no bits, of player 1 alone."""

    def infostates(self, rules: Any, states: Any, player: int, public: Any = None) -> Any:
        return super().infostates(rules, states, player, public) / (player + 1)


def particle() -> AnyLearner:
    sizes = ParticleSizes(base=4, regression_width=1.0)
    network = ParticleNetwork(sizes, HalvedFeatures(), conditional=True)
    config = ParticleSelfPlayConfig(
        budget=4, iterations=3, buffer_size=5, batch_size=3, steps_per_game=2
    )
    return ParticleSelfPlay(GOOFSPIEL, network, DepthLimit(rounds=1), config)


RULES = {"game": GOOFSPIEL, "max_tree_histories": 1, "final_learning_rate": 0.001}
PERIODS = {"first_period": 3, "num_first_periods": 2}
CRITIC = CriticConfig(hidden_sizes=(8, 8), learning_rate=0.01)
LEARNERS: dict[str, Callable[[], AnyLearner]] = {
    "rnad in rules": self_play("rnad", **PERIODS, **RULES),
    "rnad with critic in tables": self_play("rnad", critic=CRITIC, **PERIODS),
    "mmd with critic in tables": self_play("mmd", critic=CRITIC),
    "mmd with critic in rules": self_play("mmd", critic=CRITIC, **RULES),
    "ppo in rules": self_play("ppo", **RULES),
    "ppo in tables": self_play("ppo"),
    "critic alone": lambda: small_critic(config=CRITIC, batch_size=4),
    "particle": particle,
}


def run(path: Path, learner: AnyLearner, num_steps: int = NUM_STEPS, **options: Any) -> list[Any]:
    directory = RunDirectory(path, learner.settings(), resume=True)
    options = {"steps_per_evaluation": STEPS_PER_EVALUATION, "show_progress": False, **options}
    learner_run.run_learner(learner, directory, num_steps, **options)
    return directory.read_metrics()


@pytest.mark.parametrize("name", LEARNERS)
def test_killed_and_resumed_it_ends_with_the_same_bits(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner_run.plots, "plot_panels", lambda *_: None)
    whole = run(tmp_path / "whole", LEARNERS[name]())
    generator = np.random.default_rng(list(name.encode()))
    # Once before and once after the first checkpoint, in the middle of a step.
    for first, last in ((1, STEPS_PER_EVALUATION), (STEPS_PER_EVALUATION + 1, NUM_STEPS)):
        killed_at = int(generator.integers(first, last, endpoint=True))
        learner = LEARNERS[name]()
        play = learner.play

        def play_or_die(
            learner: AnyLearner = learner, play: Any = play, killed_at: int = killed_at
        ) -> Any:
            played = play()
            if learner.num_steps + 1 >= killed_at:
                raise Killed
            return played

        monkeypatch.setattr(learner, "play", play_or_die)
        with pytest.raises(Killed):
            run(tmp_path / "killed", learner)
        assert learner.num_steps < killed_at
    resumed = run(tmp_path / "killed", LEARNERS[name]())
    first, second = (tensor_files.load(tmp_path / d / CHECKPOINT_FILE) for d in ("whole", "killed"))
    assert first[1] == second[1]
    assert first[0].keys() == second[0].keys()
    assert_same_arrays(second[0], first[0])
    assert timeless(resumed) == timeless(whole)
    assert [line["step"] for line in whole] == [4, 8, 12, 16, 17]
    assert whole[-1].get("samples", 5) == 5, "the buffer did not overflow"
    seconds = [line["seconds"] for line in resumed]
    assert seconds == sorted(seconds)


def test_a_run_leaves_what_belongs_to_its_learner(tmp_path: Path) -> None:
    [line] = run(tmp_path / "kuhn", LEARNERS["mmd with critic in tables"](), 3)
    assert {"nash_conv", "critic_error", "critic_loss", "entropy"} <= line.keys()
    assert ArrayPolicy.load(tmp_path / "kuhn" / learner_run.POLICY_FILE)
    [line] = run(tmp_path / "particle", particle(), 3)
    assert {"trunk_nash_conv", "loss", "samples"} <= line.keys()
    with pytest.raises(ValueError, match="features 'HalvedFeatures, perfect recall'"):
        ParticleNetwork.load(tmp_path / "particle" / "network.safetensors")
    [line] = run(tmp_path / "large", LEARNERS["ppo in rules"](), 3)
    assert "nash_conv" not in line
    assert not (tmp_path / "large" / learner_run.POLICY_FILE).exists()
    for name in ("kuhn", "particle", "large"):
        picture = (tmp_path / name / learner_run.PLOT_FILE).read_bytes()
        assert picture.startswith(b"\x89PNG\r\n\x1a\n")


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    for count in ({"num_steps": 0}, {"steps_per_evaluation": 0}):
        with pytest.raises(ValueError, match="must be positive"):
            run(tmp_path / "particle", particle(), **count)
    with pytest.raises(ValueError, match="is for policy networks"):
        run(tmp_path / "particle", particle(), fine_tuning=FineTuning())
    with pytest.raises(ValueError, match="is not compiled"):
        run(tmp_path / "large", LEARNERS["ppo in rules"](), fine_tuning=FineTuning())
    learner = particle()
    learner.run(3)
    for num_steps in (2, 3):
        with pytest.raises(ValueError, match=r"has done 3 steps.*give a fresh learner"):
            run(tmp_path / "done", learner, num_steps)
    run(tmp_path / "done", learner, 4)
