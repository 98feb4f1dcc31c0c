"""`Particles`: a public state by some of its histories, with both players' reach.

Šustr et al. (2021), section 5.1. Particles stand for a *sparse belief*: an infoset that none of
them belongs to has reach 0. One deviation: the paper sums the reaches of an infoset's particles.
With perfect recall all of them have the same, the player's reach of the infoset, and it is that
reach which is the range here; so all histories of a public state give the full belief.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.tree.histories import counts_before, first_occurrence_ids
from spiel_dl.tree.public_states import consistent_histories

# A beam wider than this takes seconds, so it is for when there is no particle at all.
_MAX_WIDER_BEAM = 4096


@dataclasses.dataclass(frozen=True, eq=False)
class Particles:
    """N histories of one public state of a game with `Rules`.

    Attributes:
      game: the game.
      states: the rules' states of the histories, batch dimension N.
      reach: float64 [2, N], each player's own reach, of any scale. Histories that a player cannot
        tell apart must have the same.
      chance_reach: float64 [N].
    """

    game: pyspiel.Game
    states: StateBatch
    reach: np.ndarray
    chance_reach: np.ndarray

    def __post_init__(self) -> None:
        rules_of(self.game)
        size = self.states.batch_size
        valid = self.reach.shape == (2, size) and self.chance_reach.shape == (size,)
        if not size or not valid or not all(map(_is_reach, (self.reach, self.chance_reach))):
            raise ValueError(
                f"{size} particles need finite reaches >= 0 of shape (2, {size}) and chance "
                f"reaches of shape ({size},), at least one; got shapes {self.reach.shape} and "
                f"{self.chance_reach.shape}"
            )

    @staticmethod
    def of_public_state(state: pyspiel.State, limit: int = 1_000_000) -> Particles:
        """All histories of a state's public state, each player's reach 1.

        Only public information of the state is used.

        Raises:
          ValueError: if the game has no rules, or there are more histories than `limit`.
        """
        found = consistent_histories(state, limit)
        if not found.complete:
            raise ValueError(
                f"the public state has more than limit={limit:,} histories; use sample_consistent"
            )
        reach = np.ones((2, found.states.batch_size))
        return Particles(state.get_game(), found.states, reach, found.chance_reach.numpy())

    @property
    def num_particles(self) -> int:
        """N, the number of particles."""
        return len(self.chance_reach)

    @property
    def total_reach(self) -> np.ndarray:
        """The product of chance's and both players' reach: float64 [N]."""
        return self.reach[0] * self.reach[1] * self.chance_reach

    def take(self, rows: np.ndarray) -> Particles:
        """The particles of some rows (int64 [n]), in their order."""
        states = self.states.take(torch.from_numpy(rows))
        return Particles(self.game, states, self.reach[:, rows], self.chance_reach[rows])

    def joined(self, other: Particles) -> Particles:
        """These particles and then others of the same public state."""
        states = type(self.states).concatenate([self.states, other.states])
        reach = np.concatenate([self.reach, other.reach], axis=1)
        chance_reach = np.concatenate([self.chance_reach, other.chance_reach])
        return Particles(self.game, states, reach, chance_reach)

    def sample(
        self, budget: int, generator: np.random.Generator, weights: np.ndarray | None = None
    ) -> Particles:
        """`budget` different particles at random, all if there are no more.

        Args:
          budget: how many.
          generator: draws them.
          weights: float64 [N], nonnegative: drawn one after the other with probabilities
            proportional to these, those of weight 0 last; None: the total reach.

        Raises:
          ValueError: if the budget is not positive.
        """
        _check_budget(budget)
        weights = self.total_reach if weights is None else weights
        return self.take(np.sort(weighted_order(weights, generator)[:budget]))

    def sample_infosets(
        self, infosets: np.ndarray, budget: int, generator: np.random.Generator
    ) -> Particles:
        """Different particles at random, up to `budget`, many of which share an infoset.

        Where histories are many, those drawn one by one hardly share any, and what an infoset is
        worth against the few of the opponent's that it meets says little. So half of the budget is
        spent on infosets of each player: they are drawn by total reach, and n of each one's
        particles, n the root of that half. What both halves have drawn counts once.

        Args:
          infosets: int [2, N], both players' infosets of the particles.
          budget: how many, at most.
          generator: draws them.

        Raises:
          ValueError: if the budget is not positive.
        """
        _check_budget(budget)
        if budget >= self.num_particles:
            return self
        half = (budget + 1) // 2
        chosen = []
        for player in (0, 1):
            order = weighted_order(self.total_reach, generator)
            rank, _ = first_occurrence_ids(infosets[player, order])
            turn = counts_before(rank)
            # The last ones fill what the infosets leave.
            by_infoset = np.lexsort((rank, turn >= max(1, math.isqrt(half))))
            chosen.append(order[by_infoset[: half if player == 0 else budget - half]])
        return self.take(np.unique(np.concatenate(chosen)))


def sample_consistent(
    game: pyspiel.Game,
    public_tensor: torch.Tensor,
    budget: int,
    generator: np.random.Generator,
    *,
    player: int | None = None,
    private_tensor: torch.Tensor | None = None,
) -> Particles:
    """Random histories of a public state too large to list, or of one infoset in it.

    Expands breadth first as `Rules.consistent_histories` does, but goes on with at most `budget`
    random histories from each step to the next. Reaches are those of uniform play. Where dead ends
    leave none, or few of a small budget, up to 64 times as many are kept. Later choices of a
    history are drawn evenly only among what the beam kept, so the sample is not uniform.

    Args:
      game: a game with `Rules`.
      public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
      budget: how many histories, at most.
      generator: draws them.
      player: only histories with this player's private tensor; None: any.
      private_tensor: float32 [Dpriv], that player's perfect-recall private tensor.

    Raises:
      ValueError: if the budget is not positive, or no history was found.
    """
    _check_budget(budget)
    rules = rules_of(game)
    shown = _Observed(
        rules,
        public_tensor.reshape(1, -1) > 0,
        player,
        None if private_tensor is None else private_tensor.reshape(1, -1) > 0,
    )
    start = Particles(game, rules.initial_state(), np.ones((2, 1)), np.ones(1))
    found = None
    for width in (budget, 8 * budget, 64 * budget):
        if found is not None and width > _MAX_WIDER_BEAM:
            break
        beam = _Beam(shown, width, generator)
        found = beam.run(start) or found
        if found is not None and (beam.is_exhaustive or found.num_particles >= budget):
            break
    if found is None:
        raise ValueError(
            f"found no history with these observations among {64 * budget} random ones of each "
            "length; use a larger budget, and observations of one state"
        )
    return found.sample(budget, generator, np.ones(found.num_particles))


def rules_of(game: pyspiel.Game) -> Rules:
    """The rules of a game.

    Raises:
      ValueError: if it has none.
    """
    if not hasattr(game, "rules"):
        raise ValueError(
            f"{game} has no Rules, which particles are made with; use one of the games of "
            "spiel_dl.games, or write the game's Rules"
        )
    rules: Rules = game.rules
    return rules


def weighted_order(weights: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """A random order, as if drawn without replacement in proportion to weights: int64 [N].

    Entries of weight 0 come last, in random order.
    """
    noise = generator.exponential(size=len(weights))
    time = np.divide(noise, weights, out=np.full(len(weights), np.inf), where=weights > 0)
    return np.lexsort((noise, time))


@dataclasses.dataclass(frozen=True, eq=False)
class _Observed:
    """What histories must show: public bits, and one player's private bits if it is given."""

    rules: Rules
    public: torch.Tensor
    player: int | None
    private: torch.Tensor | None

    def bits(self, states: StateBatch) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """(bits of each state, bits to be shown)."""
        pairs = [(self.rules.public_tensor(states, True) > 0, self.public)]
        if self.player is not None and self.private is not None:
            own = self.rules.private_tensor(states, self.player, True) > 0
            pairs.append((own, self.private))
        return pairs

    def can_follow(self, states: StateBatch) -> np.ndarray:
        """Which states have shown nothing else so far: bool [B]."""
        kept = [(found <= wanted).all(dim=1) for found, wanted in self.bits(states)]
        return torch.stack(kept).all(dim=0).numpy()

    def is_shown(self, states: StateBatch) -> np.ndarray:
        """Which states have shown exactly this: bool [B]."""
        same = [(found == wanted).all(dim=1) for found, wanted in self.bits(states)]
        return torch.stack(same).all(dim=0).numpy()


class _Beam:
    """A breadth-first search of bounded width.

    Attributes:
      is_exhaustive: whether nothing was dropped that could lead to what is to be shown.
    """

    def __init__(self, shown: _Observed, width: int, generator: np.random.Generator):
        self.is_exhaustive = True
        self._shown = shown
        self._width = width
        self._generator = generator

    def run(self, start: Particles) -> Particles | None:
        """Histories that have shown what they must; None if none of them was found."""
        here: Particles | None = start
        while here is not None:
            found = np.flatnonzero(self._shown.is_shown(here.states))
            if len(found):
                return here.take(found)
            here = _step(here, self._shown)
            if here is not None and here.num_particles > self._width:
                self.is_exhaustive = False
                here = here.sample(self._width, self._generator, np.ones(here.num_particles))
        return None


def _step(here: Particles, shown: _Observed) -> Particles | None:
    """All successors that do not contradict what is to be shown; None if there are none."""
    children = shown.rules.expand(here.states)
    if not len(children.parent):
        return None
    num_siblings = torch.bincount(children.parent, minlength=here.num_particles)
    kept = torch.from_numpy(np.flatnonzero(shown.can_follow(children.states)))
    if not len(kept):
        return None
    children = children.take(kept)
    rows = children.parent.numpy()
    mover = shown.rules.current_player(here.states).numpy()[rows]
    share = 1.0 / num_siblings.numpy()[rows]
    reach = here.reach[:, rows].copy()
    for player in (0, 1):
        reach[player] *= np.where(mover == player, share, 1.0)
    chance = here.chance_reach[rows] * children.probability.numpy()
    return Particles(here.game, children.states, reach, chance)


def _is_reach(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and (values >= 0).all())


def _check_budget(budget: int) -> None:
    if budget < 1:
        raise ValueError(f"budget={budget} must be at least 1")
