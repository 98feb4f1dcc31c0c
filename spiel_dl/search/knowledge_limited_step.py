"""Knowledge-limited search: from histories of low-order knowledge, with or without safety.

Zhang and Sandholm (2021), "Subgame solving without common knowledge", section 4: of order k, those
at a distance of at most k from the searching player's infoset, where two histories are neighbours
if a player cannot tell them apart. The player's infosets within a distance of k - 1 are solved; in
those that are cut, it is bound to the blueprint. If the order is not limited, and the public state
is common knowledge, this is SePoT.

What is solved in one infoset supposes the blueprint in others, so searches in several of them may
do harm together. With order 1 and all histories, by `ParticleConfig.safety`:

  * "values": the opponent may have, instead of entering, the most that it could get in the subgame
    against the blueprint. No infoset of the opponent then gains by one search: the blueprint itself
    keeps these values. SePoT's given cfvs may be lower, so that nothing keeps them.
  * "allocated": searches are also made in so few infosets that no two of them share an infoset of
    the opponent. Then each of the opponent's infosets meets one search at most, and no search does
    harm. An infoset is searched if, of all that share one of the opponent's with it, its key comes
    first in an order drawn by the seed. The player's first decision from
    `SearchConfig.first_level` on is searched or not; nothing is below.
  * "updated": what was found is also written into the blueprint that later searches of the same
    player suppose. Each search then improves upon the policy with all earlier ones. What is
    answered depends on what was asked before.

The last two are the first two ways to safety of the paper. They leave to the blueprint what the
budget does not hold. A search that looks to the end of the game is then safe, up to the error of
its solution; one that ends above it, against opponents that follow transformations behind.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.search.beliefs import Belief, ListedBelief
from spiel_dl.search.particle_sepot_step import ParticleSePoTStep
from spiel_dl.search.played import PlayedPath
from spiel_dl.search.sepot_played import PlayedSolution
from spiel_dl.search.sepot_search import Root, opponent_cfvs
from spiel_dl.search.trunk_strategies import fixed_to
from spiel_dl.solvers.best_response import FixedStrategy, realization_plan
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.histories import TooManyHistoriesError, first_occurrence_ids
from spiel_dl.tree.particles import Particles
from spiel_dl.value_functions.multi_valued import MultiValuedLeaves

UNLIMITED = 1 << 30
"""An order of knowledge beyond any public state."""


class KnowledgeLimitedStep(ParticleSePoTStep):
    """Searches from the histories of low-order knowledge of its player's infoset."""

    of_public_states = False

    def __init__(self, *arguments: Any):
        """See `ParticleSePoTStep`."""
        super().__init__(*arguments)
        self._written: tuple[dict[int, np.ndarray], dict[int, np.ndarray]] = ({}, {})

    def solve(self, path: PlayedPath, start: int, before: PlayedSolution | None) -> PlayedSolution:
        """See `PlayedStep`; says what was found to later searches, if it is to be safe so."""
        found = super().solve(path, start, before)
        first_level = self._searcher.config.first_level
        if self.particles.safety == "allocated" and path.depth[start] >= first_level:
            return found._replace(end=UNLIMITED)
        if self.particles.safety == "updated":
            rows = zip(found.infoset_keys.tolist(), found.strategy, strict=True)
            self._written[path.player].update(rows)
        return found

    def starts(self, path: PlayedPath) -> list[int]:
        """See `SePoTPlayedStep`; with "allocated", where the player decides itself."""
        if self.particles.safety != "allocated":
            return super().starts(path)
        return np.flatnonzero(path.acting == path.player).tolist()

    def policies(self, player: int, before: PlayedSolution | None) -> PolicyRows:
        """What both players do; what was written into the blueprint counts as the player's own."""
        known, written = super().policies(player, before), self._written[player]
        if not written:
            return known

        def rows(states: StateBatch, mover: int) -> np.ndarray:
            found = known(states, mover)
            if mover == player:
                for row, key in enumerate(self.keys.of_level(states)[0][mover].tolist()):
                    found[row] = written.get(key, found[row])
            return found

        return rows

    def given_cfvs(
        self, player: int, root: Root, leaf_values: MultiValuedLeaves | None
    ) -> np.ndarray:
        """See `SePoTPlayedStep`; the subgame's own if the search is to be safe."""
        if self.particles.safety == "none":
            return super().given_cfvs(player, root, leaf_values)
        treeplex = root.trunk.sequence_form.treeplexes[player]
        blueprint = fixed_to(self.policies(player, None), root.trunk, player)
        plan = realization_plan(treeplex, blueprint.strategy, root.own_range(player))
        return opponent_cfvs(player, root.trunk, plan, leaf_values)

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Particles:
        """See `ParticleSePoTStep`; infosets are shared out evenly where the budget binds.

        Raises:
          TooManyHistoriesError: if the search would not be safe, and is to be.
        """
        safety = self.particles.safety
        if isinstance(belief, ListedBelief):
            rows = self._rows_within(belief, player, here)
            if safety == "allocated" and not self._is_allocated(belief, player, rows):
                raise TooManyHistoriesError("another infoset is searched instead of this one")
            if len(rows) <= self.particles.budget:
                return belief.everything.take(rows)
        if safety in ("allocated", "updated"):
            raise TooManyHistoriesError(f"more than {self.particles.budget:,} histories")
        return self._drawn_within(belief, player, here, generator)

    def _is_allocated(self, belief: ListedBelief, player: int, rows: np.ndarray) -> bool:
        """Whether the infoset whose histories of order 1 are in `rows` is one of those searched."""
        keys = belief.infoset_keys
        own = keys[player, rows][self._is_solved][0]
        near = np.isin(keys[1 - player], keys[1 - player, rows])
        factor = np.random.default_rng(self.particles.seed).integers(1 << 62, dtype=np.int64)
        with np.errstate(over="ignore"):
            ranks = keys[player, near] * (2 * factor + 1)
            return bool((ranks <= own * (2 * factor + 1)).all())

    def fixed(self, path: PlayedPath, start: int, root: Root) -> FixedStrategy | None:
        """The blueprint below root infosets that are not solved; see `SePoTPlayedStep`."""
        if not self.particles.frozen or self._is_solved.all():
            return None
        trunk, player = root.trunk, path.player
        solved = np.zeros(len(trunk.root_infosets[player]), np.bool_)
        solved[trunk.extent.roots_at(player, root.histories)] = self._is_solved
        firsts = trunk.tree.first_history[player][trunk.infosets[player]]
        others = ~solved[trunk.extent.roots_at(player, firsts)]
        return fixed_to(self.policies(player, None), trunk, player, others)

    def _rows_within(self, belief: ListedBelief, player: int, here: StateBatch) -> np.ndarray:
        """The histories within the order: int64 [n]; says which are solved."""
        keys = belief.infoset_keys
        self._is_solved = within = keys[player] == self.keys.of_level(here)[0][player, 0]
        for distance in range(self.particles.order):
            who = player if distance % 2 else 1 - player
            wider = np.isin(keys[who], keys[who, within])
            if who == player:
                self._is_solved = wider
            if wider.sum() == within.sum():
                # All that either player may hold possible.
                self._is_solved = wider
                break
            within = wider
        rows = np.flatnonzero(within)
        self._is_solved = self._is_solved[rows]
        return rows

    def _drawn_within(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Particles:
        """At most `budget` histories within the order; says which are solved."""
        order, budget = self.particles.order, self.particles.budget
        share = max(1, round(budget ** (1 / min(order + 1, 3))))
        found = belief.infoset(player, here, share, generator)
        known: tuple[set[int], set[int]] = (set(), set())
        known[player].add(int(found.infoset_keys[player, 0]))
        for distance in range(order):
            who = player if distance % 2 else 1 - player
            keys = found.infoset_keys
            _, firsts = first_occurrence_ids(keys[who])
            new = [row for row in firsts.tolist() if int(keys[who, row]) not in known[who]]
            if not new and all(len(known[p]) == len(np.unique(keys[p])) for p in (0, 1)):
                break
            left = budget - found.num_particles
            if left <= 0:
                break
            share, new = max(1, left // max(1, len(new))), new[:left]
            for row in new:
                known[who].add(int(keys[who, row]))
                found = _with_infoset(belief, found, row, who, share, generator)
        self._is_solved = np.isin(found.infoset_keys[player], list(known[player]))
        return found


def _with_infoset(
    belief: Belief,
    found: Particles,
    row: int,
    who: int,
    share: int,
    generator: np.random.Generator,
) -> Particles:
    """Particles, and those of a player's infoset at one of them that are not there yet."""
    state = found.states.take(torch.tensor([row]))
    more = belief.infoset(who, state, share, generator)
    pairs, wanted = found.infoset_keys.T, more.infoset_keys.T
    there = set(map(tuple, pairs.tolist()))
    rows = [i for i, pair in enumerate(map(tuple, wanted.tolist())) if pair not in there]
    if not rows:
        return found
    new = more.take(np.array(rows))
    # Chosen because of this particle, they stand for as many as it does.
    assert new.stands_for is not None
    return found.joined(dataclasses.replace(new, stands_for=new.stands_for * found.copies[row]))
