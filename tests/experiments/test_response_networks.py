"""Responses with value networks: how data are drawn, and how far they are from optimal values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.responses import networks as response_networks
from experiments.responses.responders import compile_named
from experiments.responses.study import Settings
from spiel_dl.policies.array_policy import read_plan
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.system.run_directory import read_run
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.training import TrainingConfig
from tests.tiny_responses import responder

TRAININGS = ("network", "round-1", "round-2", "round-3", "round-4")


def networks(num_strategies: int, training: TrainingConfig, **changes: int) -> Settings:
    return Settings(
        num_strategies=num_strategies,
        num_layers=2,
        num_units=32,
        training=training,
        iterations=100,
        **changes,
    )


def test_networks_replace_the_optimal_values(tmp_path: Path) -> None:
    """Kuhn poker, 2 plies: only the first step looks at leaves. Trained ones come close."""
    found = responder("kuhn")
    limit = DepthLimit(plies=2)
    assert response_networks.horizons(found, limit) == [limit]
    settings = networks(100, TrainingConfig(num_epochs=60, batch_size=64, networks_per_decade=0))
    result = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert result["networks"] == 1
    assert abs(result["apart"]) < 10.0
    assert result["apart"] == pytest.approx(result["percent"] - result["exact_percent"])
    folder = tmp_path / "2-plies"
    trained = [read_run(folder / run).metrics[-1]["seconds"] for run in TRAININGS]
    assert result["training_seconds"] == pytest.approx(sum(trained))
    again = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert again == result, "also the seconds, which an earlier start took"


def test_networks_that_have_learned_nothing_are_far_apart(tmp_path: Path) -> None:
    found = responder("kuhn")
    rates = {"learning_rate": 1e-9, "final_learning_rate": 1e-9}
    settings = networks(
        10, TrainingConfig(num_epochs=1, networks_per_decade=0, **rates), num_rounds=0
    )
    limit = DepthLimit(plies=2)
    result = response_networks.compare(found, limit, tmp_path, settings, show_progress=False)
    assert abs(result["apart"]) > 10.0


def test_half_of_the_data_has_the_model_as_opponent() -> None:
    """Kuhn poker after one move of each: player 1's range is its policy's, whatever player 0's."""
    tree = compile_named("kuhn")
    found = responder("kuhn", random_policy(tree, seed=1))
    limit = DepthLimit(plies=2)
    config = DatasetConfig("kuhn_poker", limit, shard_size=5)
    ranges = response_networks.ranges_against_model(found, cut(tree, limit), config)
    leaves = cut(tree, limit).leaves
    assert ranges[0].shape == (5, leaves.num_infosets(0))
    assert len(np.unique(ranges[0], axis=0)) == 5
    histories = leaves.histories
    plan = read_plan(tree, found.model, 1)[tree.sequence[1, histories]]
    for row in ranges[1]:
        np.testing.assert_allclose(row[leaves.infoset_of_history[1]], plan)


def test_rounds_learn_from_strategies_near_the_response() -> None:
    """Kuhn poker, 2 plies: the model's ranges are its own, the player's come near and go far."""
    tree = compile_named("kuhn")
    found = responder("kuhn", random_policy(tree, seed=1))
    limit = DepthLimit(plies=2)
    config = DatasetConfig("kuhn_poker", limit, shard_size=40)
    trunk = cut(tree, limit)
    response = random_policy(tree, seed=2)
    ranges = response_networks.ranges_near(found, trunk, config, response, 1)
    histories, leaves = trunk.leaves.histories, trunk.leaves
    for player, policy in ((0, response), (1, found.model)):
        plan = read_plan(tree, policy, player)[tree.sequence[player, histories]]
        distance = np.abs(ranges[player][:, leaves.infoset_of_history[player]] - plan).max(axis=1)
        if player == 0:
            assert 0 < distance.min() < 0.01
            assert distance.max() > 0.2
        else:
            assert distance.max() < 1e-12
    other = response_networks.ranges_near(found, trunk, config, response, 2)
    assert not np.isclose(other[0], ranges[0]).all()
