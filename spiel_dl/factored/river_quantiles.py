"""The compiled loops of values before the last card: ranges by strength, and values from them.

To a network, a river is the order of hands. So a hand's place is its *quantile*: the mean over both
players of the share of the range that it beats, ties half. Between two hands there is as much of
both ranges together as their quantiles differ, so one function says all: player 0's share of the
weight at each quantile. Only here do cards that block each other not count.

Lines of betting are the last axis of arrays, padded to G, a multiple of `LANES`, so that the same
is done to eight of them at once.
"""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.factored.holdem_kernels import LANES

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def add_equities(sides, entries, equities):
    """Adds the boards' showdowns, 1, 0 or -1: `equities` float64 [L_0, L_1], by hands before.

    Hands with cards in common are not told apart from others.
    """
    own, other = sides
    for board in range(own.offset.size - 1):
        begin, end = other.offset[board], other.offset[board + 1]
        for k in range(own.offset[board], own.offset[board + 1]):
            row, strength = entries[0][k], own.strength[k]
            for j in range(begin, end):
                theirs = other.strength[j]
                equities[row, entries[1][j]] += (1.0 if strength > theirs else 0.0) - (
                    1.0 if strength < theirs else 0.0
                )


@_jit
def fill_shares(masses_0, masses_1, lane, row):
    """Player 0's share of the weight in each of B equal parts of the quantiles: `row` [B].

    Args:
      masses_0, masses_1: float64 [C, G], each player's range by classes of equal hands; sum 1.
      lane: the column.
      row: float32 [B], filled.
    """
    row[:] = 0.0
    size, low = row.size, 0.0
    for c in range(masses_0.shape[0]):
        own, other = masses_0[c, lane], masses_1[c, lane]
        high = low + 0.5 * (own + other) * size
        if own > 0.0:
            share, begin, part = own / (own + other), low, min(int(low), size - 1)
            while begin < high and part < size:
                end = min(high, part + 1.0)
                row[part] += share * (end - begin)
                begin = end
                part += 1
        low = high


@_jit
def shares_of_boards(sides, entries, classes, counts, ranges, num_lines, masses, rows):
    """Ranges of all boards and lines by classes, and shares by quantiles.

    Args:
      sides: both players' `Side` on the N last boards.
      entries: for each player, int64 [M_p], where each live hand stands in the ranges.
      classes: for each player, int64 [M_p], the class of each live hand.
      counts: int64 [N], how many classes each board has; at most C.
      ranges: for each player, float64 [L_p, G], times weights.
      num_lines: K, at most G.
      masses: float64 [N, 2, C, G], filled: each player's range by classes, of sum 1; uniform over
        hands if it is 0.
      rows: float32 [N, K, B], filled; see `fill_shares`.
    """
    total = np.empty(ranges[0].shape[1])
    for board in range(counts.size):
        for player in range(2):
            side, entry, of_hand = sides[player], entries[player], classes[player]
            own, range_ = masses[board, player], ranges[player]
            own[: counts[board]] = 0.0
            total[:] = 0.0
            begin, end = side.offset[board], side.offset[board + 1]
            for lanes in range(0, total.size, LANES):
                for k in range(begin, end):
                    for lane in range(lanes, lanes + LANES):
                        x = range_[entry[k], lane]
                        own[of_hand[k], lane] += x
                        total[lane] += x
            for lane in range(num_lines):
                if total[lane] > 0.0:
                    for c in range(counts[board]):
                        own[c, lane] /= total[lane]
                else:
                    for k in range(begin, end):
                        own[of_hand[k], lane] += 1.0 / (end - begin)
        for line in range(num_lines):
            here = masses[board, :, : counts[board]]
            fill_shares(here[0], here[1], line, rows[board, line])


@_jit
def _sum_until(sums, place):
    part = min(int(place), sums.size - 2)
    return sums[part] + (place - part) * (sums[part + 1] - sums[part])


@_jit
def _spread(masses_0, masses_1, lane, output, sums, of_class):
    """Means over classes (float64 [C, G], filled) of what is known of parts (float32 [B])."""
    size = output.size
    for k in range(size):
        sums[k + 1] = sums[k] + output[k]
    low = 0.0
    for c in range(masses_0.shape[0]):
        high = low + 0.5 * (masses_0[c, lane] + masses_1[c, lane]) * size
        # A class narrower than a part is taken to be as wide: so values change without steps.
        middle = 0.5 * (low + high)
        first = min(max(min(low, middle - 0.5), 0.0), size - 1.0)
        last = max(min(max(high, middle + 0.5), float(size)), first + 1.0)
        of_class[c, lane] = (_sum_until(sums, last) - _sum_until(sums, first)) / (last - first)
        low = high


@_jit
def add_betting(
    player, cards, sides, entries, classes, counts, hands, pairs, ranges, num_lines, masses,
    outputs, rows, cfv,
):  # fmt: skip
    """Adds what betting on all boards is worth to a player's hands, in pots.

    Args:
      player: whose.
      cards: int64 [N], the last card of each board.
      sides, entries, classes, counts, ranges, num_lines, masses: see `shares_of_boards`.
      hands: int64 [L, 2], the cards of the player's hands before the last card.
      pairs: int64 [cards + 1, cards + 1], where a hand of two cards stands in the opponent's
        range; L_-p: nowhere.
      outputs: float32 [N, K, B], by quantiles, for one who has all of the opponent's range against
        it.
      rows: int64 [M_p], the row of `cfv` to which what each live hand gets is added.
      cfv: float64 [R, G], added to, without own weights.
    """
    own, entry, of_hand = sides[player], entries[player], classes[player]
    others = ranges[1 - player]
    width = others.shape[1]
    # A last row of zeros: no hand.
    weight = np.zeros((others.shape[0] + 1, width))
    weight[: others.shape[0]] = others
    total, by_card = np.zeros(width), np.zeros((pairs.shape[0], width))
    for first in range(pairs.shape[0] - 1):
        for second in range(first + 1, pairs.shape[0]):
            row = pairs[first, second]
            if row < others.shape[0]:
                total += others[row]
                by_card[first] += others[row]
                if second < pairs.shape[0] - 1:
                    by_card[second] += others[row]
    # The opponent's hands without a card in common, before the last card.
    free = np.empty((hands.shape[0], width))
    for k in range(hands.shape[0]):
        first, second = hands[k]
        free[k] = total - by_card[first] - by_card[second]
        if second < pairs.shape[0] - 1:
            free[k] += weight[pairs[first, second]]
    of_class = np.zeros((masses.shape[2], width))
    sums = np.zeros(outputs.shape[2] + 1)
    for board in range(counts.size):
        card = cards[board]
        for line in range(num_lines):
            here = masses[board, :, : counts[board]]
            _spread(here[0], here[1], line, outputs[board, line], sums, of_class)
        for lanes in range(0, width, LANES):
            for k in range(own.offset[board], own.offset[board + 1]):
                row, c, to = entry[k], of_hand[k], rows[k]
                first, second = hands[row]
                one, two = pairs[first, card], pairs[second, card]
                for lane in range(lanes, lanes + LANES):
                    left = free[row, lane] - by_card[card, lane]
                    left += weight[one, lane] + weight[two, lane]
                    cfv[to, lane] += left * of_class[c, lane]
