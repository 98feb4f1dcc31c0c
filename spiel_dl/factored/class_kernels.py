"""Compiled numbering of infosets by classes. See `infoset_classes`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def number_infosets(first_choice, fail, success):
    """Numbers a player's infosets, an infoset before those that follow its choices.

    Args:
      first_choice, fail, success: of `InfosetClasses`.

    Returns:
      size: int32 [C], how many infosets there are from one of a class on, itself included.
      parent_sequence: int32 [I].
      class_of: int32 [I].
    """
    num_classes = first_choice.size - 1
    size = np.ones(num_classes, np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        for choice in range(first_choice[own], first_choice[own + 1]):
            for after in (fail[choice], success[choice]):
                if after >= 0:
                    size[own] += size[after]
    parent_sequence = np.empty(size[0], np.int32)
    class_of = np.empty(size[0], np.int32)
    # Infosets whose turn has not come yet, the next one on top.
    waiting_class, waiting_parent = np.empty(256, np.int32), np.empty(256, np.int32)
    waiting_class[0], waiting_parent[0], num_waiting = 0, 0, 1
    infoset, sequence = 0, 1
    while num_waiting > 0:
        num_waiting -= 1
        own = waiting_class[num_waiting]
        class_of[infoset], parent_sequence[infoset] = own, waiting_parent[num_waiting]
        infoset += 1
        first = first_choice[own]
        for choice in range(first_choice[own + 1] - 1, first - 1, -1):
            for after in (success[choice], fail[choice]):
                if after >= 0:
                    waiting_class[num_waiting] = after
                    waiting_parent[num_waiting] = sequence + choice - first
                    num_waiting += 1
        sequence += first_choice[own + 1] - first
    return size, parent_sequence, class_of


@_jit
def paths_of_infosets(
    num_cells, parent_sequence, infoset_of, first_sequence, tried, first_choice, fail, class_of
):
    """What a player has tried before each infoset: see `StonePaths`."""
    num_infosets = parent_sequence.size
    cells = np.full((num_infosets, num_cells), -1, np.int8)
    num_tried = np.zeros(num_infosets, np.int8)
    failed = np.zeros(num_infosets, np.int32)
    for infoset in range(1, num_infosets):
        sequence = parent_sequence[infoset]
        above = infoset_of[sequence]
        own = class_of[above]
        place = sequence - first_sequence[above]
        cell, left = -1, place
        while left >= 0:
            cell += 1
            left -= 1 - (tried[own] >> cell & 1)
        cells[infoset] = cells[above]
        cells[infoset, num_tried[above]] = cell
        num_tried[infoset] = num_tried[above] + 1
        failed[infoset] = failed[above]
        if fail[first_choice[own] + place] == class_of[infoset]:
            failed[infoset] |= 1 << cell
    return cells, num_tried, failed
