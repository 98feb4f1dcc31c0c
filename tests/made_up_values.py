"""Value functions made of a Python function, for tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions import LeafValues, ValueFunction

Pair = tuple[np.ndarray, np.ndarray]


class MadeUpValue(ValueFunction):
    """Values leaves by a function of both ranges."""

    def __init__(self, evaluate: Callable[[np.ndarray, np.ndarray], Pair]):
        self._evaluate = evaluate

    def bind(self, leaves: LeafSet) -> LeafValues:
        return _MadeUpLeafValues(leaves, self._evaluate)


class _MadeUpLeafValues(LeafValues):
    def __init__(self, leaves: LeafSet, evaluate: Callable[[np.ndarray, np.ndarray], Pair]):
        super().__init__(leaves)
        self._evaluate = evaluate

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Pair:
        return self._evaluate(range_0, range_1)


def broken_value(player: int, num_answers: int = 0) -> MadeUpValue:
    """A value function of zeros, with NaN for one infoset of a player after so many calls."""
    given = [0]

    def evaluate(range_0: np.ndarray, range_1: np.ndarray) -> Pair:
        values = [np.zeros_like(range_0), np.zeros_like(range_1)]
        if given[0] >= num_answers:
            values[player][-1] = np.nan
        given[0] += 1
        return values[0], values[1]

    return MadeUpValue(evaluate)


class NoisyValue(ValueFunction):
    """Adds a fixed error to each leaf infoset's value, in proportion to how often it is reached.

    Infosets of a game go by their numbers in it, so errors are the same whatever the trunk is.
    """

    def __init__(self, values: ValueFunction, size: float, seed: int = 0):
        self._values, self._size, self._seed = values, size, seed

    def bind(self, leaves: LeafSet) -> LeafValues:
        values, errors = self._values.bind(leaves), []
        for player, infosets in enumerate(leaves.infosets):
            generator = np.random.default_rng([self._seed, player])
            drawn = generator.normal(size=int(infosets.max(initial=-1)) + 1)
            errors.append(self._size * drawn[infosets])

        def evaluate(*ranges: np.ndarray) -> Pair:
            cfv_0, cfv_1 = values.evaluate(*ranges)
            reach_0, reach_1 = leaves.counterfactual_reach(*ranges)
            return cfv_0 + errors[0] * reach_0, cfv_1 + errors[1] * reach_1

        return _MadeUpLeafValues(leaves, evaluate)
