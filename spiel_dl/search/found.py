"""`Found`: what one search found, for those who want to see why it plays as it does.

A search keeps of its solutions only what it plays by. Who wants more sets the `watch` of a step:

    step.watch = found.append
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import TypeAlias

from spiel_dl.solvers.best_response import FixedStrategy, best_response
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.trunk import Trunk


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """A solved trunk.

    Attributes:
      player: who searched.
      trunk: what was looked at.
      plans: for each player, float64 [S_p], realization plans in the trunk, of any scale: what the
        player plays, and what it expected of its opponent.
      leaf_cfvs: for each player, float64 [L_p], what the leaves were worth under these plans;
        None: nobody asked.
    """

    player: int
    trunk: Trunk
    plans: Pair
    leaf_cfvs: Pair | None

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
        form = self.trunk.sequence_form
        assert self.leaf_cfvs is not None
        valued = form.with_constants(self.trunk.leaves.sequences, self.leaf_cfvs)
        found = []
        for player, treeplex in enumerate(form.treeplexes):
            comes = self.plans[player][treeplex.parent_sequence] > 0
            fixed = FixedStrategy(comes, self.strategies[player])
            found.append(best_response(valued, player, self.plans[1 - player], fixed=fixed).cfv)
        return found[0], found[1]


Watch: TypeAlias = Callable[[Found], None]
"""Is told of every search."""
