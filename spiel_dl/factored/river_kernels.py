"""The compiled loops of values before the last card: ranges by strength, and values from them.

A river matters to a network only by the order of hands. So a hand's place is its *quantile*: the
mean over both players of the share of the range that it beats, ties half. Between two hands there
is as much of both ranges together as their quantiles differ, so one function says all: player 0's
share of the weight at each quantile. Cards that block each other are left out of this alone.
"""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.factored.holdem_kernels import LANES, _folds, _showdowns

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def add_masses(side, board, entry, classes, ranges, lanes, masses):
    """Sums a player's ranges on a board by classes of hands of the same strength, and scales them.

    Args:
      side: `Side` of the player on the last boards.
      board: which of them.
      entry: int64 [M], where each live hand stands in the ranges.
      classes: int64 [M], of each live hand.
      ranges: float64 [L, G], times weights.
      lanes: the first of `LANES` columns.
      masses: float64 [C, LANES], filled; each column sums to 1, as if uniform where it was 0.
    """
    masses[:] = 0.0
    total = np.zeros(LANES)
    for k in range(side.offset[board], side.offset[board + 1]):
        row, c = entry[k], classes[k]
        for lane in range(LANES):
            x = ranges[row, lanes + lane]
            masses[c, lane] += x
            total[lane] += x
    for lane in range(LANES):
        if total[lane] > 0.0:
            masses[:, lane] /= total[lane]
            continue
        for k in range(side.offset[board], side.offset[board + 1]):
            masses[classes[k], lane] += 1.0 / (side.offset[board + 1] - side.offset[board])


@_jit
def fill_shares(masses_0, masses_1, lane, row):
    """Player 0's share of the weight in each of B equal parts of the quantiles: `row` [B]."""
    row[:] = 0.0
    size, low = row.size, 0.0
    for c in range(masses_0.shape[0]):
        x, y = masses_0[c, lane], masses_1[c, lane]
        width = 0.5 * (x + y) * size
        if width <= 0.0:
            continue
        high = low + width
        part = min(int(low), size - 1)
        if x > 0.0:
            # `x / (x + y)` in all of the class.
            share, begin = x / (x + y), low
            while begin < high and part < size:
                end = min(high, part + 1.0)
                row[part] += share * (end - begin)
                begin = end
                part += 1
        low = high


@_jit
def _sums(values, sums):
    """Sums of the first entries."""
    sums[0] = 0.0
    for k in range(values.size):
        sums[k + 1] = sums[k] + values[k]


@_jit
def _sum_until(sums, place):
    part = min(int(place), sums.size - 2)
    return sums[part] + (place - part) * (sums[part + 1] - sums[part])


@_jit
def spread(masses_0, masses_1, lane, output, sums, of_class):
    """What a network says of quantiles, by classes, so that both players' sum is 0.

    Args:
      masses_0, masses_1: float64 [C, LANES].
      lane: the column.
      output: float32 [2 * B], of player 0 and 1.
      sums: float64 [2, B + 1], work space.
      of_class: float64 [2, C, LANES], filled.
    """
    size = output.size // 2
    _sums(output[:size], sums[0])
    _sums(output[size:], sums[1])
    low, total = 0.0, 0.0
    for c in range(masses_0.shape[0]):
        x, y = masses_0[c, lane], masses_1[c, lane]
        high = low + 0.5 * (x + y) * size
        # The mean over a class, or over the width of a part if that is more.
        middle = 0.5 * (low + high)
        first = min(max(min(low, middle - 0.5), 0.0), size - 1.0)
        last = max(min(max(high, middle + 0.5), float(size)), first + 1.0)
        for player in range(2):
            mean = (_sum_until(sums[player], last) - _sum_until(sums[player], first)) / (
                last - first
            )
            of_class[player, c, lane] = mean
            total += mean * (x if player == 0 else y)
        low = high
    of_class[:, :, lane] -= 0.5 * total


@_jit
def add_values(
    own, other, board, own_entry, other_entry, own_classes, other_ranges, lanes, worth, residual,
    work, cfv,
):  # fmt: skip
    """Adds a board's values to a player's: showdowns, and what a network adds to them.

    Args:
      own, other: `Side` on the last boards.
      board: which of them.
      own_entry, other_entry: int64 [M_p], where each live hand stands in ranges and values.
      own_classes: int64 [M].
      other_ranges: float64 [L, G], times weights.
      lanes: the first of `LANES` columns.
      worth: float64 [G], what each player has in, times chance's part.
      residual: float64 [C, LANES], in pots.
      work: (total, by_card, reach, shown, free), see `holdem_kernels`.
      cfv: float64 [L, G], added to, without own weights.
    """
    total, by_card, reach, shown, free = work
    begin, end = own.offset[board], own.offset[board + 1]
    other_begin, other_end = other.offset[board], other.offset[board + 1]
    own_hands, other_hands = own.hand[begin:end], other.hand[other_begin:other_end]
    for k in range(other_begin, other_end):
        for lane in range(LANES):
            reach[k - other_begin, lane] = other_ranges[other_entry[k], lanes + lane]
    _showdowns(
        own, other, own_hands, own.strength[begin:end], other_hands,
        other.strength[other_begin:other_end], reach, shown, total, by_card,
    )  # fmt: skip
    _folds(own, other, own_hands, own.same[begin:end], other_hands, reach, free, total, by_card)
    for k in range(own_hands.size):
        row, c = own_entry[begin + k], own_classes[begin + k]
        for lane in range(LANES):
            cfv[row, lanes + lane] += worth[lanes + lane] * (
                shown[k, lane] + 2.0 * residual[c, lane] * free[k, lane]
            )


@_jit
def shares_of_boards(sides, entries, classes, counts, ranges, num_lines, rows):
    """Fills `fill_shares` of all boards and lines: `rows` float32 [N, K, B]."""
    masses = np.empty((2, counts.max(), LANES))
    for board in range(counts.size):
        for lanes in range(0, num_lines, LANES):
            for player in range(2):
                add_masses(
                    sides[player], board, entries[player], classes[player], ranges[player], lanes,
                    masses[player, : counts[board]],
                )  # fmt: skip
            for lane in range(min(LANES, num_lines - lanes)):
                fill_shares(
                    masses[0, : counts[board]], masses[1, : counts[board]], lane,
                    rows[board, lanes + lane],
                )  # fmt: skip


@_jit
def values_of_boards(
    player, num_cards, sides, entries, classes, counts, ranges, num_lines, worth, outputs, cfv
):
    """Adds a player's values of all boards and lines to `cfv`, see `add_values`.

    Args:
      outputs: float32 [N, K, 2 * B], what the network says; with B = 0, nothing.
      cfv: float64 [L, G].
    """
    own, other = sides[player], sides[1 - player]
    masses = np.empty((2, counts.max(), LANES))
    residual = np.zeros((2, counts.max(), LANES))
    sums = np.empty((2, outputs.shape[2] // 2 + 1))
    work = (
        np.zeros(LANES), np.zeros((num_cards + 1, LANES)), np.empty((other.weights.size, LANES)),
        np.empty((own.weights.size, LANES)), np.empty((own.weights.size, LANES)),
    )  # fmt: skip
    for board in range(counts.size):
        here = slice(0, counts[board])
        for lanes in range(0, num_lines, LANES):
            if outputs.shape[2] > 0:
                for each in range(2):
                    add_masses(
                        sides[each], board, entries[each], classes[each], ranges[each], lanes,
                        masses[each, here],
                    )  # fmt: skip
                for lane in range(min(LANES, num_lines - lanes)):
                    spread(
                        masses[0, here], masses[1, here], lane, outputs[board, lanes + lane], sums,
                        residual[:, here],
                    )  # fmt: skip
            add_values(
                own, other, board, entries[player], entries[1 - player], classes[player],
                ranges[1 - player], lanes, worth, residual[player], work, cfv,
            )  # fmt: skip
