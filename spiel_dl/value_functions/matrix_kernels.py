"""The compiled loop of `value_functions.matrices`."""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def play_pairs(
    first_child, num_children, turn, utility, histories, own, others, chance, numbers, values
):
    """Plays all pairs of strategies from all histories, into `values` (float64 [N, J, K]).

    Args:
      first_child, num_children: int [H], of the game.
      turn: int [H], who acts: 0 the player, 1 the opponent, 2 chance.
      utility: float64 [H], player 0's.
      histories: int [N], where the games begin.
      own, others: float64 [J, H] and [K, H], the probability of the action that led to a history.
      chance: float64 [H], the same of chance.
      numbers: float64 [N, n, levels], in [0, 1): n games from each history, a number for a move.
      values: overwritten.
    """
    num_games = numbers.shape[1]
    for leaf in range(len(histories)):
        for j in range(len(own)):
            for k in range(len(others)):
                total = 0.0
                for game in range(num_games):
                    history, move = histories[leaf], 0
                    while num_children[history] > 0:
                        probability = chance
                        if turn[history] == 0:
                            probability = own[j]
                        elif turn[history] == 1:
                            probability = others[k]
                        left = numbers[leaf, game, move]
                        child = first_child[history]
                        last = child + num_children[history] - 1
                        while child < last and left >= probability[child]:
                            left -= probability[child]
                            child += 1
                        history, move = child, move + 1
                    total += utility[history]
                values[leaf, j, k] = total / num_games
