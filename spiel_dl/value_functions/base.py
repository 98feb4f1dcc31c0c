"""`ValueFunction`: what depth-limited solvers ask at the leaves of a trunk."""

from __future__ import annotations

import abc
from collections.abc import Mapping

import numpy as np

from spiel_dl.tree.leaf_set import LeafSet

Values = tuple[np.ndarray, np.ndarray]


class ValueFunction(abc.ABC):
    """Maps both players' ranges at a trunk's leaves to counterfactual values.

    Bind it to a trunk's leaves once, then evaluate it as often as needed.

    Attributes:
      leaves: the leaves it is bound to; None: not bound, or it does not matter to which.
    """

    leaves: LeafSet | None = None

    @abc.abstractmethod
    def bind(self, leaves: LeafSet) -> None:
        """Prepares for a trunk's leaves, and forgets those it was bound to before.

        Solvers may share a function that sets `leaves` here: each binds it anew where another has
        bound it to its own. What a `state` holds is lost then, so two solvers that take turns
        with warm starts should have a function each.

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

    def _bound_leaves(self) -> LeafSet:
        """The leaves; a ValueError if it is not bound."""
        if self.leaves is None:
            raise ValueError("bind the value function to the leaves before using it")
        return self.leaves


class ZeroValue(ValueFunction):
    """Values everything at 0, as if the game ended in a draw at the leaves."""

    def bind(self, leaves: LeafSet) -> None:
        """Nothing to prepare."""

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Zeros of the ranges' shapes."""
        return np.zeros_like(range_0), np.zeros_like(range_1)


def check_ranges(leaves: LeafSet, range_0: np.ndarray, range_1: np.ndarray) -> None:
    """Raises a ValueError if ranges are not of the shapes that `evaluate` takes."""
    sizes = (leaves.num_infosets(0), leaves.num_infosets(1))
    batch = range_0.shape[:-1]
    if (range_0.shape, range_1.shape) != ((*batch, sizes[0]), (*batch, sizes[1])):
        raise ValueError(
            f"the ranges have shapes {range_0.shape} and {range_1.shape}, but the leaves need "
            f"[..., {sizes[0]}] and [..., {sizes[1]}] with equal leading dimensions"
        )


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
    here = mass.take(state, axis=-1)
    if mass.all():
        return ranges / here, mass
    sizes = np.diff(leaves.infoset_offsets[player])
    uniform = np.broadcast_to(1.0 / sizes[state], ranges.shape)
    return np.divide(ranges, here, out=uniform.copy(), where=here > 0), mass
