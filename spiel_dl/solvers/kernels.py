"""The compiled loops of all solvers: NumPy arrays only; numbers are float64.

Sparse payoffs are stored in *slices* of `LANES` rows of similar length (sliced ELLPACK): the j-th
entries of all rows of a slice are adjacent, so the row sums are independent chains that the
processor computes in parallel. Each row is summed in column order, so results do not depend on the
number of threads.

Indices are unsigned, because numba checks signed ones for negative values, which takes as long as
the arithmetic itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

LANES = 8
LARGE = 2**20
"""From so many payoffs on, how fast memory delivers them decides how long an iteration takes."""
# Plans' entries that so many rows read fit into the L2 cache.
_WINDOW = 4096

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(
    inline="always", cache=True, boundscheck=False, error_model="numpy", nogil=True
)


class SlicedPayoffs(NamedTuple):
    """A sparse matrix as slices of `LANES` rows, padded with zeros.

    Attributes:
      rows: uint32 [n, LANES], the matrix row of each lane. A lane without a row of its own repeats
        the first row of its slice and adds nothing to it.
      slice_starts: uint32 [n + 1], each slice's first entry.
      columns: uint32 [m, LANES], entry by entry.
      values: float64 [m, LANES]; float32 in large matrices whose values all have this precision.
    """

    rows: np.ndarray
    slice_starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


class Learned(NamedTuple):
    """One player's state in regret minimization. See `RegretMinimizer`.

    Attributes:
      regret, strategy, realization, average: float64 [S].
      inflow: float64 [S], the weight that enters a sequence's infoset in addition to its parent's;
        empty if there is none.
      is_fixed: bool [I], infosets whose strategy does not change.
    """

    regret: np.ndarray
    strategy: np.ndarray
    realization: np.ndarray
    average: np.ndarray
    inflow: np.ndarray
    is_fixed: np.ndarray


def parts(payoffs: scipy.sparse.csr_array) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Divides a large sparse matrix into parts that share no row and no column.

    A part of a game's payoffs is what ends in one public state, or less.

    Returns:
      For each row, int32 [R], and each column, int32 [C], the number of its part; None for both if
      the matrix is not large.
    """
    num_rows, num_columns = payoffs.shape
    if payoffs.nnz < LARGE:
        return None, None
    starts = np.append(payoffs.indptr, np.full(num_columns, payoffs.indptr[-1]))
    edges = np.ones(payoffs.nnz, np.bool_), payoffs.indices + num_rows, starts
    graph = scipy.sparse.csr_array(edges, shape=(num_rows + num_columns,) * 2)
    _, part = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return part[:num_rows], part[num_rows:]


def slice_payoffs(payoffs: scipy.sparse.csr_array, part: np.ndarray | None) -> SlicedPayoffs:
    """Arranges a sparse matrix (float64 [R, C]) in slices; its empty rows are left out.

    Args:
      payoffs: the matrix.
      part: int [R], of `parts`: rows of one part are in near slices, so that what they read of a
        plan is still in a cache. None: the matrix is not large.
    """
    length = np.diff(payoffs.indptr)
    rows = np.flatnonzero(length)
    if part is None:
        rows = rows[np.argsort(length[rows], kind="stable")]
    else:
        rows = rows[np.argsort(part[rows], kind="stable")]
        rows = rows[np.lexsort((length[rows], np.arange(len(rows)) // _WINDOW))]
    is_short = part is not None and (payoffs.data.astype(np.float32) == payoffs.data).all()
    num_slices = -(-len(rows) // LANES)
    padded = np.full(num_slices * LANES, -1, np.int64)
    padded[: len(rows)] = rows
    lanes = padded.reshape(num_slices, LANES)
    lane_length = np.where(lanes >= 0, length[lanes], 0)
    # Each slice is as long as its longest row.
    starts = np.concatenate([[0], np.cumsum(lane_length.max(axis=1, initial=0))])
    columns = np.zeros((int(starts[-1]), LANES), np.uint32)
    values = np.zeros((int(starts[-1]), LANES), np.float32 if is_short else np.float64)
    slot = np.empty(payoffs.shape[0], np.int64)
    slot[rows] = np.arange(len(rows))
    entry_row = np.repeat(np.arange(payoffs.shape[0]), length)
    entry_slot = slot[entry_row]
    entry_rank = np.arange(payoffs.nnz) - payoffs.indptr[entry_row]
    target = (starts[entry_slot // LANES] + entry_rank, entry_slot % LANES)
    columns[target] = payoffs.indices
    values[target] = payoffs.data
    lanes = np.where(lanes >= 0, lanes, lanes[:, :1])
    return SlicedPayoffs(lanes.astype(np.uint32), starts.astype(np.uint32), columns, values)


@_jit
def add_slices(payoffs, begin, end, realization, cfv):
    """Adds the rows of slices `begin` to `end` - 1, times `realization` [C], to `cfv` [R]."""
    rows, starts, columns, values = payoffs
    for i in range(begin, end):
        # One variable per lane: an array would be loaded and stored in every step, and a vector
        # would read the plan by gather instructions, which are slow.
        a = b = c = d = e = f = g = h = 0.0
        for k in range(starts[i], starts[i + 1]):
            a += values[k, 0] * realization[columns[k, 0]]
            b += values[k, 1] * realization[columns[k, 1]]
            c += values[k, 2] * realization[columns[k, 2]]
            d += values[k, 3] * realization[columns[k, 3]]
            e += values[k, 4] * realization[columns[k, 4]]
            f += values[k, 5] * realization[columns[k, 5]]
            g += values[k, 6] * realization[columns[k, 6]]
            h += values[k, 7] * realization[columns[k, 7]]
        cfv[rows[i, 0]] += a
        cfv[rows[i, 1]] += b
        cfv[rows[i, 2]] += c
        cfv[rows[i, 3]] += d
        cfv[rows[i, 4]] += e
        cfv[rows[i, 5]] += f
        cfv[rows[i, 6]] += g
        cfv[rows[i, 7]] += h


@_jit
def realization_plan(treeplex, strategy, realization):
    """Fills `realization` (float64 [S]) below its root sequences, by the behaviour strategy."""
    origin = treeplex.origin
    for s in range(np.uint32(treeplex.num_root_sequences), np.uint32(origin.size)):
        realization[s] = realization[origin[s]] * strategy[s]


@_jit
def realization_plan_with_inflow(treeplex, strategy, inflow, realization):
    """`realization_plan` with `inflow` (float64 [S]) added to the parents' weights."""
    origin = treeplex.origin
    for s in range(np.uint32(treeplex.num_root_sequences), np.uint32(origin.size)):
        realization[s] = (realization[origin[s]] + inflow[s]) * strategy[s]


@_jit
def behaviour_strategy(treeplex, plan, strategy):
    """Fills `strategy` (float64 [S]) below its root sequences by a plan (float64 [S])."""
    for i in range(treeplex.parent_sequence.size):
        first = treeplex.first_sequence[i]
        end = first + treeplex.num_actions[i]
        total = 0.0
        for s in range(first, end):
            total += plan[s]
        for s in range(first, end):
            strategy[s] = plan[s] / total if total > 0.0 else 1.0 / (end - first)


@_jit
def first_wrong_infoset(treeplex, strategy, infosets):
    """The first of `infosets` (bool [I]) whose probabilities are no distribution; -1 if none."""
    for i in range(treeplex.parent_sequence.size):
        if not infosets[i]:
            continue
        first = treeplex.first_sequence[i]
        total, is_wrong = 0.0, False
        for s in range(first, first + treeplex.num_actions[i]):
            total += strategy[s]
            is_wrong |= not strategy[s] >= 0.0
        if is_wrong or not abs(total - 1.0) < 1e-6:
            return i
    return -1


@_jit
def realize(treeplex, learner):
    """Brings a learner's realization plan up to date with its strategy."""
    if learner.inflow.size > 0:
        realization_plan_with_inflow(
            treeplex, learner.strategy, learner.inflow, learner.realization
        )
    else:
        realization_plan(treeplex, learner.strategy, learner.realization)


@_jit
def best_response_values(treeplex, is_fixed, cfv, strategy):
    """Adds to each sequence's cfv the values of a best response in the infosets behind it.

    Args:
      treeplex: TreeplexArrays of the player.
      is_fixed: bool [I], infosets where the player must play `strategy`.
      cfv: float64 [S], payoffs of the sequences; updated.
      strategy: float64 [S]; the best response is written to it.
    """
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first = treeplex.first_sequence[i]
        end = first + treeplex.num_actions[i]
        if not is_fixed[i]:
            best = first
            for s in range(first, end):
                strategy[s] = 0.0
                if cfv[s] > cfv[best]:
                    best = s
            strategy[best] = 1.0
        value = 0.0
        for s in range(first, end):
            value += strategy[s] * cfv[s]
        cfv[treeplex.parent_sequence[i]] += value


@_inline
def discount_factor(iteration, exponent, offset):
    """t^x / (t^x + offset), and its limits at infinite exponents."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf:
        return 0.0
    return 1.0 / (1.0 + offset * iteration**-exponent)


@_inline
def rates_at(iteration, numbers):
    """Discounts of positive and negative regrets, and the optimism, of an iteration (from 1.0)."""
    alpha, beta, _, optimism, offset, _, _ = numbers
    positive = discount_factor(iteration, alpha, offset)
    negative = discount_factor(iteration, beta, offset)
    return positive, negative, optimism


@_inline
def accumulate(regret, new_regret, rates):
    """The discounted cumulative regret of an action after its regret in this iteration."""
    updated = regret + new_regret
    # Choosing the factor needs no branch. Adding 0 turns the -0.0 of a factor 0 into 0.0.
    return updated * (rates[0] if updated > 0.0 else rates[1]) + 0.0


@_inline
def predicted_regret(regret, new_regret, rates):
    """The regret whose positive part is proportional to the next strategy."""
    return regret + rates[2] * new_regret


@_inline
def averaging_weight(iteration, numbers):
    """The weight of an iterate in the average."""
    gamma, change, horizon = numbers[2], numbers[5], numbers[6]
    if change == 0.0:
        return iteration**gamma
    # With an exponent of gamma_s in iteration s, earlier iterates are multiplied by
    # ((s - 1) / s)^gamma_s. The logarithm of the product of all s / (s - 1) to the power of s is
    # t log t - log (t - 1)!.
    t = min(iteration, horizon)
    until = gamma * math.log(t) + change / horizon * (t * math.log(t) - math.lgamma(t))
    return math.exp(until + (gamma + change) * math.log(iteration / t))


@_jit
def total_weight(num_iterations, numbers):
    """The sum of the averaging weights of the first `num_iterations` iterates."""
    total = 0.0
    for iteration in range(1, num_iterations + 1):
        total += averaging_weight(float(iteration), numbers)
    return total


# Inlined, without the infoset's value, and with the learner unpacked by the caller: otherwise an
# iteration takes 1.5 to 2 times as long.
@_inline
def match_regrets(regret, strategy, first, end, cfv, value, rates, tolerance):
    """`update_regrets` for one free infoset, with the sequences `first` to `end` - 1.

    `value` is the infoset's value under the strategy before this update.
    """
    total = 0.0
    for s in range(first, end):
        new_regret = cfv[s] - value
        updated = accumulate(regret[s], new_regret, rates)
        regret[s] = updated
        weight = predicted_regret(updated, new_regret, rates)
        strategy[s] = weight if weight > tolerance else 0.0
        total += strategy[s]
    if total > 0.0:
        scale = 1.0 / total
        for s in range(first, end):
            strategy[s] *= scale
    else:
        for s in range(first, end):
            strategy[s] = 1.0 / (end - first)


@_jit
def update_regrets(treeplex, learner, cfv, rates, tolerance):
    """One player's regret update and its next strategy, bottom-up.

    Args:
      treeplex: TreeplexArrays of the player.
      learner: Learned; its regret and strategy are updated.
      cfv: float64 [S], payoffs of the sequences; the values of the infosets behind them are added.
      rates: `rates_at` this iteration.
      tolerance: weights up to this count as zero in regret matching.
    """
    regret, strategy = learner.regret, learner.strategy
    is_fixed = learner.is_fixed
    parent_sequence, first_sequence = treeplex.parent_sequence, treeplex.first_sequence
    num_actions = treeplex.num_actions
    for i in range(parent_sequence.size - 1, -1, -1):
        first = first_sequence[i]
        end = first + num_actions[i]
        value = 0.0
        for s in range(first, end):
            value += strategy[s] * cfv[s]
        cfv[parent_sequence[i]] += value
        if not is_fixed[i]:
            match_regrets(regret, strategy, first, end, cfv, value, rates, tolerance)


@_jit
def counterfactual_values(payoffs, constants, realization, cfv):
    """Writes payoffs of a player's sequences against the opponent's realization plan to `cfv`."""
    for s in range(constants.size):
        cfv[s] = constants[s]
    add_slices(payoffs, 0, payoffs.rows.shape[0], realization, cfv)


@_jit
def update_player(treeplex, learner, iteration, numbers, tolerance, cfv):
    """Steps 2 and 3 of an iteration for one player; `cfv` holds its sequences' payoffs."""
    t = float(iteration)
    update_regrets(treeplex, learner, cfv, rates_at(t, numbers), tolerance)
    weight = averaging_weight(t, numbers)
    for s in range(learner.average.size):
        learner.average[s] += weight * learner.realization[s]
    realize(treeplex, learner)


@_jit
def run_iterations(game, learned, iterations, numbers, alternating, tolerance, num_done, cfv):
    """Does iterations as described in `regret_minimization`.

    Args:
      game: (treeplexes, payoffs, constants), each a pair for the two players.
      learned: a pair of `Learned`; updated.
      iterations: (first, last), counted from 1.
      numbers: of the `Weighting`.
      alternating: whether the players are updated in turn.
      tolerance: weights up to this count as zero in regret matching.
      num_done: int64 [1], counts the iterations.
      cfv: a pair of float64 [S_p], work space.
    """
    (treeplex_0, treeplex_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    learner_0, learner_1 = learned
    cfv_0, cfv_1 = cfv
    for iteration in range(iterations[0], iterations[1] + 1):
        counterfactual_values(payoffs_0, constants_0, learner_1.realization, cfv_0)
        if not alternating:
            counterfactual_values(payoffs_1, constants_1, learner_0.realization, cfv_1)
        update_player(treeplex_0, learner_0, iteration, numbers, tolerance, cfv_0)
        if alternating:
            counterfactual_values(payoffs_1, constants_1, learner_0.realization, cfv_1)
        update_player(treeplex_1, learner_1, iteration, numbers, tolerance, cfv_1)
        num_done[0] += 1
