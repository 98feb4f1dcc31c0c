"""The loops over blocks of payoffs, against their definition in plain NumPy and by hand."""

import numpy as np
import pytest

from spiel_dl.solvers import continuation_kernels
from spiel_dl.solvers.continuation_kernels import Blocks
from spiel_dl.solvers.kernels import Learned

NUM_FIRST, CHOICES = 6, (2, 5)
"""The first side's leaf infosets, and both sides' numbers of choices."""


def random_blocks(dtype: type) -> Blocks:
    """Blocks of 0, 1, 2 ... 6 infosets of the first side: of whole fours of columns, and others."""
    rng = np.random.default_rng(3)
    columns = []
    for width in range(NUM_FIRST + 1):
        infosets = np.sort(rng.permutation(NUM_FIRST)[:width])
        columns.append((CHOICES[0] * infosets[:, None] + np.arange(CHOICES[0])).reshape(-1))
    starts = np.concatenate([[0], np.cumsum([len(block) for block in columns])])
    payoffs = rng.standard_normal((starts[-1], CHOICES[1])).astype(dtype)
    return Blocks(payoffs, np.concatenate(columns).astype(np.int32), starts)


def dense(blocks: Blocks) -> np.ndarray:
    """All payoffs: float64 [L_0 K_0, L_1, K_1]."""
    num_second = len(blocks.starts) - 1
    table = np.zeros((NUM_FIRST * CHOICES[0], num_second, CHOICES[1]))
    for infoset in range(num_second):
        block = slice(blocks.starts[infoset], blocks.starts[infoset + 1])
        table[blocks.columns[block], infoset] = blocks.payoffs[block]
    return table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_of_both_sides_by_definition(dtype):
    blocks, rng = random_blocks(dtype), np.random.default_rng(4)
    table = dense(blocks)
    num_second = table.shape[1]
    weights = rng.random(len(table))
    values = np.full((num_second, CHOICES[1]), np.nan)
    continuation_kernels.values_of_second(blocks, weights, values)
    np.testing.assert_allclose(values, -np.einsum("c,cik->ik", weights, table), atol=1e-12)
    reach = rng.random(num_second) * (np.arange(num_second) != 3)
    choices = rng.random((num_second, CHOICES[1]))
    expected = np.einsum("i,ik,cik->c", reach, choices, table)
    values = np.full(len(table), np.nan)
    continuation_kernels.values_of_first(blocks, reach, choices, values)
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_what_is_not_reached_is_not_read():
    """A payoff that is no number does no harm where the second side never comes."""
    blocks = random_blocks(np.float64)
    blocks.payoffs[blocks.starts[3] : blocks.starts[4]] = np.nan
    reach = np.ones(NUM_FIRST + 1)
    reach[3] = 0.0
    choices, values = np.ones((NUM_FIRST + 1, CHOICES[1])), np.empty(NUM_FIRST * CHOICES[0])
    continuation_kernels.values_of_first(blocks, reach, choices, values)
    assert np.isfinite(values).all()


def second_side(is_fixed: list[bool]) -> Learned:
    """Two infosets with two choices each; the sequences are two roots, then the choices."""
    return Learned(
        regret=np.array([0, 0, 1.0, 0, 0, 0]),
        strategy=np.array([1, 1, 1.0, 0, 0.5, 0.5]),
        realization=np.ones(6),
        average=np.zeros(6),
        inflow=np.zeros(0),
        is_fixed=np.array(is_fixed),
    )


@pytest.mark.parametrize("is_fixed", [False, True])
def test_an_update_by_hand(is_fixed):
    """The first side comes to its two infosets with weights 2 and 1, and has one choice in each.

    Infoset 0 shares histories with both, infoset 1 with the second one only. Payoffs are the first
    side's: the choices of infoset 0 earn -(2 * 1 + 1 * 0) = -2 and -(2 * -1 + 1 * 1) = 1, those of
    infoset 1 earn -3 and -1.
    """
    blocks = Blocks(
        np.array([[1.0, -1], [0, 1], [3, 1]]), np.array([0, 1, 1], np.int32), np.array([0, 2, 3])
    )
    learner, cfv = second_side([False, is_fixed]), np.full(6, np.nan)
    now = (1.0, 0.0, 0.0)
    continuation_kernels.update_second(
        blocks,
        np.array([2.0, 1]),
        np.array([0.5, 0]),
        learner,
        now,
        3.0,
        1e-12,
        cfv,
    )
    # Values under the old choices: -2, and (-3 - 1) / 2.
    np.testing.assert_array_equal(cfv, [-2, -2, -2, 1, -3, -1])
    # The average takes the old choices, times the range and the weight 3.
    np.testing.assert_array_equal(learner.average[2:], [1.5, 0, 0, 0])
    # Regrets: 1 + 0 and 0 + 3; -1 + 0, which is dropped, and 1, unless infoset 1 is fixed.
    regrets, choices = ([0, 0], [0.5, 0.5]) if is_fixed else ([0, 1], [0, 1])
    np.testing.assert_array_equal(learner.regret[2:], [1, 3, *regrets])
    np.testing.assert_array_equal(learner.strategy[2:], [0.25, 0.75, *choices])
