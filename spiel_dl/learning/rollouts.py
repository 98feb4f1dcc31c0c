"""Rollouts: batches of games played out by policies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import torch

from spiel_dl.games.environments import sample
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER, Rules, StateBatch
from spiel_dl.tree.beam import PolicyRows

PlayOn = Callable[[StateBatch, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]
"""Maps states, the index of the state in which each of N games begins (int64 [N]), its first action
(int64 [N]) and a random generator to player 0's utility at its end: float64 [N]."""
PlayerValues = Callable[[StateBatch, int], np.ndarray]
"""Maps states in which a player acts, and the player, to its expected utility: float [N]."""


@dataclasses.dataclass(frozen=True, eq=False)
class Horizon:
    """Where rollouts stop before the end of the game.

    Attributes:
      num_moves: they last for at least so many moves of players.
      player: they stop where this player acts.
      values: the values of the states there.
    """

    num_moves: int
    player: int
    values: PlayerValues


@dataclasses.dataclass(frozen=True, eq=False)
class Rollouts:
    """Rollouts by both players' policies, by tensor operations.

    Attributes:
      rules: the game.
      policies: both players' policies.
      horizon: where games stop; None: at their end.
    """

    rules: Rules
    policies: PolicyRows
    horizon: Horizon | None = None

    def play_on(
        self,
        states: StateBatch,
        rows: np.ndarray,
        actions: np.ndarray,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Plays games to where they stop, see `PlayOn`; the first action is a move, too."""
        starts = states.take(torch.from_numpy(rows))
        after = self.rules.apply(starts, torch.from_numpy(actions))
        return play_out(self.rules, after, self.policies, generator, self.horizon)


def play_out(
    rules: Rules,
    states: StateBatch,
    policies: PolicyRows,
    generator: np.random.Generator,
    horizon: Horizon | None = None,
) -> np.ndarray:
    """Plays games to where they stop.

    Args:
      rules: the game.
      states: in which they begin, batch dimension N.
      policies: both players'.
      generator: draws everything that is random.
      horizon: where they stop, one move having been made before; None: at their end.

    Returns:
      float64 [N], player 0's utility of each.
    """
    returns = np.zeros(states.batch_size)
    rows, num_moves = np.arange(states.batch_size), np.ones(states.batch_size, np.int64)
    while True:
        mover = rules.current_player(states).numpy()
        over = mover == TERMINAL_PLAYER
        if over.any():
            ended = states.take(torch.from_numpy(np.flatnonzero(over)))
            returns[rows[over]] = rules.returns(ended).numpy()
        if horizon is not None:
            stops = (mover == horizon.player) & (num_moves[rows] >= horizon.num_moves)
            if stops.any():
                left = states.take(torch.from_numpy(np.flatnonzero(stops)))
                sign = 1.0 if horizon.player == 0 else -1.0
                returns[rows[stops]] = sign * horizon.values(left, horizon.player)
            over |= stops
        if over.any():
            states = states.take(torch.from_numpy(np.flatnonzero(~over)))
            rows, mover = rows[~over], mover[~over]
        if not len(rows):
            return returns
        num_moves[rows] += mover >= 0
        states = rules.apply(states, _moves(rules, states, mover, policies, generator))


def _moves(
    rules: Rules,
    states: StateBatch,
    mover: np.ndarray,
    policies: PolicyRows,
    generator: np.random.Generator,
) -> torch.Tensor:
    """Samples the actions of players and chance: int64 [N]."""
    moves = np.zeros(len(mover), np.int64)
    uniform = generator.random(len(mover))
    for who in (CHANCE_PLAYER, 0, 1):
        acting = np.flatnonzero(mover == who)
        if not len(acting):
            continue
        here = states.take(torch.from_numpy(acting))
        if who == CHANCE_PLAYER:
            weights = rules.chance_probabilities(here).numpy()
        else:
            weights = policies(here, who)
        threshold = torch.from_numpy(uniform[acting])
        moves[acting] = sample(torch.from_numpy(weights), threshold, torch.float64).numpy()
    return torch.from_numpy(moves)
