"""The ranges that a value function is asked for: all of them, and statistics checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.dl_cfr import ranges as dl_cfr_ranges
from spiel_dl.algorithms.dl_cfr import DLCFRSolver, evaluated_ranges
from spiel_dl.tree import DepthLimit, GameTree, cut
from tests.made_up_values import MadeUpValue

GAME = "python_goofspiel_ii(num_cards=3,points_order=descending)"
LIMIT = DepthLimit(rounds=1)


def test_range_statistics_by_hand() -> None:
    """One leaf public state of two infosets of player 0 and one of player 1, and a second like it.

    Kuhn poker after one move: passing or betting, each with three cards on either side.
    """
    leaves = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves
    assert [leaves.num_infosets(player) for player in (0, 1)] == [6, 6]
    asked = (np.array([[3.0, 0, 0, 0, 0, 0]]), np.array([[1.0, 1, 1, 0, 0, 0]]))
    uniform = np.full(6, 1 / 3)
    pure = np.array([0.0, 1, 0, 0, 1, 0])
    known = (np.stack([uniform, pure]), np.stack([uniform, uniform]))
    [found] = dl_cfr_ranges.range_statistics(leaves, asked, known)
    assert found["reached"] == 0.5  # Neither player reaches the second public state.
    assert found["entropy"] == pytest.approx((0 + 1) / 2)
    assert found["largest"] == pytest.approx((1 + 1 / 3) / 2)
    # Player 0: (1, 0, 0) against the mean (1/6, 4/6, 1/6); player 1 is at its mean.
    assert found["distance_to_mean"] == pytest.approx((5 / 6 + 0) / 2)
    # The nearest pair is the uniform one: (2/3 + 0) / 2; the other is at (1 + 0) / 2.
    assert found["distance_to_nearest"] == pytest.approx((2 / 3 + 0) / 2)


@pytest.mark.parametrize("alternating", [True, False])
def test_evaluated_ranges_are_all_that_the_value_function_gets(alternating: bool) -> None:
    asked = []

    def record(range_0: np.ndarray, range_1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append((range_0.copy(), range_1.copy()))
        return -range_0, range_1

    tree = GameTree.from_game(GAME)
    solver = DLCFRSolver(tree, MadeUpValue(record), LIMIT, alternating_updates=alternating)
    found = evaluated_ranges(solver, [1, 2, 5])
    assert solver.iteration == 5
    each = 2 if alternating else 1
    assert len(asked) == 5 * each
    kept = [pair for i in (0, 1, 4) for pair in asked[each * i : each * (i + 1)]]
    for player in (0, 1):
        np.testing.assert_array_equal(found[player], np.stack([pair[player] for pair in kept]))


@pytest.mark.parametrize(
    ("entropy", "first", "random", "at_cfr_d", "expected"),
    [
        (0.52, 0.7, 0.14, 0.009, [True, True, True, True]),
        (0.57, 0.7, 0.14, 0.009, [False, True, True, True]),
        (0.52, 0.9, 0.14, 0.009, [True, False, True, True]),
        (0.52, 0.7, 0.16, 0.009, [True, True, False, True]),
        (0.52, 0.7, 0.14, 0.011, [True, True, True, False]),
    ],
)
def test_ranges_are_compared_by_their_statistics_and_errors(
    entropy: float, first: float, random: float, at_cfr_d: float, expected: list[bool]
) -> None:
    def of(entropy: float, distance: float) -> dict[str, float]:
        return {"entropy": entropy, "largest": 0.6, "distance_to_nearest": distance}

    network, chance = "DL-CFR+, network of seed 0", "random strategies set apart"
    means = {chance: of(0.1, random), "CFR-D": of(0.5, 0.3), network: of(entropy, 0.32)}
    begin = {"CFR-D": of(0.8, 0.3), network: of(first, 0.3)}
    assert list(dl_cfr_ranges.parts_held(means, begin, [at_cfr_d]).values()) == expected
