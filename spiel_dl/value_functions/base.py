"""`ValueFunction` and `LeafValues`: the values at a trunk's leaves, for depth-limited solvers.

A value function is bound to the leaves of a trunk; the resulting `LeafValues` map ranges to values:

    leaf_values = value_function.bind(trunk.leaves)
    cfv_0, cfv_1 = leaf_values.evaluate(range_0, range_1)

Binding does not change the value function, so any number of solvers, also in several threads, may
share one. A `LeafValues` may have memory to work in, so each solver has its own.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.trunk import Trunk

if TYPE_CHECKING:  # With torch, as hold'em's rules.
    from spiel_dl.factored.holdem_rivers import RiverStarts
    from spiel_dl.factored.holdem_trunk import HoldemLeaves, HoldemTrunk

Values = tuple[np.ndarray, np.ndarray]


class LeafValues(abc.ABC):
    """A value function at the leaves of one trunk, as `ValueFunction.bind` returns it.

    Attributes:
      leaves: the leaves.
    """

    def __init__(self, leaves: LeafSet):
        """Values these leaves."""
        check_listed(leaves)
        self.leaves = leaves

    @abc.abstractmethod
    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """The counterfactual values of all leaf infosets.

        They are unnormalised: sums over an infoset's histories of the opponent's and chance's reach
        times utility. So they are homogeneous in the opponent's range; an opponent of mass 0 in a
        public state gives 0.

        Args:
          range_0: float64 [L_0], player 0's own reach of its leaf infosets.
          range_1: float64 [L_1], player 1's.

        Returns:
          (cfv_0, cfv_1), float64 [L_p], each in its player's utility.

        Raises:
          ValueError: if the ranges' shapes do not fit the leaves, or if a range has entries that
            are negative or not finite.
        """

    def values_for(self, player: int, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        """One player's counterfactual values, as `evaluate` gives them: float64 [L_p]."""
        return evaluate_checked(self, (0, 1), range_0, range_1)[player]


def evaluate_checked(
    values: LeafValues, players: tuple[int, ...], range_0: np.ndarray, range_1: np.ndarray
) -> Sequence[np.ndarray]:
    """Values of players (0,), (1,) or (0, 1), checked for type and shape: float [L_p] each.

    All users of `LeafValues` evaluate them by this, since broadcasting hides wrong shapes.

    Raises:
      ValueError: if the values are not one float array of its range's shape per player.
    """
    ranges = (range_0, range_1)
    cfvs: object
    if len(players) == 1:
        cfvs = (values.values_for(players[0], range_0, range_1),)
    else:
        cfvs = values.evaluate(range_0, range_1)
    if isinstance(cfvs, Sequence) and len(cfvs) == len(players):
        shapes = [ranges[player].shape for player in players]
        if all(map(_is_float_array, cfvs, shapes)):
            return cfvs
    expected = " and ".join(str(range_.shape) for range_ in ranges)
    raise ValueError(
        f"{type(values).__name__} answered {_described(cfvs)}, not float arrays of the ranges' "
        f"shapes, {expected}; let evaluate return the pair (cfv_0, cfv_1) of NumPy arrays, and "
        "values_for one of them"
    )


def _is_float_array(array: object, shape: tuple[int, ...]) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.shape == shape


def _described(value: object) -> str:
    """The types, dtypes and shapes of a returned value, for error messages."""
    if isinstance(value, tuple | list) and len(value) <= 2:
        return "(" + ", ".join(map(_described, value)) + ")"
    dtype = getattr(value, "dtype", None)
    shape = getattr(value, "shape", None)
    dtype_text = "" if dtype is None else f" of {dtype}"
    return type(value).__name__ + dtype_text + ("" if shape is None else f" {tuple(shape)}")


class ValueFunction(abc.ABC):
    """Maps both players' ranges at a trunk's leaves to counterfactual values.

    Attributes:
      one_limit: whether it is made for all leaves of a game at one depth limit, as many networks
        are. A search that reaches only some of these leaves binds it to all of them then.
    """

    one_limit: bool = False

    @abc.abstractmethod
    def bind(self, leaves: Any) -> LeafValues:
        """The function at a trunk's leaves; does not change the function.

        Args:
          leaves: a `LeafSet`; in hold'em that is too large to list, `HoldemLeaves`, or with one
            subgame per river card, `RiverStarts`.

        Raises:
          ValueError: if the function cannot value these leaves.
        """


def bind_checked(
    function: ValueFunction, leaves: LeafSet | HoldemLeaves | RiverStarts
) -> LeafValues:
    """`function.bind(leaves)`, with its return type checked.

    Raises:
      ValueError: as `bind`, or if that returns something else than `LeafValues`.
    """
    values = function.bind(leaves)
    if not isinstance(values, LeafValues):
        raise ValueError(
            f"{type(function).__name__}.bind returned {_described(values)}; let it return a "
            "LeafValues of the leaves"
        )
    return values


class ZeroValue(ValueFunction):
    """Values everything at 0, as if the game ended in a draw at the leaves."""

    def bind(self, leaves: LeafSet) -> LeafValues:
        """Zeros at these leaves."""
        return _Zeros(leaves)


class _Zeros(LeafValues):
    """Zeros of the ranges' shapes."""

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        check_ranges(self.leaves, range_0, range_1)
        return np.zeros_like(range_0), np.zeros_like(range_1)


class PartOfLeaves(LeafValues):
    """Values at a subset of the leaves of another `LeafValues`; all other leaves get range 0.

    It lets value functions for all leaves at a depth limit (`ValueFunction.one_limit`) value the
    leaves of a part of the game.
    """

    def __init__(self, whole: LeafValues, leaves: LeafSet):
        """Values `leaves`, whose infosets are all among those of `whole`."""
        super().__init__(leaves)
        self._whole = whole
        self._positions = [
            _positions(whole.leaves.infosets[player], leaves.infosets[player]) for player in (0, 1)
        ]

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`."""
        ranges = []
        for player, range_ in enumerate((range_0, range_1)):
            full = np.zeros(self._whole.leaves.num_infosets(player))
            full[self._positions[player]] = range_
            ranges.append(full)
        cfv_0, cfv_1 = evaluate_checked(self._whole, (0, 1), ranges[0], ranges[1])
        return cfv_0[self._positions[0]], cfv_1[self._positions[1]]


def _positions(infosets: np.ndarray, subset: np.ndarray) -> np.ndarray:
    """The positions in a list of distinct infosets of a subset of them: int64 [n]."""
    order = np.argsort(infosets)
    return order[np.searchsorted(infosets, subset, sorter=order)]


def check_arguments(value_function: object, depth_limit: object, *, by_limit: bool = False) -> None:
    """Raises a ValueError if the arguments are no value function and no depth limit.

    All searches and solvers take the game, the value function and the depth limit in this order.
    Some take one value function for each limit (`by_limit`), as a mapping.
    """
    if by_limit and isinstance(value_function, Mapping):
        for limit, function in value_function.items():
            if not (isinstance(limit, DepthLimit) and isinstance(function, ValueFunction)):
                raise ValueError(
                    f"value_function has {limit!r}: {function!r}; a mapping must be from "
                    "DepthLimits, counted from the root, to ValueFunctions"
                )
    elif value_function is not None and not isinstance(value_function, ValueFunction):
        several = ", a mapping from DepthLimits to them" if by_limit else ""
        raise ValueError(
            f"value_function={value_function!r} must be a ValueFunction{several} or None; the "
            "value function comes before the depth limit"
        )
    check_depth_limit(depth_limit)


def check_value_function(
    trunk: Trunk | HoldemTrunk, value_function: object, *, argument: str = "value_function"
) -> None:
    """Raises a ValueError if the game goes on below a trunk and there is no value function.

    The message names the argument that would give one.
    """
    num_states = trunk.leaves.num_public_states
    if num_states and value_function is None:
        raise ValueError(
            f"the game goes on in {num_states} public states at a depth limit of "
            f"{trunk.depth_limit} and no value function was given; pass {argument}="
        )


def check_listed(leaves: object) -> None:
    """Raises a ValueError if the leaves' game is too large to list."""
    if not isinstance(leaves, LeafSet):
        raise ValueError(
            "the game is too large to list, and this value function asks for lists; value hold'em "
            "on the turn by RiverNetwork or ShowdownValue"
        )


def check_leaves(leaves: LeafSet) -> None:
    """Raises a ValueError if there are no leaves."""
    check_listed(leaves)
    if not leaves.num_public_states:
        raise ValueError(
            f"{leaves.tree.game} ends above a depth limit of {leaves.depth_limit}, so there is "
            "nothing to value; choose a smaller limit, as in moves, or solve the game by CFR"
        )


def check_ranges(leaves: LeafSet, range_0: np.ndarray, range_1: np.ndarray) -> None:
    """Raises a ValueError if ranges have the wrong shape, or a negative or infinite entry."""
    sizes = (leaves.num_infosets(0), leaves.num_infosets(1))
    if (range_0.shape, range_1.shape) != ((sizes[0],), (sizes[1],)):
        raise ValueError(
            f"the ranges have shapes {range_0.shape} and {range_1.shape}, but the leaves need "
            f"{sizes[0]} and {sizes[1]} numbers"
        )
    for player, range_ in enumerate((range_0, range_1)):
        # NaN fails the first comparison.
        if not (range_.min(initial=0.0) >= 0.0 and range_.max(initial=0.0) < np.inf):
            raise ValueError(
                f"player {player}'s range has entries that are negative or not finite; a range "
                "holds the player's reach probabilities of its leaf infosets"
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
    mass_of_infoset = mass.take(state, axis=-1)
    if mass.all():
        return ranges / mass_of_infoset, mass
    sizes = np.diff(leaves.infoset_offsets[player])
    uniform = np.broadcast_to(1.0 / sizes[state], ranges.shape)
    return np.divide(ranges, mass_of_infoset, out=uniform.copy(), where=mass_of_infoset > 0), mass


class NormalizedLeafValues(LeafValues):
    """Values computed at ranges scaled to sum 1 in each public state.

    That suffices, as counterfactual values are homogeneous in the opponent's range. A range that is
    0 in all of a public state's infosets is replaced by the uniform one.
    """

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `LeafValues`."""
        leaves = self.leaves
        check_ranges(leaves, range_0, range_1)
        scaled_0, mass_0 = normalize_ranges(leaves, 0, range_0)
        scaled_1, mass_1 = normalize_ranges(leaves, 1, range_1)
        cfv_0, cfv_1 = self.normalized_values(scaled_0, scaled_1)
        # The products are float64, as the masses are.
        return (
            cfv_0 * mass_1[leaves.public_state_of_infoset(0)],
            cfv_1 * mass_0[leaves.public_state_of_infoset(1)],
        )

    @abc.abstractmethod
    def normalized_values(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Values at ranges that sum to 1 in each public state.

        Args:
          range_0: float64 [L_0], player 0's.
          range_1: float64 [L_1], player 1's.

        Returns:
          (cfv_0, cfv_1), float [L_p], each in its player's utility.
        """
