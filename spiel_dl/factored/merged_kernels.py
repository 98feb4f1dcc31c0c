"""Compiled loops over matrices whose blocks repeat. See `merged`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)

_MOST_LEVELS = 64
# Columns of `edges`.
_CHILD, _STEP, _LABEL = 0, 1, 3


@_jit
def list_whole(first_edge, edges, first_entry, entries, is_plus, below, first_below, middle_below):
    """All entries of blocks: their own ones, and those of the blocks within.

    Args:
      first_edge, edges, first_entry, entries, is_plus: of a `Level`.
      below, first_below, middle_below: entries of the blocks of the next level, as returned.

    Returns:
      whole: int32 [K, 2], relative to the block; of each block, first the positive ones.
      first, middle: int64 [N + 1] and [N], where a block's entries begin, and its negative ones.
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
    whole = np.empty((first[num_blocks], 2), np.int32)
    for block in range(num_blocks):
        plus, minus = first[block], middle[block]
        for entry in range(first_entry[block], first_entry[block + 1]):
            if is_plus:
                whole[plus] = entries[entry]
                plus += 1
            else:
                whole[minus] = entries[entry]
                minus += 1
        for edge in range(first_edge[block], first_edge[block + 1]):
            child, row, column = edges[edge, _CHILD], edges[edge, _STEP], edges[edge, _STEP + 1]
            for entry in range(first_below[child], middle_below[child]):
                whole[plus, 0], whole[plus, 1] = below[entry, 0] + row, below[entry, 1] + column
                plus += 1
            for entry in range(middle_below[child], first_below[child + 1]):
                whole[minus, 0], whole[minus, 1] = below[entry, 0] + row, below[entry, 1] + column
                minus += 1
    return whole, first, middle


@_jit
def add_products(matrix, split, part, side, begins, source, target):
    """Adds a part of the product of a matrix, or of its transpose, and a vector.

    Args:
      matrix: a `MergedMatrix`.
      split: the level whose edges say by their labels which part follows them. What is above and
        in it belongs to part 0.
      part: a label.
      side: 0: the target stands for rows and the source for columns; 1: the other way around.
      begins: int64 [2], the first row and column of the whole matrix.
      source: float64 vector.
      target: float64 vector, updated.
    """
    # Not inside of the loop, where numba would count references.
    first_edge, edges = matrix.first_edge, matrix.edges
    first_entry, middle, entries = matrix.first_entry, matrix.middle, matrix.entries
    block, edge = np.zeros(_MOST_LEVELS, np.int64), np.zeros(_MOST_LEVELS, np.int64)
    to, of = np.zeros(_MOST_LEVELS, np.int64), np.zeros(_MOST_LEVELS, np.int64)
    to[0], of[0] = begins[side], begins[1 - side]
    level, enters = 0, True
    while level >= 0:
        own, into, start = block[level], to[level], of[level]
        if enters:
            enters, edge[level] = False, first_edge[own]
            if level > split or part == 0:
                for entry in range(first_entry[own], middle[own]):
                    target[into + entries[entry, side]] += source[start + entries[entry, 1 - side]]
                for entry in range(middle[own], first_entry[own + 1]):
                    target[into + entries[entry, side]] -= source[start + entries[entry, 1 - side]]
        following = edge[level]
        if following == first_edge[own + 1]:
            level -= 1
            continue
        edge[level] += 1
        if level == split and edges[following, _LABEL] != part:
            continue
        level, enters = level + 1, True
        block[level] = edges[following, _CHILD]
        to[level] = into + edges[following, _STEP + side]
        of[level] = start + edges[following, _STEP + 1 - side]
