"""The compiled loop of `papers.sepot.goofspiel_critic`: a walk through all that can follow."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, boundscheck=False, error_model="numpy", fastmath={"reassoc", "contract"})
def _value(
    depth,
    own,
    other,
    outcomes,
    difference,
    policy,
    transformed,
    hands,
    points,
    kind,
    below,
    scratch,
):
    """The value of one history for each transformation of the opponent, into scratch[depth]."""
    is_first, is_win_loss = kind
    number = len(points) - depth
    own_hand, other_hand = hands[depth][own], hands[depth][other]
    weights, likely = policy[depth][own, outcomes], transformed[depth][other, outcomes]
    value = scratch[depth]
    value[:] = 0.0
    if number == 2:
        for j in range(2):
            expected = 0.0
            for i in range(2):
                end = difference
                for mine, theirs, prize in (
                    (own_hand[i], other_hand[j], points[depth]),
                    (own_hand[1 - i], other_hand[1 - j], points[depth + 1]),
                ):
                    end += ((mine > theirs) - (mine < theirs)) * prize
                utility = float((end > 0) - (end < 0)) if is_win_loss else end / 2.0
                expected += weights[i] * utility
            scale = np.float32(expected)
            for k in range(value.size):
                value[k] += scale * likely[j, k]
        return
    for i in range(number):
        for j in range(number):
            lead = (own_hand[i] > other_hand[j]) - (own_hand[i] < other_hand[j])
            own_next, other_next = own * number + i, other * number + j
            if below.size:
                child = below[own_next, other_next]
            else:
                _value(
                    depth + 1, own_next, other_next,
                    outcomes * 3 + 1 - (lead if is_first else -lead),
                    difference + lead * points[depth],
                    policy, transformed, hands, points, kind, below, scratch,
                )  # fmt: skip
                child = scratch[depth + 1]
            weight = weights[i]
            for k in range(value.size):
                value[k] += weight * likely[j, k] * child[k]


@numba.njit(cache=True, boundscheck=False, error_model="numpy")
def values(depth, histories, policy, transformed, hands, points, kind, below, found):
    """What histories are worth if both go on, for each transformation of the opponent.

    Args:
      depth: how many rounds are over.
      histories: the player's and the opponent's numbers of orders, the number of outcomes, and by
        how many points the player leads, int64 [B] each.
      policy: the player's, as `Tables.policy`.
      transformed: the opponent's, as `Tables.transformed`.
      hands: for each number of rounds, int64 [orders, N - d], the cards that are left.
      points: int64 [N], the prizes.
      kind: whether the player is player 0, and whether games are won or lost.
      below: float32 [orders, orders, K], values after the next round; empty if there are none, and
        the walk goes to the end.
      found: float32 [B, K]; overwritten.
    """
    own, other, outcomes, difference = histories
    scratch = np.zeros((len(points), found.shape[1]), np.float32)
    for row in range(len(own)):
        _value(
            depth, own[row], other[row], outcomes[row], difference[row],
            policy, transformed, hands, points, kind, below, scratch,
        )  # fmt: skip
        found[row] = scratch[depth]
