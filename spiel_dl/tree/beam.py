"""Random histories of public states that are too large to list: a beam from the root on.

All histories are extended move by move, those that contradict what is to be shown are dropped, and
of the others at most so many are kept. `sample_consistent` draws them by uniform play;
`drawn_by_policies` lets both players follow policies, and keeps histories by their reach.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import pyspiel
import torch

from spiel_dl.games.rules import Children, Rules, StateBatch
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.particles import Particles, rules_of

PolicyRows: TypeAlias = Callable[[StateBatch, int], np.ndarray]
"""From states (batch dimension N) in which a player acts, and this player, to the probabilities of
all actions there: float64 [N, A]."""

# A wider beam takes seconds, so it is tried only if none has found a single particle.
_MAX_WIDER_BEAM = 4096
_LARGEST_BEAM = 65_536
"""No wider one is tried for small budgets that have found nothing."""


def sample_consistent(
    game: pyspiel.Game,
    public_tensor: torch.Tensor,
    budget: int,
    generator: np.random.Generator,
    *,
    player: int | None = None,
    private_tensor: torch.Tensor | None = None,
    policies: PolicyRows | None = None,
) -> Particles:
    """Random histories of a public state too large to list, or of one infoset in it.

    Expands breadth first as `Rules.consistent_histories` does, but at every step keeps at most
    `budget` random histories (a beam). If dead ends leave no history, the search is repeated with
    wider beams, up to 64 times as wide or of about 65,536 histories; if they leave some, but fewer
    than the budget, with beams up to 64 times as wide and of at most 4,096. The sample is not
    uniform, because each step draws from what the steps before have kept.

    Args:
      game: a game with `Rules`.
      public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
      budget: how many histories, at most.
      generator: draws them.
      player: only histories with this player's private tensor; None: any.
      private_tensor: float32 [Dpriv], that player's perfect-recall private tensor.
      policies: both players'. Reaches are theirs, and each particle also stands for those that were
        dropped. None: reaches are those of uniform play, and particles stand for themselves.

    Raises:
      ValueError: if the budget is not positive, or no history was found.
    """
    checked_count("budget", budget, 1)
    shown = Observed(
        rules_of(game),
        public_tensor.reshape(1, -1) > 0,
        player,
        None if private_tensor is None else private_tensor.reshape(1, -1) > 0,
    )
    found = None
    for width in _widths(budget):
        if found is not None and width > min(_MAX_WIDER_BEAM, 64 * budget):
            break
        narrow = functools.partial(
            _some_of, budget=width, generator=generator, count_dropped=policies is not None
        )
        wider, is_exhaustive = _beam(game, shown, policies, width, narrow)
        found = wider or found
        if found is not None and (is_exhaustive or found.num_particles >= budget):
            break
    if found is None:
        raise ValueError(
            f"found no history with these observations among {width:,} random ones of each length; "
            "use a larger budget, and observations of one state"
        )
    return _some_of(found, budget, generator, policies is not None)


def _widths(budget: int) -> Iterator[int]:
    """Of one beam after the other, up to 64 times the budget, or as wide as `_LARGEST_BEAM`."""
    width = budget
    while width <= max(64 * budget, _LARGEST_BEAM):
        yield width
        width *= 8


def _some_of(
    found: Particles, budget: int, generator: np.random.Generator, count_dropped: bool
) -> Particles:
    """At most `budget` particles, all as likely; maybe they also stand for those dropped."""
    kept = found.sample(budget, generator, np.ones(found.num_particles))
    if not count_dropped:
        return kept
    factor = found.num_particles / kept.num_particles
    return dataclasses.replace(kept, stands_for=kept.copies * factor)


def drawn_by_policies(
    game: pyspiel.Game,
    shown: Observed,
    policies: PolicyRows,
    width: int,
    generator: np.random.Generator,
) -> Particles | None:
    """Histories drawn by replaying policies, each with its exact reach.

    At every step at most `width` are kept, by `Particles.thinned`; so what is found is an unbiased
    sample of the public state; where others were dropped, particles stand for several.

    Args:
      game: a game with `Rules`.
      shown: what the histories must have shown.
      policies: both players'.
      width: of the beam.
      generator: draws.

    Returns:
      All histories that the beam came to; None if dead ends have left none.
    """
    narrow = functools.partial(Particles.thinned, budget=width, generator=generator)
    return _beam(game, shown, policies, width, narrow)[0]


@dataclasses.dataclass(frozen=True, eq=False)
class Observed:
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


def _beam(
    game: pyspiel.Game,
    shown: Observed,
    policies: PolicyRows | None,
    width: int,
    narrow: Callable[[Particles], Particles],
) -> tuple[Particles | None, bool]:
    """A breadth-first search of bounded width.

    Args:
      game: a game with `Rules`.
      shown: what histories must have shown.
      policies: both players', of which reaches are; None: uniform play.
      width: how many histories are kept.
      narrow: keeps so many of more.

    Returns:
      Histories that have shown what they must, None if none of them was found; and whether nothing
      was dropped that could lead to others.
    """
    here: Particles | None = Particles(
        game, shown.rules.initial_state(), np.ones((2, 1)), np.ones(1)
    )
    is_exhaustive = True
    while here is not None:
        found = np.flatnonzero(shown.is_shown(here.states))
        if len(found):
            return here.take(found), is_exhaustive
        here = _step(here, shown, policies)
        if here is not None and here.num_particles > width:
            is_exhaustive = False
            here = narrow(here)
    return None, is_exhaustive


def _step(here: Particles, shown: Observed, policies: PolicyRows | None) -> Particles | None:
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
    mover = shown.rules.current_player(here.states).numpy()
    if policies is None:
        share = 1.0 / num_siblings.numpy()[rows]
    else:
        share = _shares(here.states, mover, children, policies)
    reach = here.reach[:, rows].copy()
    for player in (0, 1):
        reach[player] *= np.where(mover[rows] == player, share, 1.0)
    chance = here.chance_reach[rows] * children.probability.numpy()
    return Particles(here.game, children.states, reach, chance, here.copies[rows])


def _shares(
    states: StateBatch, mover: np.ndarray, children: Children, policies: PolicyRows
) -> np.ndarray:
    """With which probability a player makes each step: float64 [N]; 1 where chance does."""
    rows, share = children.parent.numpy(), np.ones(len(children.parent))
    for player in (0, 1):
        acting = np.flatnonzero(mover == player)
        if not len(acting):
            continue
        place = np.full(len(mover), -1)
        place[acting] = np.arange(len(acting))
        policy = policies(states.take(torch.from_numpy(acting)), player)
        own = np.flatnonzero(mover[rows] == player)
        share[own] = policy[place[rows[own]], children.action.numpy()[own]]
    return share
