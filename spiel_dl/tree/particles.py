"""`Particles`: some histories of a public state, with both players' reach.

Šustr et al. (2021), section 5.1. Particles represent a *sparse belief*: infosets without particles
have reach 0. One deviation: the paper sums the reaches of an infoset's particles.
With perfect recall they are all equal to the player's reach of the infoset, which is the range
here; so all histories of a public state give the full belief.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.from_rules import InfosetKeys
from spiel_dl.tree.histories import counts_before, first_occurrence_ids


@dataclasses.dataclass(frozen=True, eq=False)
class Particles:
    """N histories of one public state of a game with `Rules`, or of several, side by side.

    Attributes:
      game: the game.
      states: the rules' states of the histories, batch dimension N.
      reach: float64 [2, N], each player's own reach, of any scale. Histories that a player cannot
        tell apart must have the same.
      chance_reach: float64 [N].
      stands_for: float64 [N], the number of histories that each particle represents; None: 1 each.
      cached_keys: int64 [2, N], see `infoset_keys`; None: not computed yet.
    """

    game: pyspiel.Game
    states: StateBatch
    reach: np.ndarray
    chance_reach: np.ndarray
    stands_for: np.ndarray | None = None
    cached_keys: np.ndarray | None = None

    def __post_init__(self) -> None:
        rules_of(self.game)
        size = self.states.batch_size
        if self.stands_for is None:
            object.__setattr__(self, "stands_for", np.ones(size))
        valid = self.reach.shape == (2, size) and self.chance_reach.shape == (size,)
        if not size or not valid or not all(map(_is_reach, (self.reach, self.chance_reach))):
            raise ValueError(
                f"{size} particles need finite reaches >= 0 of shape (2, {size}) and chance "
                f"reaches of shape ({size},), at least one; got shapes {self.reach.shape} and "
                f"{self.chance_reach.shape}"
            )

    @property
    def num_particles(self) -> int:
        """N, the number of particles."""
        return len(self.chance_reach)

    @property
    def total_reach(self) -> np.ndarray:
        """The product of chance's and both players' reach and `stands_for`: float64 [N]."""
        return self.reach[0] * self.reach[1] * self.chance_reach * self.copies

    @property
    def copies(self) -> np.ndarray:
        """`stands_for`, never None: float64 [N]."""
        assert self.stands_for is not None
        return self.stands_for

    @property
    def infoset_keys(self) -> np.ndarray:
        """Keys of both players' infosets, those of `tree.from_rules.InfosetKeys`: int64 [2, N]."""
        if self.cached_keys is None:
            keys = InfosetKeys(rules_of(self.game)).of_level(self.states)[0]
            object.__setattr__(self, "cached_keys", keys)
        assert self.cached_keys is not None
        return self.cached_keys

    def by_chance(self) -> Particles:
        """The same particles, with `stands_for` moved into chance's reach as a factor."""
        return dataclasses.replace(
            self, chance_reach=self.chance_reach * self.copies, stands_for=None
        )

    def take(self, rows: np.ndarray) -> Particles:
        """The particles of some rows (int64 [n]), in their order."""
        states = self.states.take(torch.from_numpy(rows))
        chance_reach, copies = self.chance_reach[rows], self.copies[rows]
        keys = None if self.cached_keys is None else self.cached_keys[:, rows]
        return Particles(self.game, states, self.reach[:, rows], chance_reach, copies, keys)

    def joined(self, *others: Particles) -> Particles:
        """These particles followed by others, of the same public state or of other ones."""
        parts = [self, *others]
        cached = [part.cached_keys for part in parts if part.cached_keys is not None]
        return Particles(
            self.game,
            type(self.states).concatenate([part.states for part in parts]),
            np.concatenate([part.reach for part in parts], axis=1),
            np.concatenate([part.chance_reach for part in parts]),
            np.concatenate([part.copies for part in parts]),
            np.concatenate(cached, axis=1) if len(cached) == len(parts) else None,
        )

    def sample(
        self, budget: int, generator: np.random.Generator, weights: np.ndarray | None = None
    ) -> Particles:
        """`budget` different particles at random, all if there are no more.

        Args:
          budget: the number of particles.
          generator: random numbers.
          weights: float64 [N], nonnegative: drawn one after the other with probabilities
            proportional to these, those of weight 0 last; None: the total reach.

        Raises:
          ValueError: if the budget is not positive.
        """
        checked_count("budget", budget, 1)
        weights = self.total_reach if weights is None else weights
        return self.take(np.sort(weighted_order(weights, generator)[:budget]))

    def thinned(self, budget: int, generator: np.random.Generator) -> Particles:
        """`budget` particles at random, such that all sums over them are unbiased.

        Fearnhead and Clifford (2003), "On-line inference for hidden Markov models via particle
        filters", section 3: those of large total reach are kept. Each of the others is kept with a
        probability p in proportion to its total reach, and then represents 1 / p times as many
        histories. None is drawn twice. All are kept if there are at most `budget`.

        Raises:
          ValueError: if the budget is not positive.
        """
        checked_count("budget", budget, 1)
        if budget >= self.num_particles:
            return self
        # Histories of reach 0 are kept with a small probability: the true history may be one.
        total = self.total_reach
        weights = total + (1e-3 * total.mean() or 1.0)
        rows, probability = _thin(weights, budget, generator)
        kept = self.take(rows)
        return dataclasses.replace(kept, stands_for=kept.copies / probability)

    def sample_infosets(
        self, infosets: np.ndarray, budget: int, generator: np.random.Generator
    ) -> Particles:
        """Up to `budget` different particles at random, many of which share an infoset.

        Histories drawn one by one from many rarely share an infoset. Each infoset then has few
        histories with different infosets of the opponent, and its value against these differs much
        from its value in the game. So half of the budget is for infosets of each player. They are
        drawn by total reach, with n particles of each one, where n is the square root of that half.
        A particle that is drawn for both players counts once.

        Args:
          infosets: int [2, N], both players' infosets of the particles.
          budget: the most particles.
          generator: random numbers.

        Raises:
          ValueError: if the budget is not positive.
        """
        checked_count("budget", budget, 1)
        if budget >= self.num_particles:
            return self
        half = (budget + 1) // 2
        chosen = []
        for player in (0, 1):
            order = weighted_order(self.total_reach, generator)
            rank, _ = first_occurrence_ids(infosets[player, order])
            occurrence = counts_before(rank)
            # If infosets have fewer than n particles, further ones of others are taken instead.
            by_infoset = np.lexsort((rank, occurrence >= max(1, math.isqrt(half))))
            chosen.append(order[by_infoset[: half if player == 0 else budget - half]])
        return self.take(np.unique(np.concatenate(chosen)))


def rules_of(game: pyspiel.Game) -> Rules:
    """The rules of a game.

    Raises:
      ValueError: if it has none.
    """
    if not hasattr(game, "rules"):
        raise ValueError(
            f"{game} has no Rules; use one of the games of spiel_dl.games, or write the game's "
            "Rules"
        )
    rules: Rules = game.rules
    return rules


def weighted_order(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A random order by drawing without replacement in proportion to weights: int64 [N].

    Entries of weight 0 come last, in random order.
    """
    noise = generator.exponential(size=len(weights))
    time = np.divide(noise, weights, out=np.full(len(weights), np.inf), where=weights > 0)
    return np.lexsort((noise, time))


def _thin(
    weights: np.ndarray, budget: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Increasing rows of the kept particles, and the probability with which each was kept.

    Args:
      weights: float64 [N], positive, N above the budget.
      budget: the number of rows to keep.
      generator: random numbers.

    Returns:
      int64 [budget], float64 [budget].
    """
    order = np.argsort(-weights, kind="stable")
    remaining = np.cumsum(weights[order][::-1])[::-1]
    # Rows before the first one whose share of the remaining budget is below 1 are kept for certain.
    room = budget - np.arange(budget)
    num_certain = int(np.argmax(weights[order][:budget] * room < remaining[:budget]))
    others = generator.permutation(order[num_certain:])
    probability = weights[others] * ((budget - num_certain) / remaining[num_certain])
    # Systematic sampling: equally spaced points on the line of all probabilities.
    line = np.floor(np.cumsum(probability) + generator.random())
    chosen = np.flatnonzero(np.diff(line, prepend=0.0) > 0)[: budget - num_certain]
    rows = np.concatenate([order[:num_certain], others[chosen]])
    kept = np.concatenate([np.ones(num_certain), probability[chosen]])
    by_row = np.argsort(rows)
    return rows[by_row], kept[by_row]


def _is_reach(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0).all())
