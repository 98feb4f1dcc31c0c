"""The compiled loops of hold'em. See `holdem`.

Ends of the betting are processed in groups of `LANES`, whose numbers are adjacent in memory, so
that compilers vectorise loops over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import kernel

LANES = 8


class Ends(NamedTuple):
    """Ends of the betting in a round, from one player's side; T, a multiple of `LANES`.

    A player's last sequence before an end is first + (o + q) * step, where o is the board's offset
    among the player's live hands and q the hand's position. With a step of 0, that is the empty
    sequence.

    Attributes:
      own_first, own_step: int64 [T], sequences of the player.
      other_first, other_step: int64 [T], sequences of the opponent.
      worth: float64 [T], the player's utility of a win, or of the fold, times chance's probability.
    """

    own_first: np.ndarray
    own_step: np.ndarray
    other_first: np.ndarray
    other_step: np.ndarray
    worth: np.ndarray


class Side(NamedTuple):
    """A player's hands and the live ones of a round, see `holdem_deals`."""

    cards: np.ndarray
    weights: np.ndarray
    offset: np.ndarray
    hand: np.ndarray
    position: np.ndarray
    strength: np.ndarray
    same: np.ndarray


@kernel
def _read(side, board, hands, plan, first, step, reach):
    """Hands' weights times the plan of the lanes' last sequences on a board: `reach` [n, 8]."""
    offset, position = side.offset[board], side.position[board]
    start = np.empty(LANES, np.int64)
    for lane in range(LANES):
        start[lane] = first[lane] + offset * step[lane]
    for k in range(hands.size):
        weight, place = side.weights[hands[k]], position[hands[k]]
        for lane in range(LANES):
            reach[k, lane] = weight * plan[start[lane] + place * step[lane]]


@kernel
def _write(side, board, hands, values, first, step, worth, cfv):
    """Adds values ([n, 8]) times weights to the lanes' last sequences; returns the empty one's."""
    offset, position = side.offset[board], side.position[board]
    root = 0.0
    for lane in range(LANES):
        if step[lane] == 0 and worth[lane] != 0.0:
            for k in range(hands.size):
                root += worth[lane] * side.weights[hands[k]] * values[k, lane]
    start = np.empty(LANES, np.int64)
    for lane in range(LANES):
        start[lane] = first[lane] + offset * step[lane]
    for k in range(hands.size):
        weight, place = side.weights[hands[k]], position[hands[k]]
        for lane in range(LANES):
            if step[lane] > 0:
                cfv[start[lane] + place * step[lane]] += weight * worth[lane] * values[k, lane]
    return root


@kernel
def _add(reach, k, first_card, second_card, total, by_card):
    """Adds the reach of a hand to the total and to the sums of its cards."""
    for lane in range(LANES):
        hand_reach = reach[k, lane]
        total[lane] += hand_reach
        by_card[first_card, lane] += hand_reach
        by_card[second_card, lane] += hand_reach


@kernel
def _clear(total, by_card):
    total[:] = 0.0
    by_card[:] = 0.0


@kernel
def _folds(own, other, own_hands, own_same, other_hands, reach, values, total, by_card):
    """The weight of the opponent's hands without a card in common: `values` [n, 8]."""
    no_card = by_card.shape[0] - 1
    _clear(total, by_card)
    for k in range(other_hands.size):
        cards = other.cards[other_hands[k]]
        _add(reach, k, cards[0], cards[1], total, by_card)
    by_card[no_card] = 0.0
    for k in range(own_hands.size):
        first_card, second_card = own.cards[own_hands[k]]
        for lane in range(LANES):
            values[k, lane] = total[lane] - by_card[first_card, lane] - by_card[second_card, lane]
        if own_same[k] >= 0:  # It was subtracted twice.
            for lane in range(LANES):
                values[k, lane] += reach[own_same[k], lane]


@kernel
def _showdowns(
    own, other, own_hands, own_strength, other_hands, other_strength, reach, values, total, by_card
):
    """The weight of the opponent's weaker hands less that of stronger ones: `values` [n, 8].

    Both players' hands are in ascending order. A hand of the same cards is neither.
    """
    no_card = by_card.shape[0] - 1
    _clear(total, by_card)
    j = 0
    for k in range(own_hands.size):
        while j < other_hands.size and other_strength[j] < own_strength[k]:
            cards = other.cards[other_hands[j]]
            _add(reach, j, cards[0], cards[1], total, by_card)
            by_card[no_card] = 0.0
            j += 1
        first_card, second_card = own.cards[own_hands[k]]
        for lane in range(LANES):
            values[k, lane] = total[lane] - by_card[first_card, lane] - by_card[second_card, lane]
    _clear(total, by_card)
    j = other_hands.size - 1
    for k in range(own_hands.size - 1, -1, -1):
        while j >= 0 and other_strength[j] > own_strength[k]:
            cards = other.cards[other_hands[j]]
            _add(reach, j, cards[0], cards[1], total, by_card)
            by_card[no_card] = 0.0
            j -= 1
        first_card, second_card = own.cards[own_hands[k]]
        for lane in range(LANES):
            values[k, lane] -= total[lane] - by_card[first_card, lane] - by_card[second_card, lane]


@kernel
def add_ends(begin, end, num_cards, folds, showdowns, sides, last_sides, last, plan, cfv, root):
    """Adds the payoffs of the ends of a round on some boards.

    Args:
      begin, end: the range of boards.
      num_cards: cards in the deck.
      folds, showdowns: `Ends`.
      sides: `Side` of the player and of the opponent on the round's boards.
      last_sides: the same on the last round's boards.
      last: int64 [N + 1], the first of the last round's boards that follow each one.
      plan: float64 [S_-p], the opponent's realization plan.
      cfv: float64 [S_p], added to.
      root: float64 [N], the empty sequence's payoffs by boards, added to.
    """
    (own, other), (own_last, other_last) = sides, last_sides
    # The last row stands for no card.
    total, by_card = np.zeros(LANES), np.zeros((num_cards + 1, LANES))
    reach = np.empty((other.weights.size, LANES))
    values = np.empty((own.weights.size, LANES))
    for board in range(begin, end):
        own_part = slice(own.offset[board], own.offset[board + 1])
        own_hands, own_same = own.hand[own_part], own.same[own_part]
        other_hands = other.hand[other.offset[board] : other.offset[board + 1]]
        for start in range(0, folds.worth.size, LANES):
            lanes = slice(start, start + LANES)
            _read(
                other, board, other_hands, plan,
                folds.other_first[lanes], folds.other_step[lanes], reach,
            )  # fmt: skip
            _folds(own, other, own_hands, own_same, other_hands, reach, values, total, by_card)
            root[board] += _write(
                own, board, own_hands, values,
                folds.own_first[lanes], folds.own_step[lanes], folds.worth[lanes], cfv,
            )  # fmt: skip
        for final in range(last[board], last[board + 1]):
            own_part = slice(own_last.offset[final], own_last.offset[final + 1])
            other_part = slice(other_last.offset[final], other_last.offset[final + 1])
            own_hands, other_hands = own_last.hand[own_part], other_last.hand[other_part]
            for start in range(0, showdowns.worth.size, LANES):
                lanes = slice(start, start + LANES)
                _read(
                    other, board, other_hands, plan,
                    showdowns.other_first[lanes], showdowns.other_step[lanes], reach,
                )  # fmt: skip
                _showdowns(
                    own_last, other_last, own_hands, own_last.strength[own_part],
                    other_hands, other_last.strength[other_part], reach, values, total, by_card,
                )  # fmt: skip
                root[board] += _write(
                    own, board, own_hands, values,
                    showdowns.own_first[lanes], showdowns.own_step[lanes],
                    showdowns.worth[lanes], cfv,
                )  # fmt: skip
