"""Many iterations in the order of `solvers.arrangement`: the same results, to the last bit.

Every sum here has the summands of its twin in `solvers.kernels`, in the same order. Learners are
copied to their places before the first iteration, and back after the last one.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spiel_dl.solvers.kernels import accumulate, average, counterfactual_values, derive, rates

# Infosets that are updated together; what is known of them in between stays in the fastest cache.
_TILE = 128

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
# Calls with so many arrays would take as long as what they do in small groups.
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


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
    num_actions, start, first_infoset, count, regret, strategy, cfv, values, now, tolerance, work
):  # fmt: skip
    """The values of a group's infosets before the update, their regrets and next strategies."""
    for done in range(0, count, _TILE):
        size = np.uint32(min(_TILE, count - done))
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
def _update_regrets(arrangement, places, now, tolerance, work):
    """`kernels.update_regrets`."""
    groups, levels = arrangement.groups, arrangement.levels
    children, targets = arrangement.children, arrangement.targets
    # Unpacked for each group, their reference counts would take longer than small groups.
    regret, strategy, cfv = places.regret, places.strategy, places.cfv
    values = places.values
    for level in range(levels.shape[0] - 2, -1, -1):
        for g in range(levels[level, 0], levels[level + 1, 0]):
            _update_group(
                groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3], regret, strategy, cfv,
                values, now, tolerance, work
            )  # fmt: skip
        for k in range(np.uint32(levels[level, 1]), np.uint32(levels[level + 1, 1])):
            cfv[targets[k]] += values[children[k]]


@_jit
def _num_root_sequences(arrangement):
    """Root sequences come first, so their number is the place of what follows."""
    return arrangement.groups[0, 1] if arrangement.groups.shape[0] else arrangement.place.size


@_jit
def _average_and_realize(arrangement, places, weight, work):
    """Adds the plan that was played to the average, and realizes the next strategy."""
    groups, parents = arrangement.groups, arrangement.parents
    strategy, realization, average = places.strategy, places.realization, places.average
    inflow = places.inflow
    for s in range(np.uint32(_num_root_sequences(arrangement))):
        average[s] += weight * realization[s]
    for g in range(groups.shape[0]):
        num_actions, start, first_infoset, count = (
            groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        )  # fmt: skip
        for done in range(0, count, _TILE):
            size = np.uint32(min(_TILE, count - done))
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
def run_iterations(game, learned, iterations, numbers, alternating, tolerance):
    """`kernels.run_iterations` for learned without fixed infosets.

    Args:
      game: ArrangedGame.
      learned, iterations, numbers, alternating, tolerance: as there.
    """
    (arrangement_0, arrangement_1), (payoffs_0, payoffs_1), (constants_0, constants_1) = game
    places_0 = _arrange_learner(arrangement_0, learned[0])
    places_1 = _arrange_learner(arrangement_1, learned[1])
    work = np.empty(3 * _TILE)
    for iteration in range(iterations[0], iterations[1] + 1):
        now = rates(float(iteration), numbers)
        weight = average(float(iteration), numbers)
        counterfactual_values(payoffs_0, constants_0, places_1.realization, places_0.cfv)
        if not alternating:
            counterfactual_values(payoffs_1, constants_1, places_0.realization, places_1.cfv)
        _update_regrets(arrangement_0, places_0, now, tolerance, work)
        _average_and_realize(arrangement_0, places_0, weight, work)
        if alternating:
            counterfactual_values(payoffs_1, constants_1, places_0.realization, places_1.cfv)
        _update_regrets(arrangement_1, places_1, now, tolerance, work)
        _average_and_realize(arrangement_1, places_1, weight, work)
    _write_back(arrangement_0, places_0, learned[0])
    _write_back(arrangement_1, places_1, learned[1])
