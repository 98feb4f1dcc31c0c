"""Plays pairs of games in batches of states, by policies that evaluate batches.

The random numbers are those of `play.matches`, so the games are the same.
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
    random_numbers = _random_numbers(rules, pairs, seed)
    games = np.arange(2 * len(pairs))
    num_drawn = np.zeros((3, len(games)), np.int64)
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
            probabilities = rules.chance_probabilities(states.take(torch.from_numpy(chance)))
            weights[chance, : rules.num_chance_outcomes] = probabilities.numpy()
        for player in (0, 1):
            for number, policy in enumerate(policies):
                # In a pair's first game the first policy is player 0, in its second one player 1.
                is_mover = (source == player) & ((games % 2 == player) == (number == 0))
                rows = np.flatnonzero(is_mover)
                if len(rows):
                    start = time.perf_counter()
                    policy_rows = policy(states.take(torch.from_numpy(rows)), player)
                    seconds = time.perf_counter() - start
                    weights[rows, : rules.num_actions] = policy_rows
                    decisions = DecisionTime(len(rows), seconds, seconds / len(rows))
                    times[number] = times[number].add(decisions)
        numbers = random_numbers[source, games // 2, num_drawn[source, games]]
        num_drawn[source, games] += 1
        moves = sample(torch.from_numpy(weights), torch.from_numpy(numbers), torch.float64)
        states = rules.apply(states, moves)
    by_seat = returns.reshape(-1, 2) * [1.0, -1.0]
    return PairResults(by_seat + 0.0, (times[0], times[1]))


def _random_numbers(rules: Rules[Any], pairs: range, seed: int) -> np.ndarray:
    """Random numbers in [0, 1) for all events of each source: float64 [3, P, E]."""
    num_events = max(rules.max_game_length, rules.max_chance_nodes)
    drawn = [[source.random(num_events) for source in sources(seed, pair)] for pair in pairs]
    return np.array(drawn).transpose(1, 0, 2)
