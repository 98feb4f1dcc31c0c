"""Iterations in the order of `solvers.arrangement`; equal to `solvers.kernels` to the last bit.

Every sum here has the summands of its twin in `solvers.kernels`, in the same order, on any number
of threads. Learners are copied to the arranged order before the first iteration, and back after the
last one. Parallel loops are compiled twice, with and without threads: numba's threads, once
started, disturb those of other libraries (torch's products of small matrices took 8 ms instead of
20 us on busy cores), so a run with one thread does not start them.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from spiel_dl.solvers.arrangement import ArrangedGame, Arrangement, in_places
from spiel_dl.solvers.kernels import (
    Learned,
    accumulate,
    add_slices,
    averaging_weight,
    predicted_regret,
    rates_at,
)

# Number of infosets that are updated together; their intermediate results fit into the L1 cache.
_TILE = 128

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


def _on_threads(function: Any, **callees: Callable[..., None]) -> Callable[..., None]:
    """Compiles a function with parallel `prange` loops, or with `callees` that have them.

    Numba's cache identifies functions by their names, so the new function has another name.
    """
    text, name = function.py_func, f"{function.py_func.__name__}_on_threads"
    twin = types.FunctionType(text.__code__, {**text.__globals__, **callees}, name)
    twin.__qualname__ = name
    compiled: Callable[..., None] = numba.njit(
        cache=True, boundscheck=False, error_model="numpy", parallel=not callees
    )(twin)
    return compiled


class _Places(NamedTuple):
    """A `Learned` in the arranged order.

    Attributes:
      regret, strategy, realization, average, cfv: float64 [S].
      inflow: float64 [S], or empty.
      values: float64 [I], work space.
    """

    regret: np.ndarray
    strategy: np.ndarray
    realization: np.ndarray
    average: np.ndarray
    cfv: np.ndarray
    inflow: np.ndarray
    values: np.ndarray


@_jit
def _to_original_order(place, arranged, array):
    for s in range(array.size):
        array[s] = arranged[place[s]]


def _arranged(arrangement: Arrangement, learner: Learned) -> _Places:
    return _Places(
        in_places(learner.regret, arrangement),
        in_places(learner.strategy, arrangement),
        in_places(learner.realization, arrangement),
        in_places(learner.average, arrangement),
        np.empty(arrangement.place.size),
        in_places(learner.inflow, arrangement),
        np.empty(arrangement.parents.size),
    )


@_jit
def _write_back(arrangement, arranged, learner):
    place = arrangement.place
    _to_original_order(place, arranged.regret, learner.regret)
    _to_original_order(place, arranged.strategy, learner.strategy)
    _to_original_order(place, arranged.realization, learner.realization)
    _to_original_order(place, arranged.average, learner.average)


@_jit
def _update_group(
    group, begin, end, regret, strategy, cfv, values, rates, tolerance, work
):  # fmt: skip
    """Computes values, then updates regrets and strategies, of infosets `begin` to `end` - 1."""
    num_actions, start, first_infoset, count = group
    for offset in range(begin, end, _TILE):
        size = np.uint32(min(_TILE, end - offset))
        for j in range(size):
            work[j] = 0.0
        for j in range(size):
            work[_TILE + j] = 0.0
        for action in range(num_actions):
            first = np.uint32(start + action * count + offset)
            for j in range(size):
                work[j] += strategy[first + j] * cfv[first + j]
        infoset = np.uint32(first_infoset + offset)
        for j in range(size):
            values[infoset + j] = work[j]
        for action in range(num_actions):
            first = np.uint32(start + action * count + offset)
            for j in range(size):
                new_regret = cfv[first + j] - work[j]
                updated = accumulate(regret[first + j], new_regret, rates)
                regret[first + j] = updated
                weight = predicted_regret(updated, new_regret, rates)
                weight = weight if weight > tolerance else 0.0
                strategy[first + j] = weight
                work[_TILE + j] += weight
        # Strategies are scaled by the first factor; where all weights are 0, the second makes them
        # uniform.
        for j in range(size):
            total = work[_TILE + j]
            work[2 * _TILE + j] = 0.0 if total > 0.0 else 1.0 / num_actions
            work[_TILE + j] = 1.0 / (total if total > 0.0 else 1.0)
        for action in range(num_actions):
            first = np.uint32(start + action * count + offset)
            for j in range(size):
                strategy[first + j] = strategy[first + j] * work[_TILE + j] + work[2 * _TILE + j]


@_jit
def _cfvs(payoffs, constants, num_threads, realization, cfv):
    """`kernels.counterfactual_values`."""
    starts = payoffs.slice_starts[:-1]
    for thread in numba.prange(num_threads):
        for s in range(*_share(cfv.size, thread, num_threads)):
            cfv[s] = constants[s]
    for thread in numba.prange(num_threads):
        # Slices differ in length, so threads get equal numbers of entries, not of slices.
        begin, end = _share(np.int64(payoffs.slice_starts[-1]), thread, num_threads)
        first, last = _first_at_least(starts, begin), _first_at_least(starts, end)
        add_slices(payoffs, first, last, realization, cfv)


@_jit
def _share(count, thread, num_threads):
    """The first index and the end of one thread's share of `count` items."""
    return np.uint32(count * thread // num_threads), np.uint32(count * (thread + 1) // num_threads)


@_jit
def _first_at_least(ascending, value):
    """The first index whose number is not less, as np.searchsorted, which takes 2 s to compile."""
    low, high = 0, ascending.size
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@_jit
def _update_regrets(arrangement, learner, rates, tolerance, num_threads, work):
    """`kernels.update_regrets`."""
    groups, levels, rounds = arrangement.groups, arrangement.levels, arrangement.rounds
    children, targets = arrangement.children, arrangement.targets
    # Unpacked once: per group, reference counting would take longer than small groups do.
    regret, strategy, cfv = learner.regret, learner.strategy, learner.cfv
    values = learner.values
    for level in range(levels.shape[0] - 2, -1, -1):
        for thread in numba.prange(num_threads):
            own = work[thread]
            for g in range(levels[level, 0], levels[level + 1, 0]):
                group = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
                begin, end = _share(group[3], thread, num_threads)
                _update_group(
                    group, begin, end, regret, strategy, cfv, values, rates, tolerance, own
                )
        first_round, end_round = levels[level, 1], levels[level + 1, 1]
        # The first round has all targets of the level, in order; each thread has a range of them.
        level_targets = targets[rounds[first_round] : rounds[first_round + 1]]
        for thread in numba.prange(num_threads):
            begin, end = _share(level_targets.size, thread, num_threads)
            if begin == end:
                continue
            for r in range(first_round, end_round):
                start, round_targets = rounds[r], targets[rounds[r] : rounds[r + 1]]
                since = _first_at_least(round_targets, level_targets[begin])
                until = _first_at_least(round_targets, level_targets[end - 1] + 1)
                for k in range(np.uint32(start + since), np.uint32(start + until)):
                    cfv[targets[k]] += values[children[k]]


@_jit
def _average_and_realize(arrangement, learner, weight, num_threads, work):
    """Adds the current realization plan to the average; computes the next strategy's plan."""
    groups, levels, parents = arrangement.groups, arrangement.levels, arrangement.parents
    strategy, realization, average = learner.strategy, learner.realization, learner.average
    inflow = learner.inflow
    # Root sequences come first, so their number is the place of the first other sequence.
    num_roots = groups[0, 1] if groups.shape[0] else arrangement.place.size
    for s in range(np.uint32(num_roots)):
        average[s] += weight * realization[s]
    for level in range(levels.shape[0] - 1):
        for thread in numba.prange(num_threads):
            own = work[thread]
            for g in range(levels[level, 0], levels[level + 1, 0]):
                group = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
                begin, end = _share(group[3], thread, num_threads)
                _realize_group(
                    group, begin, end, parents, strategy, realization, average, inflow, weight, own
                )


@_jit
def _realize_group(
    group, begin, end, parents, strategy, realization, average, inflow, weight, work
):  # fmt: skip
    """`_average_and_realize` for infosets `begin` to `end` - 1 of a group."""
    num_actions, start, first_infoset, count = group
    for offset in range(begin, end, _TILE):
        size = np.uint32(min(_TILE, end - offset))
        infoset = np.uint32(first_infoset + offset)
        for j in range(size):
            work[j] = realization[parents[infoset + j]]
        if inflow.size > 0:
            first = np.uint32(start + offset)
            for j in range(size):
                work[j] += inflow[first + j]
        for action in range(num_actions):
            first = np.uint32(start + action * count + offset)
            for j in range(size):
                average[first + j] += weight * realization[first + j]
                realization[first + j] = work[j] * strategy[first + j]


@_jit
def _run(game, learned, places, iterations, numbers, alternating, tolerance, num_done, num_threads):
    (arrangement_0, arrangement_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    learner_0, learner_1 = places
    work = np.empty((num_threads, 3 * _TILE))
    for iteration in range(iterations[0], iterations[1] + 1):
        rates = rates_at(float(iteration), numbers)
        weight = averaging_weight(float(iteration), numbers)
        _cfvs(payoffs_0, constants_0, num_threads, learner_1.realization, learner_0.cfv)
        if not alternating:
            _cfvs(payoffs_1, constants_1, num_threads, learner_0.realization, learner_1.cfv)
        _update_regrets(arrangement_0, learner_0, rates, tolerance, num_threads, work)
        _average_and_realize(arrangement_0, learner_0, weight, num_threads, work)
        if alternating:
            _cfvs(payoffs_1, constants_1, num_threads, learner_0.realization, learner_1.cfv)
        _update_regrets(arrangement_1, learner_1, rates, tolerance, num_threads, work)
        _average_and_realize(arrangement_1, learner_1, weight, num_threads, work)
    # In compiled code, which no KeyboardInterrupt ends half done.
    _write_back(arrangement_0, learner_0, learned[0])
    _write_back(arrangement_1, learner_1, learned[1])
    num_done[0] += iterations[1] + 1 - iterations[0]


_run_on_threads = _on_threads(
    _run,
    _cfvs=_on_threads(_cfvs),
    _update_regrets=_on_threads(_update_regrets),
    _average_and_realize=_on_threads(_average_and_realize),
)


def run_iterations(
    game: ArrangedGame,
    learned: tuple[Learned, ...],
    iterations: tuple[int, int],
    numbers: tuple[float, ...],
    alternating: bool,
    tolerance: float,
    num_done: np.ndarray,
    num_threads: int = 1,
) -> None:
    """`kernels.run_iterations` for learners without fixed infosets.

    Args:
      game: in the arranged order.
      learned: both players' learners; updated.
      iterations: (first, last), counted from 1.
      numbers: of the `Weighting`.
      alternating: whether the players are updated in turn.
      tolerance: weights up to this count as zero in regret matching.
      num_done: int64 [1], counts the iterations.
      num_threads: numba's threads; results do not depend on their number.
    """
    first, second = map(_arranged, game.arrangements, learned)
    more = (iterations, numbers, alternating, tolerance, num_done, num_threads)
    arguments = (game, learned, (first, second), *more)
    if num_threads == 1:
        _run(*arguments)
        return
    previous_threads = numba.get_num_threads()
    numba.set_num_threads(num_threads)
    try:
        _run_on_threads(*arguments)
    finally:
        numba.set_num_threads(previous_threads)  # Other code of this thread uses the same setting.
