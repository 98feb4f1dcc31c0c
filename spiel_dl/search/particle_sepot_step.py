"""SePoT below bounded particles, and knowledge-limited: what a search starts from is a sample.

`SePoTPlayedStep` lists the public state. Here a budget bounds how many of its histories a search
starts from, each with how many it stands for (`search.beliefs`):

  * `ParticleSePoTStep`: half of the budget in the searching player's own infoset, and half, or
    what is left, in the rest of the public state.
  * `KnowledgeLimitedStep`: only histories of low-order knowledge, from the own infoset on.

If the budget holds the public state, the first is SePoT; so is the second if its order is not
limited, where the public state is common knowledge.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.search.beliefs import Belief, Beliefs, ListedBelief
from spiel_dl.search.played import PlayedPath
from spiel_dl.search.sepot_config import SearchConfig
from spiel_dl.search.sepot_played import PlayedSolution, SePoTPlayedStep
from spiel_dl.search.sepot_search import Root
from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.trunk import Trunk

UNLIMITED = 1 << 30
"""An order of knowledge beyond any public state."""


@dataclasses.dataclass(frozen=True)
class ParticleConfig:
    """From which histories a search starts.

    Attributes:
      budget: How many, at most.
      max_listed: A public state of more histories is not listed; they are drawn.
      seed: Of what is drawn. The same infoset always draws the same.
      order: Of a knowledge-limited search, the order of knowledge: 1, the own infoset; 2, what the
        opponent then holds possible; and so on.
      frozen: Whether the searching player is bound to its blueprint where its knowledge-limited
        search sees an infoset of its own only in part, beyond the order; if not, it is free there.
    """

    budget: int = 1000
    max_listed: int = 20_000
    seed: int = 0
    order: int = 1
    frozen: bool = True

    def __post_init__(self) -> None:
        for name, least in (("budget", 2), ("max_listed", 0), ("seed", 0), ("order", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}={getattr(self, name)} must be at least {least}")


class ParticleSePoTStep(SePoTPlayedStep):
    """Searches from some histories of a public state.

    Attributes:
      particles: how they are chosen.
      num_drawn: how many searches started from public states that were not listed.
      searched_from: what the last search started from; None before the first one.
    """

    def __init__(
        self,
        game: pyspiel.Game | str,
        blueprint: ActingPolicy,
        critic: Critic | None,
        depth_limit: DepthLimit,
        config: SearchConfig,
        particles: ParticleConfig,
    ):
        """Loads the game; see `algorithms.particle_sepot.ParticleSePoTPolicy`."""
        super().__init__(game, blueprint, critic, depth_limit, config)
        self.particles = particles
        self.num_drawn = 0
        self.searched_from: Particles | None = None
        self._beliefs = Beliefs(self.game, max(particles.max_listed, particles.budget))

    def name(self, path: PlayedPath, position: int) -> int:
        """A search is that of an infoset, or of a public state that it holds; see `PlayedStep`."""
        if all(self._holds(path, i) for i in path.decisions if i <= position):
            return int(path.public_keys[position])
        return int(path.infoset_keys[position])

    def _holds(self, path: PlayedPath, position: int) -> bool:
        """Whether the budget is enough for the whole public state."""
        here = path.states.take(torch.tensor([position]))
        public_tensor = self.rules.public_tensor(here, True)[0]
        size = self._beliefs.size(int(path.public_keys[position]), public_tensor)
        return size is not None and size <= self.particles.budget

    def histories(self, path: PlayedPath, start: int, before: PlayedSolution | None) -> Particles:
        """At most so many as the budget says; see `SePoTPlayedStep`."""
        here = path.states.take(torch.tensor([start]))
        belief = self._beliefs.of(
            int(path.public_keys[start]),
            self.rules.public_tensor(here, True)[0],
            self.policies(path.player, before),
            changing=(path.player,),
        )
        self.num_drawn += belief.num_histories is None
        key = int(path.infoset_keys[start])
        generator = np.random.default_rng([self.particles.seed, path.player, key % (1 << 63)])
        found = self.choose(belief, path.player, here, generator)
        self.searched_from = found
        return found.by_chance()

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Particles:
        """The histories to start from.

        Args:
          belief: of the public state.
          player: who searches.
          here: a state of its infoset, batch dimension 1; nothing else of it is read.
          generator: draws.
        """
        budget = self.particles.budget
        if belief.num_histories is not None and belief.num_histories <= budget:
            return belief.whole(budget, generator)
        own = belief.infoset(player, here, max(1, budget // 2), generator)
        rest = belief.whole(budget - own.num_particles, generator)
        own_key = self.keys.of_level(here)[0][player, 0]
        others = np.flatnonzero(rest.infoset_keys[player] != own_key)
        return own.joined(rest.take(others)) if len(others) else own


class KnowledgeLimitedStep(ParticleSePoTStep):
    """Searches from the histories of low-order knowledge of its player's infoset.

    Zhang and Sandholm (2021), "Subgame solving without common knowledge", section 4: of order k,
    those at a distance of at most k from the infoset, where two histories are neighbours if a
    player cannot tell them apart. The player's infosets within a distance of k - 1 are solved; in
    those that are cut, it is bound to the blueprint.
    """

    def name(self, path: PlayedPath, position: int) -> int:
        """A search is that of an infoset; see `PlayedStep`."""
        return int(path.infoset_keys[position])

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Particles:
        """See `ParticleSePoTStep`; infosets are shared out evenly where the budget binds."""
        if isinstance(belief, ListedBelief):
            rows = self._rows_within(belief, player, here)
            if len(rows) <= self.particles.budget:
                return belief.everything.take(rows)
        return self._drawn_within(belief, player, here, generator)

    def fixed(self, path: PlayedPath, start: int, root: Root) -> FixedStrategy | None:
        """The blueprint below root infosets that are not solved; see `SePoTPlayedStep`."""
        if not self.particles.frozen or self._is_solved.all():
            return None
        trunk, player = root.trunk, path.player
        solved = np.zeros(len(trunk.root_infosets[player]), np.bool_)
        solved[trunk.root_of_history[player, root.histories]] = self._is_solved
        treeplex = trunk.sequence_form.treeplexes[player]
        firsts = trunk.tree.first_history[player][trunk.infosets[player]]
        infosets = ~solved[trunk.root_of_history[player, firsts]]
        strategy = treeplex.uniform_strategy()
        sequences = treeplex.sequences_of(infosets)
        if len(sequences):
            strategy[sequences] = self._blueprint_of(trunk, player, firsts[infosets], sequences)
        return FixedStrategy(infosets, strategy)

    def _blueprint_of(
        self, trunk: Trunk, player: int, firsts: np.ndarray, sequences: np.ndarray
    ) -> np.ndarray:
        """The blueprint at sequences (int [n]) of infosets with these first histories."""
        states = trunk.tree.states_of(firsts)
        rows = self.policies(player, None)(states, player)
        treeplex, tree = trunk.sequence_form.treeplexes[player], trunk.tree
        ids, _ = first_occurrence_ids(treeplex.infoset_of_sequence[sequences])
        actions = tree.sequence_action[player][trunk.sequences[player][sequences]]
        found: np.ndarray = rows[ids, actions]
        return found / np.bincount(ids, found)[ids]

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
