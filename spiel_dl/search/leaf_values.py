"""Values of the leaves of a search: by value functions or critics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from spiel_dl.search.spec import Root
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import Pieces
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.base import (
    LeafValues,
    PartOfLeaves,
    ValueFunction,
    bind_checked,
    check_arguments,
)
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

if TYPE_CHECKING:
    from spiel_dl.learning.critics import Critic  # It imports torch.

AnyValueFunction: TypeAlias = ValueFunction | Mapping[DepthLimit, ValueFunction]
"""One value function for all depth limits, or one for each at which a search ends, counted from the
game's root, since a network is for one depth limit."""


def function_at(function: AnyValueFunction, limit: DepthLimit | None) -> ValueFunction:
    """The value function for a depth limit; None: for several at once.

    Raises:
      ValueError: if there is none.
    """
    if not isinstance(function, Mapping):
        return function
    if limit is None:
        raise ValueError(
            "a search with gadget='full' or 'full_trunk' looks down to several depth limits, so it "
            f"cannot choose among the value functions for {list(function)}; give one for all, or "
            "use another gadget"
        )
    if limit not in function:
        raise ValueError(
            f"value_function has no entry for {limit!r}, where a step ends; it has {list(function)}"
        )
    return function[limit]


class ByValueFunction:
    """Leaves of a compiled game by a value function, or by several; a `ValuesAt`."""

    def __init__(self, pieces: Pieces, value_function: AnyValueFunction):
        """Takes both; a ValueError if the value function is none."""
        check_arguments(value_function, pieces.depth_limit, by_limit=True)
        self._pieces, self._function = pieces, value_function
        self._bound: dict[DepthLimit, LeafValues] = {}

    def __call__(self, root: Root) -> LeafValues:
        """The value function at the leaves below a root."""
        leaves = root.trunk.leaves
        function = function_at(self._function, root.limit)
        if function.one_limit and root.limit is not None:
            return PartOfLeaves(self._bound_at(root.limit), leaves)
        return bind_checked(function, leaves)

    def check(self) -> None:
        """Raises a ValueError if a value function for one depth limit does not fit its leaves."""
        limits = [self._pieces.limit(horizon) for horizon in self._pieces.horizons()]
        for limit in limits:
            function = function_at(self._function, limit)
            if not function.one_limit:
                continue
            try:
                self._bound_at(limit)
            except ValueError as error:
                raise ValueError(
                    f"the {type(function).__name__} does not fit the leaves at a depth limit of "
                    f"{limit}: {error}. Steps end at {', '.join(map(str, limits))}, counted from "
                    "the root; give a mapping from each of these depth limits to a value function, "
                    "or a ParticleNetwork, which serves several"
                ) from None

    def _bound_at(self, limit: DepthLimit) -> LeafValues:
        """The value function at all leaves of a depth limit, counted from the root."""
        if limit not in self._bound:
            leaves = cut(self._pieces.tree, limit).leaves
            self._bound[limit] = bind_checked(function_at(self._function, limit), leaves)
        return self._bound[limit]


class ByCritic:
    """Leaves at which the opponent chooses a transformation of its blueprint; a `ValuesAt`.

    Kubíček et al. (2023), section 4.3. The searching player continues by its blueprint.
    """

    def __init__(self, critic: Critic | None):
        """Takes the critic; None if no search has leaves or given cfvs of it."""
        self._critic = critic

    def __call__(self, root: Root) -> MultiValuedLeaves:
        """The leaves below a root by the critic.

        Raises:
          ValueError: if there is no critic, or if its values are of another shape.
        """
        leaves = root.trunk.leaves
        values = self._values(leaves.tree, leaves.histories, root.player)
        return MultiValuedLeaves(leaves, root.player, values)

    def best_cfvs(self, root: Root, _leaves: object) -> np.ndarray:
        """The opponent's cfvs by the best transformation in each root infoset: float64 [R_-p]."""
        return self._root_cfvs(root).max(axis=1)

    def identity_cfvs(self, root: Root, _leaves: object) -> np.ndarray:
        """The opponent's cfvs by its blueprint in each root infoset: float64 [R_-p]."""
        return self._root_cfvs(root)[:, 0]

    def _root_cfvs(self, root: Root) -> np.ndarray:
        """The opponent's cfvs by each transformation at its root infosets: float64 [R_-p, K]."""
        tree, histories = root.trunk.tree, root.histories
        values = self._values(tree, histories, root.player)
        reach = root.at_histories(root.player) * tree.chance_reach[histories]
        infoset = root.trunk.extent.roots_at(root.opponent, histories)
        cfvs = np.zeros((len(root.trunk.root_infosets[root.opponent]), values.shape[1]))
        np.add.at(cfvs, infoset, -reach[:, None] * values)
        return cfvs

    def _values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """The values of histories to a player by the opponent's transformation: float [N, K]."""
        if self._critic is None:
            raise ValueError(
                f"this search in {tree.game} needs the values of histories, and no critic was "
                "given; pass critic="
            )
        values = self._critic.values(tree, histories, player)
        shape = np.shape(values)
        if len(shape) != 2 or shape[0] != len(histories):
            raise ValueError(
                f"{type(self._critic).__name__}.values returns the shape {list(shape)}; return "
                f"[{len(histories)}, K], a number for each history and each of K transformations"
            )
        return values


def best_response_cfvs(
    root: Root, leaves: LeafValues | np.ndarray | None, blueprint: Callable[[Root], np.ndarray]
) -> np.ndarray:
    """The opponent's cfvs by its best response in each root infoset: float64 [R_-p].

    Burch, Johanson, Bowling (2014), with a critic's values in place of what is behind the leaves:
    there the opponent takes the transformation that is best in each infoset.

    Args:
      root: where the search starts.
      leaves: its leaves by the critic; None: it has none.
      blueprint: the player's strategy in a root's trunk, to which it responds: float64 [S_p].
    """
    player, opponent, form = root.player, root.opponent, root.trunk.sequence_form
    plan = realization_plan(form.treeplexes[player], blueprint(root), root.ranges[player])
    if leaves is not None:
        assert isinstance(leaves, MultiValuedLeaves)
        sequences = root.trunk.leaves.sequences
        ranges = [np.ones(len(own)) for own in sequences]
        ranges[player] = plan[sequences[player]]
        cfvs = [np.zeros(len(own)) for own in sequences]
        cfvs[opponent] = leaves.values_for(opponent, ranges[0], ranges[1])
        form = form.with_constants(sequences, (cfvs[0], cfvs[1]))
    cfv = best_response(form, opponent, plan).cfv
    return cfv[: len(root.trunk.root_infosets[opponent])]
