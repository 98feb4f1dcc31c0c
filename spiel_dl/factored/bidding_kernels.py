"""Compiled loops over the infosets of Oshi-Zumo. See `bidding`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def count_infosets(first_choice, after):
    """How many infosets there are from one of a class on, and how far behind it each next one is.

    Args:
      first_choice, after: of `BiddingClasses`.

    Returns:
      size: int64 [C], the infoset itself included.
      step: int64 [K], by pair of bids; 0 where the game ends.
    """
    size = np.ones(first_choice.size - 1, np.int64)
    step = np.zeros(after.size, np.int64)
    for own in range(size.size - 1, -1, -1):  # What follows a class has a larger number.
        for choice in range(first_choice[own], first_choice[own + 1]):
            if after[choice] >= 0:
                step[choice] = size[own]
                size[own] += size[after[choice]]
    return size, step


@_jit
def number_infosets(first_choice, num_bids, after, size, step):
    """Numbers both players' infosets, which are the same: each before those that follow it.

    Args:
      first_choice, num_bids, after: of `BiddingClasses`.
      size, step: of `count_infosets`.

    Returns:
      class_of: int32 [I].
      parent_sequence, first_sequence: int32 [2, I], of both players.
    """
    num_infosets = size[0]
    class_of = np.zeros(num_infosets, np.int32)
    parent_sequence = np.zeros((2, num_infosets), np.int32)
    first_sequence = np.empty((2, num_infosets), np.int32)
    following = np.ones(2, np.int64)
    for infoset in range(num_infosets):
        own = class_of[infoset]
        for player in range(2):
            first_sequence[player, infoset] = following[player]
            following[player] += num_bids[own, player]
        choice = first_choice[own]
        for bid in range(num_bids[own, 0]):
            for other in range(num_bids[own, 1]):
                if after[choice] >= 0:
                    child = infoset + step[choice]
                    class_of[child] = after[choice]
                    parent_sequence[0, child] = first_sequence[0, infoset] + bid
                    parent_sequence[1, child] = first_sequence[1, infoset] + other
                choice += 1
    return class_of, parent_sequence, first_sequence


@_jit
def add_ends(begin, end, player, classes, class_of, first_sequence, plan, cfv):
    """Adds what the last bids pay.

    Args:
      begin, end: the infosets in which they are made.
      player: whose values.
      classes: `BiddingClasses`.
      class_of: int32 [I].
      first_sequence: both players', int32 [I] each.
      plan: float64 [S_-p], the opponent's.
      cfv: float64 [S_p], updated.
    """
    first_choice, num_bids, after = classes.first_choice, classes.num_bids, classes.after
    utility = classes.utility
    for infoset in range(begin, end):
        own = class_of[infoset]
        choice = first_choice[own]
        first, second = first_sequence[0][infoset], first_sequence[1][infoset]
        for bid in range(num_bids[own, 0]):
            for other in range(num_bids[own, 1]):
                if after[choice] < 0:
                    if player == 0:
                        cfv[first + bid] += utility[choice] * plan[second + other]
                    else:
                        cfv[second + other] -= utility[choice] * plan[first + bid]
                choice += 1
