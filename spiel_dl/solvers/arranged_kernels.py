"""Many iterations in the order of `solvers.arrangement`: the same results, to the last bit.

Every sum here has the summands of its twin in `solvers.kernels`, in the same order, on any number
of threads. Learners are copied to their places before the first iteration, and back after the last
one. What is done by threads is compiled twice: numba's threads, once started, disturb those of
other libraries (torch's products of small matrices took 8 ms instead of 20 us on busy cores), so
one thread does without.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from spiel_dl.solvers.arrangement import ArrangedGame
from spiel_dl.solvers.kernels import Learned, accumulate, add_slices, average, derive, rates

# Infosets that are updated together; what is known of them in between stays in the fastest cache.
_TILE = 128

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


def _on_threads(function: Any, **callees: Callable[..., None]) -> Callable[..., None]:
    """A compiled function whose `prange` is done by threads, or that of what it calls.

    Numba's cache knows functions by their names alone, so it gets one of its own.
    """
    text, name = function.py_func, f"{function.py_func.__name__}_on_threads"
    twin = types.FunctionType(text.__code__, {**text.__globals__, **callees}, name)
    twin.__qualname__ = name
    compiled: Callable[..., None] = numba.njit(
        cache=True, boundscheck=False, error_model="numpy", parallel=not callees
    )(twin)
    return compiled


class _Places(NamedTuple):
    """What a `Learned` has learned, each number at the place of its sequence.

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
def _to_places(place, array):
    arranged = np.empty(array.size)
    for s in range(array.size):
        arranged[place[s]] = array[s]
    return arranged


@_jit
def _from_places(place, arranged, array):
    for s in range(array.size):
        array[s] = arranged[place[s]]


@_jit
def _arrange_learner(arrangement, learner):
    place = arrangement.place
    return _Places(
        _to_places(place, learner.regret),
        _to_places(place, learner.strategy),
        _to_places(place, learner.realization),
        _to_places(place, learner.average),
        np.empty(place.size),
        _to_places(place, learner.inflow),
        np.empty(arrangement.parents.size),
    )


@_jit
def _write_back(arrangement, places, learner):
    place = arrangement.place
    _from_places(place, places.regret, learner.regret)
    _from_places(place, places.strategy, learner.strategy)
    _from_places(place, places.realization, learner.realization)
    _from_places(place, places.average, learner.average)


@_jit
def _update_group(
    group, begin, end, regret, strategy, cfv, values, now, tolerance, work
):  # fmt: skip
    """The values of some of a group's infosets before the update, their regrets and strategies."""
    num_actions, start, first_infoset, count = group
    for done in range(begin, end, _TILE):
        size = np.uint32(min(_TILE, end - done))
        for j in range(size):
            work[j] = 0.0
        for j in range(size):
            work[_TILE + j] = 0.0
        for action in range(num_actions):
            first = np.uint32(start + action * count + done)
            for j in range(size):
                work[j] += strategy[first + j] * cfv[first + j]
        infoset = np.uint32(first_infoset + done)
        for j in range(size):
            values[infoset + j] = work[j]
        for action in range(num_actions):
            first = np.uint32(start + action * count + done)
            for j in range(size):
                newest = cfv[first + j] - work[j]
                updated = accumulate(regret[first + j], newest, now)
                regret[first + j] = updated
                weight = derive(updated, newest, now)
                weight = weight if weight > tolerance else 0.0
                strategy[first + j] = weight
                work[_TILE + j] += weight
        # Where all regrets are zero, the sum of a factor and of what is added makes it uniform.
        for j in range(size):
            total = work[_TILE + j]
            work[2 * _TILE + j] = 0.0 if total > 0.0 else 1.0 / num_actions
            work[_TILE + j] = 1.0 / (total if total > 0.0 else 1.0)
        for action in range(num_actions):
            first = np.uint32(start + action * count + done)
            for j in range(size):
                strategy[first + j] = strategy[first + j] * work[_TILE + j] + work[2 * _TILE + j]


@_jit
def _cfvs(payoffs, constants, num_threads, realization, cfv):
    """`kernels.counterfactual_values`."""
    # Slices differ in length, so the entries, not the slices, are shared out equally.
    shares = np.arange(num_threads + 1) * np.int64(payoffs.slice_starts[-1]) // num_threads
    bounds = np.searchsorted(payoffs.slice_starts[:-1], shares)
    for thread in numba.prange(num_threads):
        for s in range(*_share(cfv.size, thread, num_threads)):
            cfv[s] = constants[s]
    for thread in numba.prange(num_threads):
        add_slices(payoffs, bounds[thread], bounds[thread + 1], realization, cfv)


@_jit
def _share(count, thread, num_threads):
    """What one of several threads does: from where to where."""
    return np.uint32(count * thread // num_threads), np.uint32(count * (thread + 1) // num_threads)


@_jit
def _update_regrets(arrangement, places, now, tolerance, num_threads, work):
    """`kernels.update_regrets`."""
    groups, levels, rounds = arrangement.groups, arrangement.levels, arrangement.rounds
    children, targets = arrangement.children, arrangement.targets
    # Unpacked for each group, their reference counts would take longer than small groups.
    regret, strategy, cfv = places.regret, places.strategy, places.cfv
    values = places.values
    for level in range(levels.shape[0] - 2, -1, -1):
        for thread in numba.prange(num_threads):
            own = work[thread]
            for g in range(levels[level, 0], levels[level + 1, 0]):
                group = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
                begin, end = _share(group[3], thread, num_threads)
                _update_group(group, begin, end, regret, strategy, cfv, values, now, tolerance, own)
        first_round, end_round = levels[level, 1], levels[level + 1, 1]
        # All places are among those of the first round, and in order; each thread has its own.
        places_of_level = targets[rounds[first_round] : rounds[first_round + 1]]
        for thread in numba.prange(num_threads):
            begin, end = _share(places_of_level.size, thread, num_threads)
            if begin == end:
                continue
            for r in range(first_round, end_round):
                start, in_round = rounds[r], targets[rounds[r] : rounds[r + 1]]
                since = np.searchsorted(in_round, places_of_level[begin])
                until = np.searchsorted(in_round, places_of_level[end - 1], "right")
                for k in range(np.uint32(start + since), np.uint32(start + until)):
                    cfv[targets[k]] += values[children[k]]


@_jit
def _num_root_sequences(arrangement):
    """Root sequences come first, so their number is the place of what follows."""
    return arrangement.groups[0, 1] if arrangement.groups.shape[0] else arrangement.place.size


@_jit
def _average_and_realize(arrangement, places, weight, num_threads, work):
    """Adds the plan that was played to the average, and realizes the next strategy."""
    groups, levels, parents = arrangement.groups, arrangement.levels, arrangement.parents
    strategy, realization, average = places.strategy, places.realization, places.average
    inflow = places.inflow
    for s in range(np.uint32(_num_root_sequences(arrangement))):
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
    """Some of a group's part of `_average_and_realize`."""
    num_actions, start, first_infoset, count = group
    for done in range(begin, end, _TILE):
        size = np.uint32(min(_TILE, end - done))
        infoset = np.uint32(first_infoset + done)
        for j in range(size):
            work[j] = realization[parents[infoset + j]]
        if inflow.size > 0:
            first = np.uint32(start + done)
            for j in range(size):
                work[j] += inflow[first + j]
        for action in range(num_actions):
            first = np.uint32(start + action * count + done)
            for j in range(size):
                average[first + j] += weight * realization[first + j]
                realization[first + j] = work[j] * strategy[first + j]


@_jit
def _run(game, learned, iterations, numbers, alternating, tolerance, done, num_threads):
    (arrangement_0, arrangement_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    places_0 = _arrange_learner(arrangement_0, learned[0])
    places_1 = _arrange_learner(arrangement_1, learned[1])
    work = np.empty((num_threads, 3 * _TILE))
    for iteration in range(iterations[0], iterations[1] + 1):
        now = rates(float(iteration), numbers)
        weight = average(float(iteration), numbers)
        _cfvs(payoffs_0, constants_0, num_threads, places_1.realization, places_0.cfv)
        if not alternating:
            _cfvs(payoffs_1, constants_1, num_threads, places_0.realization, places_1.cfv)
        _update_regrets(arrangement_0, places_0, now, tolerance, num_threads, work)
        _average_and_realize(arrangement_0, places_0, weight, num_threads, work)
        if alternating:
            _cfvs(payoffs_1, constants_1, num_threads, places_0.realization, places_1.cfv)
        _update_regrets(arrangement_1, places_1, now, tolerance, num_threads, work)
        _average_and_realize(arrangement_1, places_1, weight, num_threads, work)
    _write_back(arrangement_0, places_0, learned[0])
    _write_back(arrangement_1, places_1, learned[1])
    done[0] += iterations[1] + 1 - iterations[0]


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
    done: np.ndarray,
    num_threads: int = 1,
) -> None:
    """`kernels.run_iterations` for learned without fixed infosets.

    Args:
      game: by places.
      learned: of both players; updated.
      iterations: (first, last), counted from 1.
      numbers: of the `Weighting`.
      alternating: whether the players are updated in turn.
      tolerance: weights up to this count as zero in regret matching.
      done: int64 [1], counts the iterations.
      num_threads: of numba's; results do not depend on it.
    """
    how = (game, learned, iterations, numbers, alternating, tolerance, done, num_threads)
    if num_threads == 1:
        _run(*how)
        return
    before = numba.get_num_threads()
    numba.set_num_threads(num_threads)
    try:
        _run_on_threads(*how)
    finally:
        numba.set_num_threads(before)  # It is also that of whatever else this thread runs.
