"""SePoT below bounded particles: what a search starts from is a sample of a public state.

`SePoTPlayedStep` lists the public state. Here a budget bounds how many of its histories a search
starts from, each with how many it stands for (`search.beliefs`): half of the budget are in the
searching player's own infoset, and half, or what is left, in the rest of the public state. If the
budget holds the public state, this is SePoT.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.learning.critics import Critic
from spiel_dl.search.beliefs import Belief, Beliefs
from spiel_dl.search.growth import Growth
from spiel_dl.search.played import PlayedPath
from spiel_dl.search.policy_rows import AnyBlueprint
from spiel_dl.search.sepot_config import ParticleConfig, SearchConfig
from spiel_dl.search.sepot_played import MOST, Plan, PlayedSolution, SePoTPlayedStep
from spiel_dl.search.sepot_search import Root
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.particles import Particles


class ParticleSePoTStep(SePoTPlayedStep):
    """Searches from some histories of a public state.

    Attributes:
      particles: how they are chosen.
      of_public_states: whether a search that holds its public state is the same for all infosets
        there.
      num_drawn: how many searches started from public states that were not listed.
      searched_from: what the last search started from; None before the first one.
    """

    of_public_states = True

    def __init__(
        self,
        game: AnyGame,
        blueprint: AnyBlueprint,
        critic: Critic | None,
        depth_limit: DepthLimit,
        config: SearchConfig,
        particles: ParticleConfig,
    ):
        """Loads the game; see `algorithms.particle_sepot.ParticleSePoTPolicy`."""
        if self.of_public_states and not particles.is_of_public_states:
            raise ValueError(
                f"order={particles.order}, frozen={particles.frozen} and safety="
                f"{particles.safety!r} are of knowledge-limited searches; leave them out, or use "
                "KnowledgeLimitedPolicy"
            )
        super().__init__(game, blueprint, critic, depth_limit, config)
        self.particles = particles
        self.num_drawn = 0
        self.searched_from: Particles | None = None
        self._beliefs = Beliefs(self.game, max(particles.max_listed, particles.budget))

    @property
    def num_regenerations(self) -> int:
        """How often a draw was made anew, by uniform play; see `search.beliefs`."""
        return self._beliefs.num_regenerations

    def name(self, path: PlayedPath, position: int) -> int:
        """A search is that of an infoset, or of a public state that it holds; see `PlayedStep`."""
        before = [i for i in path.decisions if i <= position]
        if self.of_public_states and all(self._holds(path, i) for i in before):
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
        found = self.choose(belief, path.player, here, self._generator(path, start))
        self.searched_from = found
        return found.by_chance()

    def plan(self, path: PlayedPath, start: int, root: Root) -> Plan:
        """See `SePoTPlayedStep`; with expansions, in a trunk that grows."""
        if not self.particles.num_expansions:
            return super().plan(path, start, root)
        assert self.searched_from is not None
        player, searcher = path.player, self._searcher
        particles, most = self.searched_from.by_chance(), searcher.config.max_histories or MOST
        growth = Growth(particles, root.trunk, self.depth_limit, player, searcher, most)
        generator, left = self._generator(path, start), self.particles.num_expansions
        few = dataclasses.replace(
            searcher.config.effort, iterations=-(-searcher.config.effort.iterations // 4)
        )
        valued_at = time.perf_counter()
        while True:
            here = root._replace(trunk=growth.with_choices)
            fixed = self.fixed(path, start, here)
            given = self.given_cfvs(player, here, None) if searcher.needs_cfvs(root) else None
            if not left or not growth.num_leaves or growth.is_full:
                break
            plans = searcher.plans(player, here, given, None, fixed, few)
            left -= growth.expand(plans, left, generator)
        plans = searcher.plans(player, here, given, None, fixed)
        if fixed is not None:
            above = fixed.infosets[: len(growth.trunk.infosets[player])]
            fixed = fixed._replace(infosets=above)
        return Plan(growth.told(plans)[player], fixed, growth.trunk, valued_at)

    def _generator(self, path: PlayedPath, start: int) -> np.random.Generator:
        """Draws for a search; always the same for what it is the search of."""
        key = self.name(path, start)
        return np.random.default_rng([self.particles.seed, path.player, key % (1 << 63)])

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
