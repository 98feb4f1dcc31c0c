"""Random histories of public states that are too large to list: a beam from the root on.

All histories are extended move by move; those that contradict the observations are dropped, and at
most as many as the beam's width are kept. `sample_consistent` draws them by uniform play;
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
"""Maps states (batch dimension N) in which a player acts, and this player, to the probabilities of
all actions there: float64 [N, A]."""

# A wider beam takes seconds, so it is tried only if no narrower one has found a particle.
_MAX_WIDER_BEAM = 4096
_LARGEST_BEAM = 65_536
"""The widest beam for small budgets with which no particle was found."""


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
    uniform, because each step draws from the histories that earlier steps have kept.

    Args:
      game: a game with `Rules`.
      public_tensor: float32 [Dpub], the public state's perfect-recall public tensor.
      budget: the most histories.
      generator: random numbers.
      player: only histories with this player's private tensor; None: any.
      private_tensor: float32 [Dpriv], that player's perfect-recall private tensor.
      policies: both players'. They determine reaches, and each particle also stands for dropped
        ones. None: reaches are those of uniform play, and each particle stands for itself alone.

    Raises:
      ValueError: if the budget is not positive, or no history was found.
    """
    checked_count("budget", budget, 1)
    target = Observed(
        rules_of(game),
        public_tensor.reshape(1, -1) > 0,
        player,
        None if private_tensor is None else private_tensor.reshape(1, -1) > 0,
    )
    particles = None
    for width in _widths(budget):
        if particles is not None and width > min(_MAX_WIDER_BEAM, 64 * budget):
            break
        reduce = functools.partial(
            _subsample, budget=width, generator=generator, count_dropped=policies is not None
        )
        wider, is_exhaustive = _beam(game, target, policies, width, reduce)
        particles = wider or particles
        if particles is not None and (is_exhaustive or particles.num_particles >= budget):
            break
    if particles is None:
        raise ValueError(
            f"found no history with these observations among {width:,} random ones of each length; "
            "use a larger budget, and observations of one state"
        )
    return _subsample(particles, budget, generator, policies is not None)


def _widths(budget: int) -> Iterator[int]:
    """Increasing beam widths, up to 64 times the budget or `_LARGEST_BEAM`."""
    width = budget
    while width <= max(64 * budget, _LARGEST_BEAM):
        yield width
        width *= 8


def _subsample(
    particles: Particles, budget: int, generator: np.random.Generator, count_dropped: bool
) -> Particles:
    """A uniform sample of particles; with `count_dropped`, they stand for the others too."""
    kept = particles.sample(budget, generator, np.ones(particles.num_particles))
    if not count_dropped:
        return kept
    factor = particles.num_particles / kept.num_particles
    return dataclasses.replace(kept, stands_for=kept.copies * factor)


def drawn_by_policies(
    game: pyspiel.Game,
    target: Observed,
    policies: PolicyRows,
    width: int,
    generator: np.random.Generator,
) -> Particles | None:
    """Histories of a public state drawn by replaying policies, each with its exact reach.

    At every step at most `width` are kept, by `Particles.thinned`, so the sample is unbiased; a
    particle stands for several if others were dropped.

    Args:
      game: a game with `Rules`.
      target: the observations that the histories must match.
      policies: both players'.
      width: of the beam.
      generator: random numbers.

    Returns:
      All histories at the end of the beam; None if dead ends have left none.
    """
    reduce = functools.partial(Particles.thinned, budget=width, generator=generator)
    return _beam(game, target, policies, width, reduce)[0]


@dataclasses.dataclass(frozen=True, eq=False)
class Observed:
    """Observations to match: public bits, and one player's private bits if it is given."""

    rules: Rules
    public: torch.Tensor
    player: int | None
    private: torch.Tensor | None

    def bits(self, states: StateBatch) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Pairs of each state's bits and the bits to match, public first."""
        pairs = [(self.rules.public_tensor(states, True) > 0, self.public)]
        if self.player is not None and self.private is not None:
            own = self.rules.private_tensor(states, self.player, True) > 0
            pairs.append((own, self.private))
        return pairs

    def is_consistent(self, states: StateBatch) -> np.ndarray:
        """Whether each state has shown no other bits so far: bool [B]."""
        kept = [(shown <= bits).all(dim=1) for shown, bits in self.bits(states)]
        return torch.stack(kept).all(dim=0).numpy()

    def matches(self, states: StateBatch) -> np.ndarray:
        """Whether each state has shown exactly these bits: bool [B]."""
        same = [(shown == bits).all(dim=1) for shown, bits in self.bits(states)]
        return torch.stack(same).all(dim=0).numpy()


def _beam(
    game: pyspiel.Game,
    target: Observed,
    policies: PolicyRows | None,
    width: int,
    reduce: Callable[[Particles], Particles],
) -> tuple[Particles | None, bool]:
    """A breadth-first search of bounded width.

    Args:
      game: a game with `Rules`.
      target: the observations that histories must match.
      policies: both players', for reaches; None: uniform play.
      width: the most histories that are kept.
      reduce: reduces more histories to `width`.

    Returns:
      Histories that match the observations, None if none was found; and whether they are all, as
      no history was dropped on the way.
    """
    particles: Particles | None = Particles(
        game, target.rules.initial_state(), np.ones((2, 1)), np.ones(1)
    )
    is_exhaustive = True
    while particles is not None:
        matching = np.flatnonzero(target.matches(particles.states))
        if len(matching):
            return particles.take(matching), is_exhaustive
        particles = _successors(particles, target, policies)
        if particles is not None and particles.num_particles > width:
            is_exhaustive = False
            particles = reduce(particles)
    return None, is_exhaustive


def _successors(
    particles: Particles, target: Observed, policies: PolicyRows | None
) -> Particles | None:
    """All successors that do not contradict the observations; None if there are none."""
    children = target.rules.expand(particles.states)
    if not len(children.parent):
        return None
    num_siblings = torch.bincount(children.parent, minlength=particles.num_particles)
    consistent = torch.from_numpy(np.flatnonzero(target.is_consistent(children.states)))
    if not len(consistent):
        return None
    children = children.take(consistent)
    rows = children.parent.numpy()
    mover = target.rules.current_player(particles.states).numpy()
    if policies is None:
        probability = 1.0 / num_siblings.numpy()[rows]
    else:
        probability = _action_probabilities(particles.states, mover, children, policies)
    reach = particles.reach[:, rows].copy()
    for player in (0, 1):
        reach[player] *= np.where(mover[rows] == player, probability, 1.0)
    chance = particles.chance_reach[rows] * children.probability.numpy()
    return Particles(particles.game, children.states, reach, chance, particles.copies[rows])


def _action_probabilities(
    states: StateBatch, mover: np.ndarray, children: Children, policies: PolicyRows
) -> np.ndarray:
    """The policy's probability of each step: float64 [N]; 1 for chance's."""
    rows, probability = children.parent.numpy(), np.ones(len(children.parent))
    for player in (0, 1):
        acting = np.flatnonzero(mover == player)
        if not len(acting):
            continue
        policy_row = np.full(len(mover), -1)
        policy_row[acting] = np.arange(len(acting))
        policy = policies(states.take(torch.from_numpy(acting)), player)
        own = np.flatnonzero(mover[rows] == player)
        probability[own] = policy[policy_row[rows[own]], children.action.numpy()[own]]
    return probability
