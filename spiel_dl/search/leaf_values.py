"""What values the leaves of a search: value functions, critics, and games that are played out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import torch

from spiel_dl.games.rules import Rules
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.rollouts import play_out_by
from spiel_dl.search.root import Root
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.pieces import Pieces
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.base import (
    LeafValues,
    PartOfLeaves,
    ValueFunction,
    bound_to,
    check_arguments,
)
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

AnyValueFunction: TypeAlias = ValueFunction | Mapping[DepthLimit, ValueFunction]
"""One value function for all depth limits, or one for each at which a search ends, counted from the
game's root: networks know one depth limit only."""


class ByValueFunction:
    """Leaves of a compiled game by a value function, or by several; a `ValuesAt`."""

    def __init__(self, pieces: Pieces, value_function: AnyValueFunction):
        """Takes both; a ValueError if the value function is something else."""
        check_arguments(value_function, pieces.depth_limit, by_limit=True)
        self._pieces, self._function = pieces, value_function
        self._bound: dict[DepthLimit, LeafValues] = {}

    def __call__(self, root: Root) -> LeafValues:
        """The value function at the leaves below a root."""
        leaves = root.trunk.leaves
        if root.limit is None:
            assert isinstance(self._function, ValueFunction)
            return bound_to(self._function, leaves)
        function = self._function_at(root.limit)
        if function.one_limit:
            return PartOfLeaves(self._bound_at(root.limit), leaves)
        return bound_to(function, leaves)

    def check(self) -> None:
        """Raises a ValueError if leaves where a search of the game ends cannot be valued.

        Of value functions that are made for one depth limit it is known beforehand.
        """
        limits = [self._pieces.limit(horizon) for horizon in self._pieces.horizons()]
        for limit in limits:
            function = self._function_at(limit)
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

    def _function_at(self, limit: DepthLimit) -> ValueFunction:
        function = self._function
        if isinstance(function, Mapping):
            if limit not in function:
                raise ValueError(
                    f"value_function has no entry for {limit!r}, where a step ends; it has "
                    f"{list(function)}"
                )
            function = function[limit]
        assert isinstance(function, ValueFunction)
        return function

    def _bound_at(self, limit: DepthLimit) -> LeafValues:
        """The value function at all leaves of a depth limit that is counted from the root."""
        if limit not in self._bound:
            leaves = cut(self._pieces.tree, limit).leaves
            self._bound[limit] = bound_to(self._function_at(limit), leaves)
        return self._bound[limit]


def values_by(pieces: Pieces, value_function: AnyValueFunction | None) -> ByValueFunction | None:
    """The values of a `Spec` by a value function; None: a search looks to the end of the game."""
    check_arguments(value_function, pieces.depth_limit, by_limit=True)
    return None if value_function is None else ByValueFunction(pieces, value_function)


class ByCritic:
    """Leaves at which the opponent chooses a transformation of its blueprint; a `ValuesAt`.

    Kubíček et al. (2023), section 4.3. The searching player goes on by its blueprint.
    """

    def __init__(self, critic: Critic | None):
        """Takes the critic; None if no search has leaves or given cfvs."""
        self._critic = critic

    def __call__(self, root: Root) -> MultiValuedLeaves:
        """The leaves below a root by the critic.

        Raises:
          ValueError: if there is no critic, or if its values are of another shape.
        """
        leaves = root.trunk.leaves
        values = self._values(leaves.tree, leaves.histories, root.player)
        return MultiValuedLeaves(leaves, root.player, values[:, None, :])

    def of_best(self, root: Root) -> np.ndarray:
        """What the opponent gets by the transformation that is best in each of its root infosets.

        Returns:
          float64 [R_-p], in its utility.
        """
        return self._by_transformation(root).max(axis=1)

    def of_identity(self, root: Root) -> np.ndarray:
        """What the opponent gets at the root by its blueprint: float64 [R_-p], in its utility."""
        return self._by_transformation(root)[:, 0]

    def _by_transformation(self, root: Root) -> np.ndarray:
        """The opponent's cfvs of each transformation at its root infosets: float64 [R_-p, K]."""
        tree, histories = root.trunk.tree, root.histories
        values = self._values(tree, histories, root.player)
        reach = root.at_histories(root.player) * tree.chance_reach[histories]
        infoset = root.trunk.extent.roots_at(root.opponent, histories)
        cfvs = np.zeros((len(root.trunk.root_infosets[root.opponent]), values.shape[1]))
        np.add.at(cfvs, infoset, -reach[:, None] * values)
        return cfvs

    def _values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """What histories are worth to a player by the opponent's choices: float [N, K]."""
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


class ByRollouts:
    """Leaves worth the means of games that are played out by portfolios; a `ValuesAt`.

    Milec, Kovařík, Lisý (2025), "Adapting Beyond the Depth Limit".

    Attributes:
      own: what the searching player may go on with.
      others: what the opponent may go on with; the first one is its model.
    """

    def __init__(
        self,
        rules: Rules,
        own: Sequence[PolicyRows],
        others: Sequence[PolicyRows],
        *,
        num_rollouts: int = 1000,
        seed: int = 0,
    ):
        """Takes the portfolios, and how many games to play out in each search, at least.

        Raises:
          ValueError: if a portfolio is empty.
        """
        if not own or not others:
            raise ValueError(
                f"portfolios of {len(own)} and {len(others)} strategies; both need at least one"
            )
        self.own, self.others = tuple(own), tuple(others)
        self._rules, self._num_rollouts, self._seed = rules, num_rollouts, seed

    def __call__(self, root: Root) -> np.ndarray:
        """Mean utilities of the searching player: float64 [N, J, K].

        Every leaf is played out equally often by each pair of strategies.
        """
        player, leaves = root.player, root.trunk.leaves
        generator = np.random.default_rng([self._seed, 2 + player, root.key])
        states = leaves.tree.states_of(leaves.histories)
        shape = len(leaves.histories), len(self.own), len(self.others)
        num_samples = -(-self._num_rollouts // int(np.prod(shape)))
        state, own, other, _ = np.indices((*shape, num_samples)).reshape(4, -1)
        strategies, chosen = (self.own, self.others), np.stack([own, other])
        if player == 1:
            strategies, chosen = strategies[::-1], chosen[::-1]
        returns = play_out_by(
            self._rules, states.take(torch.from_numpy(state)), strategies, chosen, generator
        )
        found: np.ndarray = returns.reshape(*shape, num_samples).mean(axis=-1)
        return found if player == 0 else -found
