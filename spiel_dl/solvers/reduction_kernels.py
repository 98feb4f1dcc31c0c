"""The compiled loops of `solvers.reduction`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def lift(treeplex, num_columns, columns, values, following, head):
    """Lifts the entries of rows that are linked lists, in later infosets first.

    Args:
      treeplex: TreeplexArrays of the player whose sequences are the rows.
      num_columns: of the matrix.
      columns, values: int32 [n] and float64 [n], of each entry.
      following: int32 [n], the next entry of the same row; -1: none. Updated, as values are.
      head: int32 [S], each row's first entry; -1: none. Updated.
    """
    # Of each column: the last row that has an entry there, and this entry; the last infoset that
    # has one, in how many of its rows, and the first of them.
    row, entry = np.full(num_columns, -1, np.int32), np.empty(num_columns, np.int32)
    infoset, count = np.full(num_columns, -1, np.int32), np.empty(num_columns, np.int32)
    lifted = np.empty(num_columns)
    for i in range(treeplex.parent_sequence.size - 1, -1, -1):
        first, parent = np.int64(treeplex.first_sequence[i]), treeplex.parent_sequence[i]
        num_actions = treeplex.num_actions[i]
        for s in range(first, first + num_actions):
            _sum_repeated(s, columns, values, following, head, row, entry)
            k = head[s]
            while k >= 0:
                c = columns[k]
                if infoset[c] != i:
                    infoset[c], count[c], lifted[c] = i, 0, values[k]
                count[c] += 1
                k = following[k]
        for s in range(first, first + num_actions):
            last, k = -1, head[s]
            while k >= 0:
                c, after = columns[k], following[k]
                stays = count[c] < num_actions
                if not stays and s > first:
                    values[k] -= lifted[c]
                    stays = values[k] != 0.0
                if stays:
                    last = k
                else:
                    if last < 0:
                        head[s] = after
                    else:
                        following[last] = after
                    if s == first:
                        following[k], head[parent] = head[parent], k
                k = after
    for s in range(treeplex.num_root_sequences):
        _sum_repeated(s, columns, values, following, head, row, entry)


@_jit
def _sum_repeated(s, columns, values, following, head, row, entry):
    """Adds up a row's entries in the same column."""
    last, k = -1, head[s]
    while k >= 0:
        c = columns[k]
        if row[c] == s:
            values[entry[c]] += values[k]
            following[last] = following[k]
        else:
            row[c], entry[c], last = s, k, k
        k = following[k]


@_jit
def listed(following, head):
    """Where each row's entries start, int64 [S + 1], and the entries, row by row: int32 [m].

    Args:
      following, head: as for `lift`.
    """
    starts, entries = np.zeros(head.size + 1, np.int64), np.empty(following.size, np.int32)
    n = 0
    for s in range(head.size):
        k = head[s]
        while k >= 0:
            entries[n] = k
            n += 1
            k = following[k]
        starts[s + 1] = n
    return starts, entries[:n]
