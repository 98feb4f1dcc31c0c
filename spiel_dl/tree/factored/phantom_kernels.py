"""Compiled tables and loops of classical phantom games. See `phantom`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def _enlarged(array, size):
    """The array, or a copy with room for at least so many numbers."""
    if size <= array.size:
        return array
    larger = np.empty(max(size, 2 * array.size), array.dtype)
    larger[: array.size] = array
    return larger


@_jit
def _without_stone(nodes, child, cell, kept):
    """Copies the nodes (int32 [m]) where a stone lies on the cell to `kept`; how many these are."""
    num_kept = 0
    for node in nodes:
        if child[node, cell] < 0:
            kept[num_kept] = node
            num_kept += 1
    return num_kept


@_jit
def _after_success(nodes, child, row, cell, finished, going_on):
    """What may follow when the player's stone comes to lie on a cell.

    Args:
      nodes: int32 [m], the nodes where the player may be.
      child, row: of `Orders`.
      cell: where it tries.
      finished: the finished orders are written to it, those after the opponent's next stone too.
      going_on: the nodes where the player acts next are written to it.

    Returns:
      How many finished orders, and how many nodes.
    """
    num_finished, num_going_on = 0, 0
    for node in nodes:
        mine = child[node, cell]
        if mine < 0:
            continue
        if row[mine] >= 0:
            finished[num_finished] = row[mine]
            num_finished += 1
            continue
        for theirs in child[mine]:
            if theirs < 0:
                continue
            if row[theirs] >= 0:
                finished[num_finished] = row[theirs]
                num_finished += 1
            else:
                going_on[num_going_on] = theirs
                num_going_on += 1
    return num_finished, num_going_on


@_jit
def enumerate_classes(child, row, roots):
    """A player's classes of infosets, depth first, and the finished orders behind their choices.

    Args:
      child: int32 [V, n], of `Orders`.
      row: int32 [V], of `Orders`.
      roots: int32 [r], the nodes where the player acts for the first time.

    Returns:
      tried: int32 [C], the set of cells that a class's player has tried.
      node: int32 [C], one of the nodes that the class is compatible with.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: none is.
      first_entry: int64 [K + 1], a choice's first entry in `rows`.
      rows: int32 [E], the finished orders that may follow a choice without another one.
    """
    n = child.shape[1]
    num_sets = 1 << n
    tried, node = np.empty(1024, np.int32), np.empty(1024, np.int32)
    first_choice = np.empty(1024, np.int32)
    fail, success = np.empty(1024, np.int32), np.empty(1024, np.int32)
    first_entry, rows = np.empty(1024, np.int64), np.empty(1024, np.int32)
    # By choice: what the player has tried after it, and the nodes after its success.
    after = np.empty(1024, np.int32)
    lists_begin, lists_end = np.empty(1024, np.int64), np.empty(1024, np.int64)
    classes, choices, entries = 0, 0, 0
    # A stack of the turns on the path, with lists of nodes in `arena`: by the set of cells at which
    # the player has failed in this turn, and after each success.
    arena = _enlarged(np.empty(1024, np.int32), roots.size)
    arena[: roots.size] = roots
    before, top = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    waiting, last = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    # Of the last turn: the sets of failures that are possible, and by them, lists and classes.
    failures = np.zeros(num_sets, np.int64)
    begin, end = np.zeros(num_sets, np.int64), np.zeros(num_sets, np.int64)
    class_of = np.full(num_sets, -1, np.int32)
    depth, enters = 0, True
    begin[0], end[0] = 0, roots.size
    used = roots.size
    while depth >= 0:
        if enters:
            enters = False
            num_failures, new = 1, 0
            while new < num_failures:  # By the largest cell that is added, so each set comes once.
                failed = failures[new]
                length = end[failed] - begin[failed]
                for cell in range(n - 1, -1, -1):
                    if failed >> cell & 1:
                        break
                    if before[depth] >> cell & 1:
                        continue
                    arena = _enlarged(arena, used + length)
                    kept = _without_stone(
                        arena[begin[failed] : end[failed]], child, cell, arena[used : used + length]
                    )
                    if kept > 0:
                        more = failed | 1 << cell
                        failures[num_failures] = more
                        num_failures += 1
                        begin[more], end[more] = used, used + kept
                        used += kept
                new += 1
            waiting[depth] = choices
            if classes + num_failures >= tried.size:
                tried = _enlarged(tried, classes + num_failures + 1)
                node = _enlarged(node, classes + num_failures + 1)
                first_choice = _enlarged(first_choice, classes + num_failures + 1)
            for failed in failures[:num_failures]:
                tried[classes] = before[depth] | failed
                node[classes] = arena[begin[failed]]
                class_of[failed] = classes
                first_choice[classes] = choices
                for cell in range(n):
                    choices += 1 - (tried[classes] >> cell & 1)
                classes += 1
            first_choice[classes] = choices
            last[depth] = choices
            if choices >= fail.size:
                fail, success = _enlarged(fail, choices + 1), _enlarged(success, choices + 1)
                after = _enlarged(after, choices + 1)
                first_entry = _enlarged(first_entry, choices + 1)
                lists_begin = _enlarged(lists_begin, choices + 1)
                lists_end = _enlarged(lists_end, choices + 1)
            choice = waiting[depth]
            for failed in failures[:num_failures]:
                length = end[failed] - begin[failed]
                arena = _enlarged(arena, used + n * n * length)
                rows = _enlarged(rows, entries + n * n * length)
                for cell in range(n):
                    if (before[depth] | failed) >> cell & 1:
                        continue
                    fail[choice] = class_of[failed | 1 << cell]
                    success[choice] = -1
                    after[choice] = before[depth] | failed | 1 << cell
                    first_entry[choice] = entries
                    num_finished, num_going_on = _after_success(
                        arena[begin[failed] : end[failed]],
                        child,
                        row,
                        cell,
                        rows[entries:],
                        arena[used:],
                    )
                    entries += num_finished
                    lists_begin[choice], lists_end[choice] = used, used + num_going_on
                    used += num_going_on
                    choice += 1
            first_entry[choices] = entries
            class_of[failures[:num_failures]] = -1
            top[depth] = used
        choice = waiting[depth]
        if choice == last[depth]:
            depth -= 1
            continue
        waiting[depth] += 1
        if lists_end[choice] > lists_begin[choice]:
            success[choice] = classes
            begin[0], end[0] = lists_begin[choice], lists_end[choice]
            used = top[depth]
            depth += 1
            before[depth] = after[choice]
            enters = True
    return (
        tried[:classes].copy(),
        node[:classes].copy(),
        first_choice[: classes + 1].copy(),
        fail[:choices].copy(),
        success[:choices].copy(),
        first_entry[: choices + 1].copy(),
        rows[:entries].copy(),
    )


@_jit
def number_infosets(first_choice, fail, success):
    """Numbers a player's infosets, an infoset before those that follow its choices.

    Args:
      first_choice, fail, success: of `enumerate_classes`.

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
def members_of_classes(class_of, num_classes):
    """The infosets of each class, one class after the other: int32 [I]; and the first of each."""
    begin = np.zeros(num_classes + 1, np.int32)
    for own in class_of:
        begin[own + 1] += 1
    for own in range(num_classes):
        begin[own + 1] += begin[own]
    members, filled = np.empty(class_of.size, np.int32), begin[:-1].copy()
    for infoset in range(class_of.size):
        members[filled[class_of[infoset]]] = infoset
        filled[class_of[infoset]] += 1
    return members, begin


@_jit
def add_weights(tables, begin, end, plan, weights):
    """Adds a plan's weights of some classes' choices to the finished orders that may follow.

    Args:
      tables: `ChoiceTables` of the player.
      begin, end: which classes.
      plan: float64 [S], its realization plan.
      weights: float64 [W], updated.
    """
    first_sequence, members, first_member, first_choice, first_entry, rows = tables
    for own in range(begin, end):
        for k in range(first_choice[own + 1] - first_choice[own]):
            weight = 0.0
            for m in range(first_member[own], first_member[own + 1]):
                weight += plan[first_sequence[members[m]] + np.uint32(k)]
            if weight != 0.0:
                choice = first_choice[own] + k
                for entry in range(first_entry[choice], first_entry[choice + 1]):
                    weights[rows[entry]] += weight


@_jit
def sum_values(tables, begin, end, values, cfv):
    """Gives the sequences of some classes the values of the finished orders that may follow.

    Args:
      tables: `ChoiceTables` of the player.
      begin, end: which classes.
      values: float [W], of the finished orders: utility times the opponent's weight.
      cfv: float64 [S], written.
    """
    first_sequence, members, first_member, first_choice, first_entry, rows = tables
    for own in range(begin, end):
        for k in range(first_choice[own + 1] - first_choice[own]):
            choice = first_choice[own] + k
            value = 0.0
            for entry in range(first_entry[choice], first_entry[choice + 1]):
                value += values[rows[entry]]
            for m in range(first_member[own], first_member[own + 1]):
                cfv[first_sequence[members[m]] + np.uint32(k)] = value


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
