"""DQN against fixed models gains between 90% and all of the exact best response's gain."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("tree", reason="OpenSpiel's DQN needs dm-tree")

from experiments.responses.abr import approximate_best_response
from spiel_dl.algorithms import best_response, exploitability
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import read_strategy
from spiel_dl.tree.load import compile_game


def test_kuhn_is_learned() -> None:
    tree, player = compile_game("kuhn_poker"), 1
    model = opponent_models.random_policy(tree, 2)
    learned = approximate_best_response(tree.game, player, model, num_episodes=1000, seed=1)
    found = exploitability.gain(tree, learned, model, player)
    value = exploitability.game_value(tree, player)
    most = best_response.best_response_value(tree, model, player) - value
    assert 0.9 * most < found <= most + 1e-12
    guess = approximate_best_response(tree.game, player, model, num_episodes=1, seed=1)
    assert exploitability.gain(tree, guess, model, player) < 0.9 * most


def test_a_seed_says_all_and_global_generators_are_left_alone() -> None:
    tree = compile_game("goofspiel(imp_info=true,num_cards=3,points_order=descending)")
    model = opponent_models.random_policy(tree, 2)
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    expected = np.random.random(), torch.rand(()).item()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    torch.manual_seed(3)
    learned = [
        approximate_best_response(tree.game, 0, model, num_episodes=150, seed=5) for _ in "ab"
    ]
    assert (np.random.random(), torch.rand(()).item()) == expected  # noqa: NPY002
    weights = [read_strategy(tree, result, 0) for result in learned]
    np.testing.assert_array_equal(weights[0], weights[1])
