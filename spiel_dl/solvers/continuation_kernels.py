"""The compiled loops of `solvers.continuations`.

Payoffs are read in blocks, one for each leaf infoset of the second side.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spiel_dl.solvers.kernels import match_regrets

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
# Sums may be reordered, or they would not compile to vector instructions.
_sum_jit = numba.njit(
    cache=True, boundscheck=False, error_model="numpy", nogil=True, fastmath={"reassoc", "contract"}
)


class Blocks(NamedTuple):
    """Payoffs at leaves, a block for each of the second side's L_1 leaf infosets.

    The *columns* of a block are the first side's leaf infosets that share histories with the second
    side's one; each column has K payoffs, one per choice of the second side. The blocks have C
    columns in total.

    Attributes:
      payoffs: float32 [C, K], block after block: chance's reach times the first side's
        utility, summed over the histories.
      columns: int32 [C], the first side's leaf infosets.
      starts: int64 [L_1 + 1], where each block's columns start.
    """

    payoffs: np.ndarray
    columns: np.ndarray
    starts: np.ndarray


@_jit
def sum_pairs(utilities, chance_reach, order, starts, payoffs):
    """Sums payoffs over the histories of each pair of leaf infosets.

    Args:
      utilities: float [N, K], the first side's.
      chance_reach: float64 [N].
      order: int32 [N], the histories sorted by pair.
      starts: int64 [P + 1], where the histories of each pair start.
      payoffs: float32 [P, K]; overwritten.
    """
    total = np.empty(payoffs.shape[1])
    for pair in range(len(payoffs)):
        total[:] = 0.0
        for history in order[starts[pair] : starts[pair + 1]]:
            reach, row = chance_reach[history], utilities[history]
            for k in range(total.size):
                total[k] += reach * row[k]
        payoffs[pair] = total


@_sum_jit
def _values_of_block(blocks, infoset, weights, values):
    """Writes the values of the second side's choices at an infoset to `values` (float64 [K])."""
    values[:] = 0.0
    start, end = blocks.starts[infoset], blocks.starts[infoset + 1]
    unrolled = end - (end - start) % 4
    # Four columns per step, so that each value is loaded and stored a quarter as often.
    for j in range(start, unrolled, 4):
        columns = blocks.columns[j : j + 4]
        a, b = weights[columns[0]], weights[columns[1]]
        c, d = weights[columns[2]], weights[columns[3]]
        row_a, row_b, row_c, row_d = (
            blocks.payoffs[j], blocks.payoffs[j + 1], blocks.payoffs[j + 2], blocks.payoffs[j + 3]
        )  # fmt: skip
        for k in range(values.size):
            values[k] -= a * row_a[k] + b * row_b[k] + c * row_c[k] + d * row_d[k]
    for j in range(unrolled, end):
        weight, row = weights[blocks.columns[j]], blocks.payoffs[j]
        for k in range(values.size):
            values[k] -= weight * row[k]


@_sum_jit
def _expected(payoffs, weights):
    """The expected payoff of a column (float [K]) under the second side's choices."""
    value = 0.0
    for k in range(weights.size):
        value += weights[k] * payoffs[k]
    return value


@_jit
def values_of_first(blocks, reach, choices, values):
    """The counterfactual values of the first side's infosets.

    Args:
      blocks: the payoffs.
      reach: float64 [L_1], the second side's reach of its infosets.
      choices: float64 [L_1, K], its choices there.
      values: float64 [L_0], overwritten.
    """
    values[:] = 0.0
    for infoset in range(reach.size):
        weight = reach[infoset]
        # The second side often has reach 0; its block need not be read then.
        if weight != 0.0:
            for j in range(blocks.starts[infoset], blocks.starts[infoset + 1]):
                payoff = _expected(blocks.payoffs[j], choices[infoset])
                values[blocks.columns[j]] += weight * payoff


@_jit
def values_of_second(blocks, weights, values):
    """The counterfactual values of the second side's choices.

    Args:
      blocks: the payoffs.
      weights: float64 [L_0], the first side's reach of its infosets.
      values: float64 [L_1, K], overwritten.
    """
    for infoset in range(values.shape[0]):
        _values_of_block(blocks, infoset, weights, values[infoset])


@_jit
def update_second(blocks, weights, ranges, learner, rates, weight, tolerance, cfv):
    """The second side's part of an iteration.

    Args:
      blocks: the payoffs.
      weights: float64 [L_0], the first side's reach of its infosets.
      ranges: float64 [L_1], the second side's own reach of its infosets.
      learner: Learned of the second side; its regret, strategy and average are updated.
      rates: `kernels.rates_at` this iteration.
      weight: of the iterate in the average.
      tolerance: weights up to this count as zero in regret matching.
      cfv: float64 [L_1 + L_1 K], the values of infosets and choices before the update;
        overwritten.
    """
    regret, strategy = learner.regret, learner.strategy
    num_infosets = ranges.size
    num_choices = cfv.size // num_infosets - 1
    for infoset in range(num_infosets):
        first = num_infosets + num_choices * infoset
        last = first + num_choices
        _values_of_block(blocks, infoset, weights, cfv[first:last])
        for s in range(first, last):
            learner.average[s] += weight * ranges[infoset] * learner.strategy[s]
        value = 0.0
        for s in range(first, last):
            value += strategy[s] * cfv[s]
        cfv[infoset] = value
        match_regrets(regret, strategy, first, last, cfv, value, rates, tolerance)
