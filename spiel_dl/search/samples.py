"""Samplers of the histories at which a search starts: all, a sample, or by order of knowledge."""

from __future__ import annotations

import abc
import dataclasses
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.search.beliefs import Belief, ListedBelief
from spiel_dl.search.sepot_config import ParticleConfig
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.histories import TooManyHistoriesError, first_occurrence_ids
from spiel_dl.tree.particles import Particles


class Sample(NamedTuple):
    """The histories at which a search starts.

    Attributes:
      particles: N histories, with both players' reach.
      is_solved: bool [N], whether the searching player's infoset is solved; in others it is bound
        to its blueprint. None: all are.
    """

    particles: Particles
    is_solved: np.ndarray | None = None


class Sampler(abc.ABC):
    """Chooses the histories at which a search starts.

    Attributes:
      max_listed: the most histories of a public state that is listed.
      seed: of all draws.
      is_private: whether the choice may depend on the searching player's private observations.
      draws: whether histories are drawn, by both players' reach.
    """

    max_listed: int
    seed: int = 0
    is_private: bool = True
    draws: bool = True

    def holds(self, size: int) -> bool:
        """Whether a public state of this many histories is searched as a whole."""
        del size
        return False

    @abc.abstractmethod
    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """The histories to start at.

        Args:
          belief: of the public state.
          player: the player who searches.
          here: a state of its infoset, batch dimension 1; only its observations are read.
          generator: draws the histories.

        Raises:
          TooManyHistoriesError: if there are more than can be searched.
        """


class WholePublicState(Sampler):
    """All histories of the public state."""

    is_private = draws = False

    def __init__(self, max_listed: int):
        """Takes the most histories; public states of more are left to the blueprint.

        Raises:
          ValueError: if the number is not positive.
        """
        self.max_listed = checked_count("max_listed", max_listed, 1)

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """See `Sampler`."""
        del player, here, generator
        if not isinstance(belief, ListedBelief):
            raise TooManyHistoriesError(
                f"more than {self.max_listed:,} histories in a public state"
            )
        return Sample(belief.particles)


class SomeOfPublicState(Sampler):
    """A sample: half of a budget in the own infoset, and half, or what is left, elsewhere.

    A public state within the budget is searched as a whole. Else the opponent's given cfvs and
    choices are those of a sample.
    """

    def __init__(self, config: ParticleConfig):
        """Takes the budget."""
        self.max_listed, self.seed = max(config.max_listed, config.budget), config.seed
        self._budget = config.budget

    def holds(self, size: int) -> bool:
        """See `Sampler`."""
        return size <= self._budget

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """See `Sampler`."""
        if belief.num_histories is not None and self.holds(belief.num_histories):
            return Sample(belief.whole(self._budget, generator))
        own = belief.infoset(player, here, max(1, self._budget // 2), generator)
        rest = belief.whole(self._budget - own.num_particles, generator)
        others = np.flatnonzero(rest.infoset_keys[player] != own.infoset_keys[player, 0])
        return Sample(own.joined(rest.take(others)) if len(others) else own)


class OfKnowledge(Sampler):
    """Histories of low-order knowledge: at a distance of at most k from the own infoset.

    Zhang and Sandholm (2021), "Subgame solving without common knowledge", section 4, and (2025),
    "General search techniques without common knowledge". Two histories are neighbours if a player
    cannot tell them apart. The subgame of order k holds the histories of the own infoset, those
    that the opponent cannot tell from these, and so on. The player's infosets within a distance of
    k - 1 are solved; in infosets that are cut, it is bound to the blueprint. Where there are more
    histories than the budget, they are drawn: from all of them if the public state is listed and
    the order is above 1, else infoset by infoset. That gives infosets at a distance of 2 and more
    too much weight, as several paths lead to them.

    Not safe at any order below that of the public state: the solution at one infoset assumes the
    blueprint at its neighbours, which are solved in the same way. Deviation: given cfvs and leaf
    values are the critic's, where the paper takes best responses in the whole game.
    """

    def __init__(self, config: ParticleConfig):
        """Takes the order k, and the budget."""
        self.max_listed, self.seed = max(config.max_listed, config.budget), config.seed
        self._order, self._budget = config.order or 1, config.budget

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """See `Sampler`; infosets have equal shares of a budget that is too small for all."""
        if isinstance(belief, ListedBelief):
            rows, is_solved = self._rows_within(belief, player, here)
            if len(rows) <= self._budget:
                return Sample(belief.particles.take(rows), is_solved)
            if self._order > 1:
                own = belief.key_of(player, here)
                return self._thinned(belief.particles.take(rows), is_solved, player, own, generator)
        return self._drawn_within(belief, player, here, generator)

    def _rows_within(
        self, belief: ListedBelief, player: int, here: StateBatch
    ) -> tuple[np.ndarray, np.ndarray]:
        """The histories within the order, int64 [n], and whether they are solved, bool [n]."""
        keys = belief.infoset_keys
        is_solved = within = keys[player] == belief.key_of(player, here)
        for distance in range(self._order):
            who = player if distance % 2 else 1 - player
            wider = np.isin(keys[who], keys[who, within])
            if who == player:
                is_solved = wider
            if wider.sum() == within.sum():
                # The histories are the whole common-knowledge set.
                is_solved = wider
                break
            within = wider
        rows = np.flatnonzero(within)
        return rows, is_solved[rows]

    def _thinned(
        self,
        within: Particles,
        is_solved: np.ndarray,
        player: int,
        own_key: int,
        generator: np.random.Generator,
    ) -> Sample:
        """A sample of all histories within the order, half of it in the own infoset."""
        keys = within.infoset_keys[player]
        is_own = keys == own_key
        own = within.take(np.flatnonzero(is_own)).thinned(max(1, self._budget // 2), generator)
        rest = within.take(np.flatnonzero(~is_own))
        sample = own.joined(rest.thinned(self._budget - own.num_particles, generator))
        return Sample(sample, np.isin(sample.infoset_keys[player], keys[is_solved]))

    def _drawn_within(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """At most `budget` histories within the order."""
        share = max(1, round(self._budget ** (1 / min(self._order + 1, 3))))
        particles = belief.infoset(player, here, share, generator)
        included: tuple[set[int], set[int]] = (set(), set())  # infosets of each player
        included[player].add(int(particles.infoset_keys[player, 0]))
        for distance in range(self._order):
            who = player if distance % 2 else 1 - player
            keys = particles.infoset_keys
            _, firsts = first_occurrence_ids(keys[who])
            new = [row for row in firsts.tolist() if int(keys[who, row]) not in included[who]]
            if not new and all(len(included[p]) == len(np.unique(keys[p])) for p in (0, 1)):
                break
            left = self._budget - particles.num_particles
            if left <= 0:
                break
            share, one_of = max(1, left // max(1, len(new))), max(1.0, len(new) / left)
            if one_of > 1:
                new = generator.choice(new, left, replace=False).tolist()
            for row in new:
                included[who].add(int(keys[who, row]))
                stands_for = one_of * particles.copies[row]
                particles = _with_infoset(belief, particles, row, stands_for, who, share, generator)
        return Sample(particles, np.isin(particles.infoset_keys[player], list(included[player])))


def _with_infoset(
    belief: Belief,
    particles: Particles,
    row: int,
    stands_for: float,
    player: int,
    share: int,
    generator: np.random.Generator,
) -> Particles:
    """Particles, and a sample of a player's infoset at one of them that they lack.

    As this particle stands for several histories, so does each particle that it leads to.
    """
    state = particles.states.take(torch.tensor([row]))
    sample = belief.infoset(player, state, share, generator)
    present = set(map(tuple, particles.infoset_keys.T.tolist()))
    pairs = map(tuple, sample.infoset_keys.T.tolist())
    rows = [i for i, pair in enumerate(pairs) if pair not in present]
    if not rows:
        return particles
    new = sample.take(np.array(rows))
    return particles.joined(dataclasses.replace(new, stands_for=new.copies * stands_for))
