"""Trunks that grow where players are likely to come, instead of looking to one depth everywhere.

Zhang and Sandholm (2025), "General search techniques without common knowledge", one-sided GT-CFR,
after Schmid et al. (2023), "Student of Games". A trunk begins as that of a depth limit. Then, until
enough histories were expanded or no leaf is left:

  1. The game is solved as it is now. At its leaves, players choose transformations, as in SePoT.
  2. Leaves are drawn by the product of all reaches, and get successors: half of them where the one
     player explores, and follows its strategy and the uniform one in equal parts, and half where
     the other one does. Who does not explore keeps to its strategy, so that what it never does is
     not looked into, however the other one plays: the tree grows on one side at a time.

As many leaves are expanded at a time as were before in all, so solving costs little more than
solving the last trunk. Deviations: leaves are drawn in lots, not one by one between iterations; no
upper confidence bounds are kept, exploration is uniform; and every solution starts anew, so that
it is that of the trunk as it is, whatever the way to it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.search.found import Found
from spiel_dl.search.sepot_search import Searcher
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.solvers.regret_minimization import Pair
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import TooManyHistoriesError, first_occurrence_ids
from spiel_dl.tree.particles import Particles, weighted_order
from spiel_dl.tree.sparse_tree import SparseTree, sparse_trunk
from spiel_dl.tree.trunk import Trunk

_FIRST_LOT = 16
"""How many leaves are expanded at first."""
_EXPLORED = 0.5
"""The part of the uniform strategy in that of who explores."""


class Growth:
    """A trunk below particles that is made larger.

    Attributes:
      trunk: as it is now, down to its leaves.
      with_choices: the same with the choices of transformations at its leaves as further infosets.
      num_leaves: how many leaves there are.
      is_full: whether there would have been too many histories, so that it no longer grows.
    """

    trunk: Trunk[SparseTree]
    with_choices: Trunk[SparseTree]

    def __init__(
        self,
        particles: Particles,
        trunk: Trunk[SparseTree],
        depth_limit: DepthLimit,
        player: int,
        searcher: Searcher,
        max_histories: int,
    ):
        """Begins with the trunk of the depth limit.

        Args:
          particles: where it starts.
          trunk: below them, down to the depth limit.
          depth_limit: down to it, everything is in the trunk.
          player: who searches.
          searcher: knows what leaves are worth.
          max_histories: how many histories there may be.
        """
        self.is_full = False
        self._particles, self._limit = particles, depth_limit
        self._player, self._searcher = player, searcher
        self._most = 1 + max_histories  # history 0 is none of the game's
        self._expanded = np.zeros(0, np.int64)
        self._become(trunk)

    @property
    def num_leaves(self) -> int:
        """How many leaves there are."""
        return len(self._leaves)

    def expand(self, plans: Pair, most: int, generator: np.random.Generator) -> int:
        """Gives successors to some leaves.

        Args:
          plans: of both players in `with_choices`.
          most: how many leaves, at most.
          generator: draws them.

        Returns:
          How many were expanded: none if there would be too many histories.
        """
        count = min(most, max(_FIRST_LOT, len(self._expanded)), self.num_leaves)
        keys = _pairs(self.trunk.tree.infoset_key[:, self._leaves])
        chosen = np.zeros(0, np.int64)
        for explorer, share in ((self._player, -(-count // 2)), (1 - self._player, count)):
            order = weighted_order(self._leaf_reach(plans, explorer), generator)
            order = order[~np.isin(order, chosen)]
            chosen = np.concatenate([chosen, order[: share - len(chosen)]])
        expanded = np.concatenate([self._expanded, keys[chosen]])
        try:
            trunk = sparse_trunk(
                self._particles,
                self._limit,
                self._most,
                further=lambda keys: np.isin(_pairs(keys), expanded),
            )
        except TooManyHistoriesError:
            self.is_full = True
            return 0
        self._expanded = expanded
        self._become(trunk)
        return count

    def told(self, plans: Pair) -> Pair:
        """The parts of plans in `with_choices` that are the trunk's; who watches is told them."""
        first, second = (
            plan[: treeplex.num_sequences]
            for plan, treeplex in zip(plans, self.trunk.sequence_form.treeplexes, strict=True)
        )
        if self._searcher.watch is not None:
            # What leaves are worth is known with choices at them, and not told without these.
            leaf_cfvs = None if self.num_leaves else (np.zeros(0), np.zeros(0))
            self._searcher.watch(Found(self._player, self.trunk, (first, second), leaf_cfvs))
        return first, second

    def _become(self, trunk: Trunk[SparseTree]) -> None:
        """Asks for what the leaves of a new trunk are worth."""
        self.trunk = trunk
        tree = self.trunk.tree
        self._leaves = np.flatnonzero((tree.num_children == 0) & ~tree.is_terminal)
        if not self.num_leaves:
            self.with_choices = self.trunk
            return
        # For critics, players act there, although in this tree nobody does.
        acting = dataclasses.replace(tree, player=np.zeros_like(tree.player))
        utilities = self._searcher.utilities(self._player, acting, self._leaves)
        if self._player == 1:
            utilities = -utilities.transpose(0, 2, 1)
        infosets, sequences = [], []
        for player in (0, 1):
            ids, first = first_occurrence_ids(tree.infoset_key[player, self._leaves])
            infosets.append(ids)
            sequences.append(self.trunk.sequences_at(player, self._leaves[first]))
        form = with_leaf_choices(
            self.trunk.sequence_form,
            (sequences[0], sequences[1]),
            np.stack(infosets),
            utilities,
            tree.chance_reach[self._leaves],
        )
        self.with_choices = dataclasses.replace(self.trunk, sequence_form=form)

    def _leaf_reach(self, plans: Pair, explorer: int) -> np.ndarray:
        """The product of all reaches where one player explores: float64 [N]."""
        reach = self.trunk.tree.chance_reach[self._leaves].copy()
        for player, treeplex in enumerate(self.trunk.sequence_form.treeplexes):
            plan = plans[player][: treeplex.num_sequences]
            if player == explorer:
                roots = plan[: treeplex.num_root_sequences]
                alike = np.full_like(roots, (roots.sum() or 1.0) / len(roots))
                strategy = _mixed(behaviour_strategy(treeplex, plan), treeplex.uniform_strategy())
                plan = realization_plan(treeplex, strategy, _mixed(roots, alike))
            reach *= plan[self.trunk.sequences_at(player, self._leaves)]
        return reach


def _mixed(own: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    mixture: np.ndarray = (1.0 - _EXPLORED) * own + _EXPLORED * uniform
    return mixture


def _pairs(keys: np.ndarray) -> np.ndarray:
    """One number for what both players know (int64 [2, N]), which tells histories apart."""
    return keys[0] * np.int64(0x2545F4914F6CDD1D) + keys[1]
