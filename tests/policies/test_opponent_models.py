"""Opponents against OpenSpiel's CFR."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr as openspiel_cfr

from spiel_dl import ArrayPolicy, DepthLimit, GameTree, compile_game
from spiel_dl.policies import opponent_models
from tests.reference import assert_same_policy


def test_few_iterations_are_those_of_openspiel() -> None:
    iterations = 2
    game = pyspiel.load_game("leduc_poker")
    solver = openspiel_cfr.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    tree = GameTree.from_game(game)
    for found, expected in (
        (opponent_models.cfr_average(tree, iterations), solver.average_policy()),
        (opponent_models.cfr_last(tree, iterations), solver.current_policy()),
    ):
        assert_same_policy(found, ArrayPolicy.from_policy(tree, expected), atol=1e-12)


def test_random_policies_are_uniform_on_the_simplex() -> None:
    """The probability of one of n actions has mean 1 / n and variance (n - 1) / (n^2 (n + 1))."""
    tree = compile_game("liars_dice(numdice=1,dice_sides=4)")
    policies = [opponent_models.random_policy(tree, seed) for seed in range(20)]
    treeplex = tree.treeplexes[0]
    for number in (2, 5):
        wanted = np.flatnonzero(treeplex.num_actions == number)
        first = treeplex.first_sequence[wanted]
        drawn = np.concatenate([policy.strategies[0][first] for policy in policies])
        assert len(drawn) > 100
        variance = (number - 1) / (number**2 * (number + 1))
        assert abs(drawn.mean() - 1 / number) < 4 * np.sqrt(variance / len(drawn))
        assert drawn.var() == pytest.approx(variance, rel=0.25)
    sums = treeplex.sum_per_infoset(policies[0].strategies[0])
    np.testing.assert_allclose(sums, 1.0, atol=1e-12)
    again = opponent_models.random_policy(tree, 0)
    np.testing.assert_array_equal(again.strategies[0], policies[0].strategies[0])
    assert (policies[0].strategies[0] != policies[1].strategies[0]).any()


def test_who_errs_late_plays_one_policy_above_the_limit_and_another_below() -> None:
    tree = compile_game("kuhn_poker")
    above, below = (opponent_models.random_policy(tree, seed) for seed in (0, 1))
    found = opponent_models.errs_beyond(tree, DepthLimit(moves=1), above, below)
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            history = int(tree.first_history[player][infoset])
            moves = len(tree.state(history).history()) - 2
            expected = (below if moves >= 1 else above).strategies[player]
            own = tree.treeplexes[player].sequences(infoset)
            np.testing.assert_array_equal(found.strategies[player][own], expected[own])
