"""At which histories of a public state a search starts: all, some, or those of some knowledge."""

from __future__ import annotations

import abc
import dataclasses
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games.rules import StateBatch
from spiel_dl.search.beliefs import Belief, ListedBelief
from spiel_dl.search.sepot_config import ParticleConfig
from spiel_dl.tree.histories import TooManyHistoriesError, first_occurrence_ids
from spiel_dl.tree.particles import Particles


class Sample(NamedTuple):
    """The histories at which a search starts.

    Attributes:
      particles: N histories, with both players' reach.
      is_solved: bool [N], which are of infosets of the searching player that are solved; in others
        it is bound to its blueprint. None: all.
    """

    particles: Particles
    is_solved: np.ndarray | None = None


class Sampler(abc.ABC):
    """How the histories are chosen at which a search starts.

    Attributes:
      max_listed: public states of more histories are not listed.
      seed: of all draws.
      is_private: whether what is chosen may depend on what only the searching player knows.
      draws: whether histories are drawn, by both players' reach.
    """

    max_listed: int
    seed: int = 0
    is_private: bool = True
    draws: bool = True

    def holds(self, size: int) -> bool:
        """Whether a search holds a whole public state of so many histories."""
        del size
        return False

    @abc.abstractmethod
    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """The histories to start at.

        Args:
          belief: of the public state.
          player: who searches.
          here: a state of its infoset, batch dimension 1; nothing else of it is read.
          generator: draws.

        Raises:
          TooManyHistoriesError: if there are more than can be searched.
        """


class WholePublicState(Sampler):
    """All histories of the public state."""

    is_private = draws = False

    def __init__(self, max_listed: int):
        """Refuses public states of more histories."""
        self.max_listed = max_listed

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """See `Sampler`."""
        del player, here, generator
        if not isinstance(belief, ListedBelief):
            raise TooManyHistoriesError(
                f"more than {self.max_listed:,} histories in a public state"
            )
        return Sample(belief.everything)


class SomeOfPublicState(Sampler):
    """Half of a budget in the own infoset, and half, or what is left, elsewhere.

    If the budget holds the public state, these are all histories. If not, the opponent's given cfvs
    and its choices are those of a sample.
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
    that the opponent may then hold possible, and so on; what lies further away cannot be reached
    from the own infoset. The player's infosets within a distance of k - 1 are solved; in those that
    are cut, it is bound to the blueprint. Where there are more histories than the budget, they are
    drawn, infoset by infoset.

    Not safe, at any order below that of the public state: what is solved at one infoset assumes the
    blueprint at its neighbours, where the same is done. Deviation: given cfvs and leaves are the
    critic's, where the paper takes best responses in the whole game.
    """

    def __init__(self, config: ParticleConfig):
        """Takes the order k, and the budget."""
        self.max_listed, self.seed = max(config.max_listed, config.budget), config.seed
        self._order, self._budget = config.order or 1, config.budget

    def choose(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """See `Sampler`; infosets are shared out evenly where the budget binds."""
        if isinstance(belief, ListedBelief):
            rows, is_solved = self._rows_within(belief, player, here)
            if len(rows) <= self._budget:
                return Sample(belief.everything.take(rows), is_solved)
        return self._drawn_within(belief, player, here, generator)

    def _rows_within(
        self, belief: ListedBelief, player: int, here: StateBatch
    ) -> tuple[np.ndarray, np.ndarray]:
        """The histories within the order, int64 [n], and which are solved, bool [n]."""
        keys = belief.infoset_keys
        is_solved = within = keys[player] == belief.key_of(player, here)
        for distance in range(self._order):
            who = player if distance % 2 else 1 - player
            wider = np.isin(keys[who], keys[who, within])
            if who == player:
                is_solved = wider
            if wider.sum() == within.sum():
                # All that either player may hold possible.
                is_solved = wider
                break
            within = wider
        rows = np.flatnonzero(within)
        return rows, is_solved[rows]

    def _drawn_within(
        self, belief: Belief, player: int, here: StateBatch, generator: np.random.Generator
    ) -> Sample:
        """At most `budget` histories within the order."""
        share = max(1, round(self._budget ** (1 / min(self._order + 1, 3))))
        found = belief.infoset(player, here, share, generator)
        known: tuple[set[int], set[int]] = (set(), set())
        known[player].add(int(found.infoset_keys[player, 0]))
        for distance in range(self._order):
            who = player if distance % 2 else 1 - player
            keys = found.infoset_keys
            _, firsts = first_occurrence_ids(keys[who])
            new = [row for row in firsts.tolist() if int(keys[who, row]) not in known[who]]
            if not new and all(len(known[p]) == len(np.unique(keys[p])) for p in (0, 1)):
                break
            left = self._budget - found.num_particles
            if left <= 0:
                break
            share, new = max(1, left // max(1, len(new))), new[:left]
            for row in new:
                known[who].add(int(keys[who, row]))
                found = _with_infoset(belief, found, row, who, share, generator)
        return Sample(found, np.isin(found.infoset_keys[player], list(known[player])))


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
    there = set(map(tuple, found.infoset_keys.T.tolist()))
    pairs = map(tuple, more.infoset_keys.T.tolist())
    rows = [i for i, pair in enumerate(pairs) if pair not in there]
    if not rows:
        return found
    new = more.take(np.array(rows))
    # Chosen because of this particle, they stand for as many as it does.
    return found.joined(dataclasses.replace(new, stands_for=new.copies * found.copies[row]))
