"""`ExactValue` against linear programs and its own definition."""

import concurrent.futures

import numpy as np
import pytest

from spiel_dl.solvers import linear_program
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue
from tests.solvers.test_gadgets import CASES


def random_ranges(leaves, seed):
    rng = np.random.default_rng(seed)
    ranges = [rng.random(leaves.num_infosets(player)) ** 2 for player in (0, 1)]
    for one in ranges:
        one[rng.random(len(one)) < 0.2] = 0
    return ranges


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_range_weighted_values_are_the_lp_value(game, limit):
    """Summed over all public states, the value of all subgames is that of one exact LP."""
    trunk = cut(GameTree.from_game(game), limit)
    function = ExactValue(tolerance=1e-5, max_iterations=50_000).bind(trunk.leaves)
    ranges = random_ranges(trunk.leaves, seed=0)
    values = function.evaluate(*ranges)
    expected = linear_program.solve(trunk.leaves.subgames, (ranges[0], ranges[1])).value
    assert ranges[0] @ values[0] == pytest.approx(expected, abs=1e-3)
    assert ranges[1] @ values[1] == pytest.approx(-expected, abs=1e-3)
    assert function.gaps.max() <= 1e-5 * trunk.tree.utility_range


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_ranges_that_are_none_are_refused(value):
    """Negative ranges used to turn the signs of values."""
    values = ExactValue().bind(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    wrong = np.ones(6)
    wrong[2] = value
    with pytest.raises(ValueError, match="player 0's range has entries that are negative or not"):
        values.evaluate(wrong, np.ones(6))
    with pytest.raises(ValueError, match="player 1's range has entries that are negative or not"):
        values.evaluate(np.ones(6), wrong)


def test_evaluations_that_do_not_come_to_the_tolerance_are_counted_and_warned_of():
    leaves = cut(GameTree.from_game("leduc_poker"), DepthLimit(plies=3)).leaves
    values = ExactValue(tolerance=1e-9, max_iterations=100).bind(leaves)
    ranges = random_ranges(leaves, seed=2)
    with pytest.warns(RuntimeWarning, match=r"more than 1\.3e-08; raise max_iterations"):
        values.evaluate(*ranges)
    values.evaluate(*ranges)
    assert values.num_unfinished == 2
    assert values.gaps.max() > 1e-9


def test_a_value_function_may_be_shared_by_threads():
    """Each binds it for itself, so none reads what another asked for."""
    leaves = cut(GameTree.from_game("leduc_poker"), DepthLimit(plies=3)).leaves
    shared = ExactValue(tolerance=1e-2)
    alone = shared.bind(leaves)
    ranges = [random_ranges(leaves, seed) for seed in range(8)]
    expected = [alone.evaluate(*pair) for pair in ranges]

    def evaluate_all(_: int) -> list[tuple[np.ndarray, np.ndarray]]:
        values = shared.bind(leaves)
        return [values.evaluate(*pair) for pair in ranges]

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for found in threads.map(evaluate_all, range(4)):
            for pair, wanted in zip(found, expected, strict=True):
                for one, other in zip(pair, wanted, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_ranges_of_other_shapes_are_refused():
    function = ExactValue().bind(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    for shape_0, shape_1 in ((5, 6), (6, 7), ((2, 6), 6), ((2, 6), (2, 6))):
        with pytest.raises(ValueError, match="the leaves need 6 and 6 numbers"):
            function.evaluate(np.ones(shape_0), np.ones(shape_1))
