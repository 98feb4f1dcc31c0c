"""Compiled numbering of infosets by classes. See `infoset_classes`."""

from __future__ import annotations

import numpy as np

from spiel_dl.games.compiled import kernel


@kernel
def number_infosets(first_choice, fail, success):
    """Numbers a player's infosets, an infoset before those that follow its choices.

    Args:
      first_choice, fail, success: see `InfosetClasses`.

    Returns:
      size: int32 [C], the number of infosets from one of a class on, itself included.
      parent_sequence: int32 [I].
      class_of: int32 [I], the class of each infoset.
    """
    num_classes = first_choice.size - 1
    size = np.ones(num_classes, np.int32)
    for class_ in range(num_classes - 1, -1, -1):  # Following classes have larger numbers.
        for choice in range(first_choice[class_], first_choice[class_ + 1]):
            for after in (fail[choice], success[choice]):
                if after >= 0:
                    size[class_] += size[after]
    parent_sequence = np.empty(size[0], np.int32)
    class_of = np.empty(size[0], np.int32)
    # The stack of infosets still to number.
    waiting_class, waiting_parent = np.empty(256, np.int32), np.empty(256, np.int32)
    waiting_class[0], waiting_parent[0], num_waiting = 0, 0, 1
    infoset, sequence = 0, 1
    while num_waiting > 0:
        num_waiting -= 1
        class_ = waiting_class[num_waiting]
        class_of[infoset], parent_sequence[infoset] = class_, waiting_parent[num_waiting]
        infoset += 1
        first = first_choice[class_]
        for choice in range(first_choice[class_ + 1] - 1, first - 1, -1):
            for after in (success[choice], fail[choice]):
                if after >= 0:
                    waiting_class[num_waiting] = after
                    waiting_parent[num_waiting] = sequence + choice - first
                    num_waiting += 1
        sequence += first_choice[class_ + 1] - first
    return size, parent_sequence, class_of


@kernel
def paths_of_infosets(
    num_cells, parent_sequence, infoset_of, first_sequence, tried, first_choice, fail, class_of
):
    """A player's earlier tries at each infoset: the arrays of `StonePaths`."""
    num_infosets = parent_sequence.size
    cells = np.full((num_infosets, num_cells), -1, np.int8)
    num_tried = np.zeros(num_infosets, np.int8)
    failed = np.zeros(num_infosets, np.int32)
    for infoset in range(1, num_infosets):
        sequence = parent_sequence[infoset]
        parent_infoset = infoset_of[sequence]
        class_ = class_of[parent_infoset]
        rank = sequence - first_sequence[parent_infoset]
        cell, to_skip = -1, rank
        while to_skip >= 0:
            cell += 1
            to_skip -= 1 - (tried[class_] >> cell & 1)
        cells[infoset] = cells[parent_infoset]
        cells[infoset, num_tried[parent_infoset]] = cell
        num_tried[infoset] = num_tried[parent_infoset] + 1
        failed[infoset] = failed[parent_infoset]
        if fail[first_choice[class_] + rank] == class_of[infoset]:
            failed[infoset] |= 1 << cell
    return cells, num_tried, failed
