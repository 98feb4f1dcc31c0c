"""Matches between a policy and a simple opponent: mean return with its interval, and seconds."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import pyspiel
from open_spiel.python import policy as openspiel_policy

_NORMAL_95 = 1.959964


class MatchResult(NamedTuple):
    """How a match went.

    Attributes:
      num_games: games played.
      mean_return: the policy's, in utility units.
      half_width: of the 95 % confidence interval, by the normal approximation.
      seconds_per_move: mean over the policy's moves.
      slowest_move: in seconds.
    """

    num_games: int
    mean_return: float
    half_width: float
    seconds_per_move: float
    slowest_move: float


class HighestActionPolicy(openspiel_policy.Policy):
    """Always plays the legal action with the highest id: in Goofspiel, the highest card."""

    def action_probabilities(
        self, state: pyspiel.State, player_id: int | None = None
    ) -> dict[int, float]:
        """1 for the highest legal action, 0 for the others."""
        player = state.current_player() if player_id is None else player_id
        actions = state.legal_actions(player)
        return {action: float(action == max(actions)) for action in actions}


def play_match(
    game: pyspiel.Game,
    policy: openspiel_policy.Policy,
    opponent: openspiel_policy.Policy,
    num_games: int,
    seed: int = 0,
) -> MatchResult:
    """Plays games of a turn-based game, the policy as player 0 and 1 in turn.

    Args:
      game: the game.
      policy: whose moves are timed.
      opponent: the other's policy.
      num_games: how many games.
      seed: of chance and of both players' choices.

    Raises:
      ValueError: if there are fewer than two games, which give no interval.
    """
    if num_games < 2:
        raise ValueError(f"num_games={num_games} must be at least 2")
    generator = np.random.default_rng(seed)
    returns, seconds = [], []
    for number in range(num_games):
        seat, state = number % 2, game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                choices = dict(state.chance_outcomes())
            elif state.current_player() == seat:
                start = time.perf_counter()
                choices = policy.action_probabilities(state)
                seconds.append(time.perf_counter() - start)
            else:
                choices = opponent.action_probabilities(state)
            probabilities = np.array(list(choices.values()))
            drawn = generator.choice(list(choices), p=probabilities / probabilities.sum())
            state.apply_action(int(drawn))
        returns.append(state.returns()[seat])
    half_width = _NORMAL_95 * np.std(returns, ddof=1) / np.sqrt(num_games)
    return MatchResult(
        num_games,
        float(np.mean(returns)),
        float(half_width),
        float(np.mean(seconds)),
        float(np.max(seconds)),
    )
