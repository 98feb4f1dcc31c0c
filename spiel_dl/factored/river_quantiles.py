"""Compiled loops for river networks: ranges by quantiles of strength, and values from them.

A network sees only the order of hands on a river. A hand's *quantile* is the mean over both players
of the share of the range that it beats, ties half. The difference of two hands' quantiles is the
mean of both ranges' weights between them, so player 0's share of the weight at each quantile
describes both ranges. Only quantiles ignore card removal.

Lines of betting are the last axis of arrays, padded to G, a multiple of `LANES`, so that compilers
vectorise loops over them.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.factored.holdem_kernels import LANES
from spiel_dl.games.compiled import kernel


@kernel
def add_equities(sides, entries, equities):
    """Adds the boards' showdowns, 1, 0 or -1, to `equities`: float64 [L_0, L_1], by turn hands.

    Hands with cards in common count as well.
    """
    own, other = sides
    for board in range(own.offset.size - 1):
        begin, end = other.offset[board], other.offset[board + 1]
        for k in range(own.offset[board], own.offset[board + 1]):
            row, strength = entries[0][k], own.strength[k]
            for j in range(begin, end):
                other_strength = other.strength[j]
                equities[row, entries[1][j]] += (1.0 if strength > other_strength else 0.0) - (
                    1.0 if strength < other_strength else 0.0
                )


@kernel
def fill_shares(masses_0, masses_1, lane, row):
    """Player 0's share of the weight in each of B equal parts of the quantiles: `row` [B].

    Args:
      masses_0, masses_1: float64 [C, G], each player's range by classes of equal strength; sum 1.
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


@kernel
def shares_of_boards(sides, entries, classes, counts, ranges, num_lines, masses, rows):
    """Fills the ranges of all boards and lines by classes, and shares by quantiles.

    Args:
      sides: both players' `Side` on the N last boards.
      entries: for each player, int64 [M_p], the row in its range of each live hand.
      classes: for each player, int64 [M_p], the class of each live hand.
      counts: int64 [N], the number of classes of each board; at most C.
      ranges: for each player, float64 [L_p, G], times weights.
      num_lines: K, at most G.
      masses: float64 [N, 2, C, G], filled: each player's range by classes, of sum 1; uniform over
        hands if it is 0.
      rows: float32 [N, K, B], filled; see `fill_shares`.
    """
    total = np.empty(ranges[0].shape[1])
    for board in range(counts.size):
        for player in range(2):
            side, entry, hand_class = sides[player], entries[player], classes[player]
            class_masses, range_ = masses[board, player], ranges[player]
            class_masses[: counts[board]] = 0.0
            total[:] = 0.0
            begin, end = side.offset[board], side.offset[board + 1]
            for lanes in range(0, total.size, LANES):
                for k in range(begin, end):
                    for lane in range(lanes, lanes + LANES):
                        weight = range_[entry[k], lane]
                        class_masses[hand_class[k], lane] += weight
                        total[lane] += weight
            for lane in range(num_lines):
                if total[lane] > 0.0:
                    for c in range(counts[board]):
                        class_masses[c, lane] /= total[lane]
                else:
                    for k in range(begin, end):
                        class_masses[hand_class[k], lane] += 1.0 / (end - begin)
        for line in range(num_lines):
            board_masses = masses[board, :, : counts[board]]
            fill_shares(board_masses[0], board_masses[1], line, rows[board, line])


@kernel
def _sum_until(sums, place):
    part = min(int(place), sums.size - 2)
    return sums[part] + (place - part) * (sums[part + 1] - sums[part])


@kernel
def _spread(masses_0, masses_1, lane, output, sums, of_class):
    """Fills `of_class` (float64 [C, G]) with means over classes of `output` (float32 [B])."""
    size = output.size
    for k in range(size):
        sums[k + 1] = sums[k] + output[k]
    low = 0.0
    for c in range(masses_0.shape[0]):
        high = low + 0.5 * (masses_0[c, lane] + masses_1[c, lane]) * size
        # A class narrower than a part is widened to one, so that values are continuous.
        middle = 0.5 * (low + high)
        first = min(max(min(low, middle - 0.5), 0.0), size - 1.0)
        last = max(min(max(high, middle + 0.5), float(size)), first + 1.0)
        of_class[c, lane] = (_sum_until(sums, last) - _sum_until(sums, first)) / (last - first)
        low = high


@kernel
def add_betting(
    player, cards, sides, entries, classes, counts, hands, pairs, ranges, num_lines, masses,
    outputs, rows, cfv,
):  # fmt: skip
    """Adds the value of betting on all boards to a player's hands, in pots.

    Args:
      player: the player.
      cards: int64 [N], the last card of each board.
      sides, entries, classes, counts, ranges, num_lines, masses: see `shares_of_boards`.
      hands: int64 [L, 2], the cards of the player's hands before the last card.
      pairs: int64 [cards + 1, cards + 1], the row of a hand of two cards in the opponent's range;
        L_-p: none.
      outputs: float32 [N, K, B], by quantiles, for a hand that blocks none of the opponent's range.
      rows: int64 [M_p], the row of `cfv` to which each live hand's value is added.
      cfv: float64 [R, G], added to, without own weights.
    """
    side, entry, hand_class = sides[player], entries[player], classes[player]
    opponent_range = ranges[1 - player]
    width = opponent_range.shape[1]
    # A last row of zeros: no hand.
    weight = np.zeros((opponent_range.shape[0] + 1, width))
    weight[: opponent_range.shape[0]] = opponent_range
    total, by_card = np.zeros(width), np.zeros((pairs.shape[0], width))
    for first in range(pairs.shape[0] - 1):
        for second in range(first + 1, pairs.shape[0]):
            row = pairs[first, second]
            if row < opponent_range.shape[0]:
                total += opponent_range[row]
                by_card[first] += opponent_range[row]
                if second < pairs.shape[0] - 1:
                    by_card[second] += opponent_range[row]
    # The opponent's hands without a card in common, before the last card.
    compatible = np.empty((hands.shape[0], width))
    for k in range(hands.shape[0]):
        first, second = hands[k]
        compatible[k] = total - by_card[first] - by_card[second]
        if second < pairs.shape[0] - 1:
            compatible[k] += weight[pairs[first, second]]
    of_class = np.zeros((masses.shape[2], width))
    sums = np.zeros(outputs.shape[2] + 1)
    for board in range(counts.size):
        card = cards[board]
        for line in range(num_lines):
            board_masses = masses[board, :, : counts[board]]
            _spread(board_masses[0], board_masses[1], line, outputs[board, line], sums, of_class)
        for lanes in range(0, width, LANES):
            for k in range(side.offset[board], side.offset[board + 1]):
                row, c, target = entry[k], hand_class[k], rows[k]
                first, second = hands[row]
                first_pair, second_pair = pairs[first, card], opponent_range.shape[0]
                if second < pairs.shape[0] - 1:  # The opponent's hand may have two cards, too.
                    second_pair = pairs[second, card]
                for lane in range(lanes, lanes + LANES):
                    mass = compatible[row, lane] - by_card[card, lane]
                    mass += weight[first_pair, lane] + weight[second_pair, lane]
                    cfv[target, lane] += mass * of_class[c, lane]
