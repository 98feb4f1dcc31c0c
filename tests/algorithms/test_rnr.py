"""RNR against its definition: the game in which a hidden coin binds the opponent to the model."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree
from spiel_dl.algorithms import best_response, exploitability
from spiel_dl.algorithms.rnr import RNRPolicy
from tests import reference, tiny_games
from tests.algorithms import response_checks as checks


def objective(tree: GameTree, policy: ArrayPolicy, model: ArrayPolicy, player: int, p: float):
    """The player's value in that game against a best response of the free opponent."""
    sign = 1.0 if player == 0 else -1.0
    parts = [policy.strategies, model.strategies]
    pair = (parts[player][0], parts[1 - player][1])
    against_model = sign * exploitability.expected_value(tree, ArrayPolicy(tree, pair))
    worst = -best_response.best_response_value(tree, policy, 1 - player)
    return p * against_model + (1 - p) * worst


@pytest.mark.parametrize("game", checks.GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_it_is_optimal(game, player):
    tree = checks.load(game)
    model = checks.random_model(tree, seed=5)
    depths, free = DepthLimit(moves=1).depths(tree), np.zeros(tree.num_infosets(player), np.bool_)
    for p in (0.0, 0.35, 1.0):
        response = RNRPolicy(tree, player, model, p=p, exact=True).to_array_policy()
        optimum = checks.step_optimum(tree, response, model, player, p, free, depths, 99)
        assert objective(tree, response, model, player, p) == pytest.approx(optimum, abs=1e-7)
        policy = RNRPolicy(tree, player, model, p=p, effort=Effort(2000, 1e-4))
        found = objective(tree, policy.to_array_policy(), model, player, p)
        assert optimum - policy.gap - 1e-9 <= found <= optimum + 1e-9
        assert policy.gap < 0.01


def test_leduc_against_the_uniform_policy():
    tree = GameTree.from_game("leduc_poker")
    model = ArrayPolicy.uniform(tree)
    response = RNRPolicy(tree, 0, model, p=0.5, exact=True).to_array_policy()
    found = checks.gain_and_exploitability(tree, response, model)
    assert found == pytest.approx((1.674, 0.518), abs=6e-4)


def test_slack_twice():
    """Only one of the siblings may take the risk; 0.205... = 3.9 / 19, all of it without loss."""
    tree = GameTree.from_game(reference.efg_game("slack_twice"))
    model = checks.named_model(tree, {"In": 0.1, "Out": 0.9, "weak": 1.0, "strong": 0.0})
    response = RNRPolicy(tree, 0, model, p=0.5, exact=True).to_array_policy()
    found = checks.gain_and_exploitability(tree, response, model)
    assert found == pytest.approx((0.205263157895, 0.0), abs=1e-10)


@pytest.mark.parametrize("player", [0, 1])
def test_a_game_without_a_public_clock_needs_none(player):
    """One piece is the whole game, so no depth is asked for."""
    tree = GameTree.from_game(pyspiel.load_efg_game(tiny_games.NO_CLOCK))
    model = checks.random_model(tree, seed=1)
    response = RNRPolicy(tree, player, model, p=1.0, exact=True).to_array_policy()
    best = best_response.best_response_value(tree, model, player)
    assert objective(tree, response, model, player, 1.0) == pytest.approx(best, abs=1e-9)
