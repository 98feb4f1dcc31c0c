"""Compiled loops over matrices whose blocks repeat. See `merged`."""

from __future__ import annotations

import numpy as np

from spiel_dl.games.compiled import kernel

_MOST_LEVELS = 64
# Columns of `edges`.
_CHILD, _STEP, _LABEL = 0, 1, 3


@kernel
def list_all(first_edge, edges, first_entry, entries, is_plus, below, first_below, middle_below):
    """Lists all entries of blocks: their own, and those of their inner blocks.

    Args:
      first_edge, edges, first_entry, entries, is_plus: see `Expansion`.
      below, first_below, middle_below: the returned arrays of the next level.

    Returns:
      listed: int32 [K, 2], entries relative to the block; each block's positive ones come first.
      first, middle: int64 [N + 1] and [N], a block's first entry, and its first negative one.
    """
    num_blocks = first_edge.size - 1
    first, middle = np.zeros(num_blocks + 1, np.int64), np.zeros(num_blocks, np.int64)
    for block in range(num_blocks):
        num_plus, num_minus = 0, first_entry[block + 1] - first_entry[block]
        if is_plus:
            num_plus, num_minus = num_minus, 0
        for edge in range(first_edge[block], first_edge[block + 1]):
            child = edges[edge, _CHILD]
            num_plus += middle_below[child] - first_below[child]
            num_minus += first_below[child + 1] - middle_below[child]
        middle[block] = first[block] + num_plus
        first[block + 1] = middle[block] + num_minus
    listed = np.empty((first[num_blocks], 2), np.int32)
    for block in range(num_blocks):
        plus, minus = first[block], middle[block]
        for entry in range(first_entry[block], first_entry[block + 1]):
            if is_plus:
                listed[plus] = entries[entry]
                plus += 1
            else:
                listed[minus] = entries[entry]
                minus += 1
        for edge in range(first_edge[block], first_edge[block + 1]):
            child, row, column = edges[edge, _CHILD], edges[edge, _STEP], edges[edge, _STEP + 1]
            for entry in range(first_below[child], middle_below[child]):
                listed[plus, 0], listed[plus, 1] = below[entry, 0] + row, below[entry, 1] + column
                plus += 1
            for entry in range(middle_below[child], first_below[child + 1]):
                listed[minus, 0], listed[minus, 1] = below[entry, 0] + row, below[entry, 1] + column
                minus += 1
    return listed, first, middle


@kernel
def add_products(matrix, split, part, side, offsets, source, target):
    """Adds a part of the product of a matrix, or of its transpose, and a vector.

    Args:
      matrix: a `MergedMatrix`.
      split: the level whose edges' labels are the parts of the blocks below them. Entries of this
        level and of those above belong to part 0.
      part: a label.
      side: 0: the target has the rows and the source the columns; 1: the other way around.
      offsets: int64 [2], the first row and column of the whole matrix.
      source: float64 vector.
      target: float64 vector, updated.
    """
    # Not inside of the loop, where numba would count references.
    first_edge, edges = matrix.first_edge, matrix.edges
    first_entry, middle, entries = matrix.first_entry, matrix.middle, matrix.entries
    block, edge = np.zeros(_MOST_LEVELS, np.int64), np.zeros(_MOST_LEVELS, np.int64)
    target_first, source_first = np.zeros(_MOST_LEVELS, np.int64), np.zeros(_MOST_LEVELS, np.int64)
    target_first[0], source_first[0] = offsets[side], offsets[1 - side]
    level, is_new = 0, True
    while level >= 0:
        current, row, column = block[level], target_first[level], source_first[level]
        if is_new:
            is_new, edge[level] = False, first_edge[current]
            if level > split or part == 0:
                for entry in range(first_entry[current], middle[current]):
                    target[row + entries[entry, side]] += source[column + entries[entry, 1 - side]]
                for entry in range(middle[current], first_entry[current + 1]):
                    target[row + entries[entry, side]] -= source[column + entries[entry, 1 - side]]
        next_edge = edge[level]
        if next_edge == first_edge[current + 1]:
            level -= 1
            continue
        edge[level] += 1
        if level == split and edges[next_edge, _LABEL] != part:
            continue
        level, is_new = level + 1, True
        block[level] = edges[next_edge, _CHILD]
        target_first[level] = row + edges[next_edge, _STEP + side]
        source_first[level] = column + edges[next_edge, _STEP + 1 - side]
