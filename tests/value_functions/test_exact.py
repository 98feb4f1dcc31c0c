"""`ExactValue` against linear programs and its own definition."""

import numpy as np
import pytest

from spiel_dl.solvers import linear_program
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue, ZeroValue

CASES = [
    ("kuhn_poker", DepthLimit(moves=1)),
    ("leduc_poker", DepthLimit(plies=3)),
    ("python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=1)),
]


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
    function = ExactValue(tolerance=1e-5, max_iterations=50_000)
    function.bind(trunk.leaves)
    ranges = random_ranges(trunk.leaves, seed=0)
    values = function.evaluate(*ranges)
    expected = linear_program.solve(trunk.leaves.subgames, (ranges[0], ranges[1])).value
    assert ranges[0] @ values[0] == pytest.approx(expected, abs=1e-3)
    assert ranges[1] @ values[1] == pytest.approx(-expected, abs=1e-3)
    assert function.gaps.max() <= 1e-4


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_values_are_zero_sum_in_each_public_state(game, limit):
    leaves = cut(GameTree.from_game(game), limit).leaves
    function = ExactValue(tolerance=1e-4)
    function.bind(leaves)
    ranges = random_ranges(leaves, seed=1)
    values = function.evaluate(*ranges)
    sums = sum(leaves.sum_by_public_state(p, ranges[p] * values[p]) for p in (0, 1))
    masses = [leaves.sum_by_public_state(p, ranges[p]) for p in (0, 1)]
    assert (sums >= -1e-9).all()
    assert (sums <= 1e-4 * masses[0] * masses[1] + 1e-9).all()


def test_values_are_homogeneous_in_the_opponents_range():
    leaves = cut(GameTree.from_game("leduc_poker"), DepthLimit(plies=3)).leaves
    function = ExactValue(tolerance=1e-3)
    function.bind(leaves)
    range_0, range_1 = random_ranges(leaves, seed=2)
    values = function.evaluate(range_0, range_1)
    # Powers of 2, so that the scaled ranges are equal to the last bit.
    scaled = function.evaluate(8 * range_0, range_1 / 64)
    np.testing.assert_allclose(scaled[0], values[0] / 64, rtol=1e-12)
    np.testing.assert_allclose(scaled[1], 8 * values[1], rtol=1e-12)
    nothing = function.evaluate(range_0, np.zeros_like(range_1))
    np.testing.assert_array_equal(nothing[0], 0)
    assert np.abs(nothing[1]).max() > 0


def test_batches_are_rows():
    leaves = cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves
    function = ExactValue()
    function.bind(leaves)
    pairs = [random_ranges(leaves, seed) for seed in (3, 4)]
    batch = function.evaluate(*(np.stack(column) for column in zip(*pairs, strict=True)))
    for row, pair in enumerate(pairs):
        single = function.evaluate(*pair)
        for player in (0, 1):
            np.testing.assert_array_equal(batch[player][row], single[player])


def test_errors():
    with pytest.raises(ValueError, match="tolerance=0"):
        ExactValue(tolerance=0)
    with pytest.raises(ValueError, match="bind"):
        ExactValue().evaluate(np.zeros(1), np.zeros(1))
    warm = ExactValue(warm_start=True)
    for ask in (warm.state, lambda: warm.load_state({})):
        with pytest.raises(ValueError, match="bind"):
            ask()


def test_ranges_of_other_shapes_are_refused():
    function = ExactValue()
    function.bind(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=1)).leaves)
    for shape_0, shape_1 in ((5, 6), (6, 7), ((2, 6), 6), ((2, 6), (3, 6))):
        with pytest.raises(ValueError, match=r"the leaves need \[..., 6\] and \[..., 6\]"):
            function.evaluate(np.ones(shape_0), np.ones(shape_1))


def test_without_leaves_there_are_no_values():
    function = ExactValue()
    function.bind(cut(GameTree.from_game("kuhn_poker"), DepthLimit(moves=9)).leaves)
    values = function.evaluate(np.zeros(0), np.zeros(0))
    assert [value.shape for value in values] == [(0,), (0,)]


def test_zero_value():
    values = ZeroValue().evaluate(np.ones(3), np.ones(2))
    np.testing.assert_array_equal(values[0], np.zeros(3))
    np.testing.assert_array_equal(values[1], np.zeros(2))
