"""`Solution`: what a search found."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from spiel_dl.search.root import Root
from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.checks import check_values
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.base import LeafValues, ask
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """A solved trunk.

    Attributes:
      root: where the search started.
      plans: for each player, float64 [S_p], realization plans in the trunk: what the player plays,
        and what it expected of its opponent. Behind a gadget, the opponent's begin with the
        probabilities with which it enters.
      strategy: float64 [S_p], what the searching player plays, as behaviour.
      gap: by how much the strategy may be below the optimum, in utility units here; NaN: not known.
      averaged_cfvs: for each player, float64 [L_p], the cfvs of the leaves, averaged over the
        iterations; None: they were not.
      values: what valued the leaves; None: nothing did.
      seconds: what the search took, by what was done.
    """

    root: Root
    plans: Pair
    strategy: np.ndarray
    gap: float = np.nan
    averaged_cfvs: Pair | None = None
    values: LeafValues | None = None
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    @property
    def trunk(self) -> Trunk[Any]:
        """What the search looked at."""
        return self.root.trunk

    @property
    def player(self) -> int:
        """Who searched."""
        return self.root.player

    def holds(self, history: int) -> bool:
        """Whether a history of the tree lies in the trunk, above its leaves."""
        return self.trunk.extent.holds(history)

    @property
    def is_whole(self) -> bool:
        """Whether the search began at the root of the game."""
        return self.trunk.extent.is_whole

    @functools.cached_property
    def start(self) -> int:
        """How many steps from the root of the tree the search began."""
        return int(self.trunk.tree.depth[self.trunk.extent.starts[0]])

    @property
    def leaf_ranges(self) -> Pair:
        """For each player, float64 [L_p], the weights of its leaf infosets in the plans."""
        first, second = self.trunk.leaves.sequences
        return self.plans[0][first], self.plans[1][second]

    @property
    def leaf_reach(self) -> np.ndarray:
        """The product of chance's and both players' reach of every leaf: float64 [N]."""
        leaves, (first, second) = self.trunk.leaves, self.leaf_ranges
        infosets = leaves.infoset_of_history
        reach: np.ndarray = leaves.chance_reach * first[infosets[0]] * second[infosets[1]]
        return reach

    @functools.cached_property
    def leaf_cfvs(self) -> Pair | None:
        """For each player, float64 [L_p], what the leaves are worth; None: that is not known.

        Raises:
          ValueError: if these values are not finite.
        """
        if self.averaged_cfvs is not None:
            return self.averaged_cfvs
        if self.values is None:
            return None if self.trunk.leaves.num_public_states else (np.zeros(0), np.zeros(0))
        if isinstance(self.values, MultiValuedLeaves):
            first, second = self.values.evaluate(*self.leaf_ranges)
        else:
            first, second = ask(self.values, (0, 1), *self.leaf_ranges)
        check_values(first)
        check_values(second)
        return first, second

    @functools.cached_property
    def strategies(self) -> Pair:
        """For each player, float64 [S_p], the behaviour strategies of the plans."""
        treeplexes = self.trunk.sequence_form.treeplexes
        first, second = (behaviour_strategy(treeplexes[p], self.plans[p]) for p in (0, 1))
        return first, second

    @functools.cached_property
    def cfvs(self) -> Pair:
        """For each player, float64 [S_p], the cfv of each of its sequences under both plans.

        A sequence's cfv is that of taking its action in its infoset. Where the player's own plan
        never comes, it goes on by a best response.
        """
        form, leaf_cfvs = self.trunk.sequence_form, self.leaf_cfvs
        assert leaf_cfvs is not None, "the leaves of this search have no cfvs"
        valued = form.with_constants(self.trunk.leaves.sequences, leaf_cfvs)
        found = []
        for player, treeplex in enumerate(form.treeplexes):
            comes = self.plans[player][treeplex.parent_sequence] > 0
            fixed = FixedStrategy(comes, self.strategies[player])
            found.append(best_response(valued, player, self.plans[1 - player], fixed=fixed).cfv)
        return found[0], found[1]

    @property
    def root_cfvs(self) -> Pair:
        """For each player, float64 [R_p], the cfvs of its root infosets."""
        first, second = (
            self.cfvs[player][: treeplex.num_root_sequences]
            for player, treeplex in enumerate(self.trunk.sequence_form.treeplexes)
        )
        return first, second


Watch: TypeAlias = Callable[[Solution], None]
"""Is told of every search."""
