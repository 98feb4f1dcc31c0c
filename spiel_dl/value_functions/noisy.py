"""`NoisyValue`: a value function with errors of a known size, as a network has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import LeafValues, ValueFunction, Values, ask, bound_to


class NoisyValue(ValueFunction):
    """Adds a fixed error to each leaf infoset's value, in proportion to how often it is reached.

    The same leaf infoset always has the same error, whatever the ranges are, so errors do not
    average out. Infosets go by their numbers: in a compiled game, those of the whole game, whatever
    the trunk; in sparse trees those of this tree alone, so that another search draws other errors
    for the same infoset. Values of both players need not sum to zero, as those of a network.
    """

    def __init__(self, values: ValueFunction, size: float, seed: int = 0):
        """Takes a value function.

        Args:
          values: without errors.
          size: the errors' standard deviation, in utility units: of values per reach of an infoset
            by chance and the opponent.
          seed: of the errors.

        Raises:
          ValueError: if the size is negative or not finite.
        """
        if not 0 <= size < np.inf:
            raise ValueError(f"size={size} must be a finite number >= 0")
        self._values, self._size, self._seed = values, size, seed
        self.one_limit = values.one_limit

    def bind(self, leaves: LeafSet) -> LeafValues:
        """Draws the errors of a trunk's leaf infosets, by their numbers in it, see above."""
        errors = []
        for player, infosets in enumerate(leaves.infosets):
            generator = np.random.default_rng([self._seed, player])
            drawn = generator.normal(size=int(infosets.max(initial=-1)) + 1)
            errors.append(self._size * drawn[infosets])
        return _NoisyLeafValues(bound_to(self._values, leaves), (errors[0], errors[1]))


class _NoisyLeafValues(LeafValues):
    """Values with errors, float64 [L_p] per reach of a leaf infoset."""

    def __init__(self, values: LeafValues, errors: Values):
        super().__init__(values.leaves)
        self._values, self._errors = values, errors

    def state(self) -> dict[str, np.ndarray]:
        """That of the values without errors."""
        return self._values.state()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on from it; see `LeafValues`."""
        self._values.load_state(state)

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`."""
        cfv_0, cfv_1 = ask(self._values, (0, 1), range_0, range_1)
        reach_0, reach_1 = self.leaves.counterfactual_reach(range_0, range_1)
        return cfv_0 + self._errors[0] * reach_0, cfv_1 + self._errors[1] * reach_1
