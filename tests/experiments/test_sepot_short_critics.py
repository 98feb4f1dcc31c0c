"""What search earns by critics that have not learned for long, on Goofspiel with 3 cards."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from open_spiel.python.algorithms import exploitability as peer
from open_spiel.python.algorithms.expected_game_score import policy_value

from experiments.sepot import short_critics
from experiments.sepot.residuals import Valued, residuals
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning import checkpoints
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit, GameTree
from tests.tiny_sepot import TINY, report

LEARNING = CriticConfig(hidden_sizes=(8,), learning_rate=1e-2)
GAME = "python_goofspiel_ii(num_cards=3,points_order=random)"


def test_short_critics_are_judged_by_exact_values_and_a_peer(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(short_critics, "STEPS", (2, 40))
    network = RNaDSolver(GAME, RNaDConfig(hidden_sizes=(8,), batch_size=4))
    network.step()
    checkpoint = tmp_path / "network.safetensors"
    network.save(checkpoint)
    limit = DepthLimit(rounds=1)
    found = report(
        "short_critics", tmp_path, games=(GAME,), blueprints=(str(checkpoint),), limits=(limit,),
        transformations="pure", seeds=(0, 1), critic=LEARNING,
    )  # fmt: skip
    rows = found.tables["By the steps of critics"].rows
    assert [(row["steps"], len(row["values"])) for row in rows] == [(2, 2), (40, 2), ("exact", 1)]
    assert rows[0]["error"] > rows[1]["error"] > 0
    assert rows[2]["error"] is None

    tree = GameTree.from_game(GAME)
    blueprint = ArrayPolicy.from_policy(tree, checkpoints.load_blueprint(checkpoint, tree))
    pure = pure_transformations(3)
    exact = ExactCritic(tree, blueprint.strategies, pure)
    settings = {"batch_size": TINY.learner.batch_size, "exploration": TINY.exploration}
    residual, error = [], []
    for seed in (0, 1):
        config = dataclasses.replace(LEARNING, seed=seed, decay_steps=40)
        learner = CriticLearner(tree, blueprint, pure, config, **settings)
        for _ in range(40):
            learner.step()
        critic = learner.critic()
        act = checkpoints.load_blueprint(checkpoint, tree.game).act
        by_round = residuals(tree.game, Valued(act, critic, pure), TINY.num_histories, seed)
        residual.append(max(row["all"] for row in by_round))
        acting = np.flatnonzero(tree.player >= 0)
        wrong = [critic.values(tree, acting, p) - exact.values(tree, acting, p) for p in (0, 1)]
        error.append(np.sqrt(np.mean(np.square(wrong))) / 2)
        assert rows[1]["values"][seed] == pytest.approx(earned(blueprint, critic, limit), abs=1e-9)
    assert rows[1]["residual"] == pytest.approx(np.mean(residual))
    assert rows[1]["error"] == pytest.approx(np.mean(error))
    assert rows[2]["earned"] == pytest.approx(earned(blueprint, exact, limit), abs=1e-9)
    assert rows[2]["before"] == pytest.approx(peer.nash_conv(tree.game, blueprint), abs=1e-9)


def earned(blueprint: ArrayPolicy, critic, limit: DepthLimit) -> float:
    """A search's mean return against the blueprint, as OpenSpiel has it."""
    effort = Effort(TINY.iterations, variant=PREDICTIVE_CFR_PLUS)
    policy = SePoTPolicy(
        blueprint.tree, blueprint, critic, limit, config=SearchConfig(effort=effort)
    ).to_array_policy()
    root = blueprint.tree.game.new_initial_state()
    as_first = policy_value(root, [policy, blueprint])[0]
    as_second = policy_value(root, [blueprint, policy])[1]
    return (as_first + as_second) / 2
