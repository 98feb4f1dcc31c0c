"""Pairs of games played by batches of states, for policies that answer many at once.

The luck is that of `play.matches`, number by number, so the games are the same.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch

from spiel_dl.games.environments import sample
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER, Rules
from spiel_dl.play.match_results import DecisionTime, PairResults
from spiel_dl.play.shared_luck import CHANCE, sources
from spiel_dl.tree.beam import PolicyRows


def play(
    rules: Rules[Any], policies: tuple[PolicyRows, PolicyRows], pairs: range, seed: int
) -> PairResults:
    """Plays some pairs of games.

    Args:
      rules: the game.
      policies: the first and the second policy.
      pairs: the numbers of the pairs.
      seed: of chance and of both players' choices.
    """
    luck = _numbers(rules, pairs, seed)
    games = np.arange(2 * len(pairs))
    used = np.zeros((3, len(games)), np.int64)
    returns = np.zeros(len(games))
    states = rules.initial_state(len(games))
    times = [DecisionTime(), DecisionTime()]
    while True:
        mover = rules.current_player(states).numpy()
        is_over = mover == TERMINAL_PLAYER
        returns[games[is_over]] = rules.returns(states).numpy()[is_over]
        if is_over.all():
            break
        if is_over.any():
            states = states.take(torch.from_numpy(np.flatnonzero(~is_over)))
            games, mover = games[~is_over], mover[~is_over]
        source = np.where(mover == CHANCE_PLAYER, CHANCE, mover).astype(np.int64)
        weights = np.zeros((len(games), max(rules.num_actions, rules.num_chance_outcomes)))
        chance = np.flatnonzero(source == CHANCE)
        if len(chance):
            found = rules.chance_probabilities(states.take(torch.from_numpy(chance))).numpy()
            weights[chance, : rules.num_chance_outcomes] = found
        for player in (0, 1):
            for which, policy in enumerate(policies):
                # In a pair's first game the first policy is player 0, in its second one player 1.
                is_mine = (source == player) & ((games % 2 == player) == (which == 0))
                mine = np.flatnonzero(is_mine)
                if len(mine):
                    start = time.perf_counter()
                    found = policy(states.take(torch.from_numpy(mine)), player)
                    seconds = time.perf_counter() - start
                    weights[mine, : rules.num_actions] = found
                    took = DecisionTime(len(mine), seconds, seconds / len(mine))
                    times[which] = times[which].add(took)
        numbers = luck[source, games // 2, used[source, games]]
        used[source, games] += 1
        moves = sample(torch.from_numpy(weights), torch.from_numpy(numbers), torch.float64)
        states = rules.apply(states, moves)
    by_seat = returns.reshape(-1, 2) * [1.0, -1.0]
    return PairResults(by_seat + 0.0, (times[0], times[1]))


def _numbers(rules: Rules[Any], pairs: range, seed: int) -> np.ndarray:
    """Random numbers in [0, 1) for all events of each source: float64 [3, P, E]."""
    most = max(rules.max_game_length, rules.max_chance_nodes)
    drawn = [[source.random(most) for source in sources(seed, pair)] for pair in pairs]
    return np.array(drawn).transpose(1, 0, 2)
