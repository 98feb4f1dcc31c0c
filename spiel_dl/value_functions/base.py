"""`ValueFunction`: what depth-limited solvers ask at the leaves of a trunk."""

from __future__ import annotations

import abc
from collections.abc import Mapping

import numpy as np

from spiel_dl.tree.trunk import LeafSet

Values = tuple[np.ndarray, np.ndarray]


class ValueFunction(abc.ABC):
    """Maps both players' ranges at a trunk's leaves to counterfactual values.

    Bind it to a trunk's leaves once, then evaluate it as often as needed.
    """

    @abc.abstractmethod
    def bind(self, leaves: LeafSet) -> None:
        """Prepares for a trunk's leaves.

        Raises:
          ValueError: if the function cannot value these leaves.
        """

    @abc.abstractmethod
    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """The counterfactual values of all leaf infosets.

        They are unnormalised: sums over an infoset's histories of the opponent's and chance's reach
        times utility. So they are homogeneous in the opponent's range; an opponent of mass 0 in a
        public state gives 0.

        Args:
          range_0: float64 [..., L_0], player 0's own reach of its leaf infosets.
          range_1: float64 [..., L_1], player 1's.

        Returns:
          (cfv_0, cfv_1), float64 [..., L_p], each in its player's utility.
        """

    def state(self) -> dict[str, np.ndarray]:
        """What later values depend on besides ranges, for checkpoints: nothing, mostly."""
        return {}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on from a `state()` of a function of the same kind, bound to the same leaves.

        Raises:
          ValueError: if the state is of another function.
        """
        if state:
            raise ValueError(f"{type(self).__name__} has no state, but was given {sorted(state)}")


class ZeroValue(ValueFunction):
    """Values everything at 0, as if the game ended in a draw at the leaves."""

    def bind(self, leaves: LeafSet) -> None:
        """Nothing to prepare."""

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Zeros of the ranges' shapes."""
        return np.zeros_like(range_0), np.zeros_like(range_1)


def normalize_ranges(leaves: LeafSet, player: int, ranges: np.ndarray) -> Values:
    """Scales a player's range in each public state to sum 1.

    Args:
      leaves: the leaves.
      player: whose ranges.
      ranges: float64 [..., L_p].

    Returns:
      The scaled ranges, float64 [..., L_p], uniform in public states of mass 0; and the masses,
      float64 [..., P].
    """
    mass = leaves.sum_by_public_state(player, ranges)
    state = leaves.public_state_of_infoset(player)
    sizes = np.diff(leaves.infoset_offsets[player])
    here = mass[..., state]
    uniform = np.broadcast_to(1.0 / sizes[state], ranges.shape)
    return np.divide(ranges, here, out=uniform.copy(), where=here > 0), mass
