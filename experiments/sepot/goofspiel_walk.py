"""The compiled loops of `sepot.goofspiel_tables`: walks through pairs of orders of cards.

An order's continuations follow each other in the numbers of the longer orders, so that loops over
numbers are loops over continuations.
"""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy")
# Sums may be reordered, or they would not compile to vector instructions.
_sum_jit = numba.njit(
    cache=True, boundscheck=False, error_model="numpy", fastmath={"reassoc", "contract"}
)


@_jit
def _lead(own_card, other_card):
    return (own_card > other_card) - (own_card < other_card)


@_jit
def _rounds(start, end, own_order, other_order, points, is_first, outcomes, difference):
    """Outcomes and the player's lead after the rounds from `start` to before `end`."""
    for number in range(start, end):
        lead = _lead(own_order[number], other_order[number])
        outcomes = outcomes * 3 + 1 - (lead if is_first else -lead)
        difference += lead * points[number]
    return outcomes, difference


@_jit
def _last_utility(i, j, own_hand, other_hand, points, is_win_loss, difference):
    """The utility of whoever plays its i-th of two last cards against the j-th."""
    end = difference + _lead(own_hand[i], other_hand[j]) * points[-2]
    end += _lead(own_hand[1 - i], other_hand[1 - j]) * points[-1]
    return float((end > 0) - (end < 0)) if is_win_loss else end / 2.0


@_sum_jit
def _add(value, scale, likely, child):
    for k in range(value.size):
        value[k] += scale * likely[k] * child[k]


@_sum_jit
def _add_last(value, weights, likely, own_hand, other_hand, points, is_win_loss, difference):
    """What both players' two last cards are worth."""
    for j in range(2):
        expected = 0.0
        for i in range(2):
            utility = _last_utility(i, j, own_hand, other_hand, points, is_win_loss, difference)
            expected += weights[i] * utility
        scale = np.float32(expected)
        for k in range(value.size):
            value[k] += scale * likely[j, k]


@_jit
def values(
    depth, histories, policy, transformed, orders, hands, points, kind, below, found
):  # fmt: skip
    """What histories are worth if both go on, for each transformation of the opponent.

    Args:
      depth: how many rounds are over.
      histories: the player's and the opponent's numbers of orders, the number of outcomes, and by
        how many points the player leads, int64 [B] each.
      policy: the player's, a `PolicyTable`.
      transformed: the opponent's, as `goofspiel_tables.tables` has it.
      orders, hands, points: the deck's; tuples of arrays.
      kind: whether the player is player 0, and whether games are won or lost.
      below: float32 [orders, orders, K], values after the next round; empty if there are none, and
        the walk goes to the end.
      found: float32 [B, K]; overwritten.
    """
    is_first, is_win_loss = kind
    last = len(points) - 2
    deepest = depth if below.size else last
    most = 1
    for level in range(depth, deepest):
        most *= len(points) - level
    # Values after the rounds of one level, by the continuations of both, and of the level above.
    next_values = np.zeros((most, most, found.shape[1]), np.float32)
    level_values = np.zeros((most, most, found.shape[1]), np.float32)
    for row in range(len(found)):
        first, second, outcomes, difference = (
            histories[0][row], histories[1][row], histories[2][row], histories[3][row]
        )  # fmt: skip
        count = most
        for level in range(deepest, depth - 1, -1):
            number = len(points) - level
            for x in range(count):
                own = first * count + x
                for y in range(count):
                    other = second * count + y
                    code, lead = _rounds(
                        depth, level, orders[level][own], orders[level][other], points, is_first,
                        outcomes, difference,
                    )  # fmt: skip
                    weights, likely = policy[level][own, code], transformed[level][other, code]
                    value = level_values[x, y]
                    value[:] = 0.0
                    if level == last:
                        _add_last(
                            value, weights, likely, hands[level][own], hands[level][other], points,
                            is_win_loss, lead,
                        )  # fmt: skip
                        continue
                    for i in range(number):
                        for j in range(number):
                            if below.size:
                                child = below[own * number + i, other * number + j]
                            else:
                                child = next_values[x * number + i, y * number + j]
                            _add(value, weights[i], likely[j], child)
            level_values, next_values = next_values, level_values
            if level > depth:
                count //= len(points) - level + 1
        found[row] = next_values[0, 0]


@_jit
def last_values(reach, policy, orders, hands, points, kind, found):
    """Counterfactual values of a player's cards at its last decisions.

    Args:
      reach: float64 [orders, 3^d], the opponent's own of its last decisions.
      policy: float32 [orders, 3^d, 2], its policy there.
      orders, hands: int64 [orders, d] and [orders, 2], the deck's.
      points, kind: as in `values`.
      found: float64 [orders, 3^d, 2], zeros; overwritten.
    """
    is_first, is_win_loss = kind
    for own in range(len(orders)):
        for other in range(len(orders)):
            code, lead = _rounds(
                0, orders.shape[1], orders[own], orders[other], points, is_first, 0, 0
            )
            weight = reach[other, code]
            if weight == 0.0:
                continue
            for i in range(2):
                for j in range(2):
                    utility = _last_utility(
                        i, j, hands[own], hands[other], points, is_win_loss, lead
                    )
                    found[own, code, i] += weight * policy[other, code, j] * utility
