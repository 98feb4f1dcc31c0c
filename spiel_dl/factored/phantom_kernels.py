"""Compiled tables and loops of classical phantom games. See `phantom`."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def _enlarged(array, size):
    """The array, or a copy with room for at least so many numbers."""
    if size <= array.size:
        return array
    larger = np.empty(max(size, 2 * array.size), array.dtype)
    for i in range(array.size):
        larger[i] = array[i]
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


class _Turn(NamedTuple):
    """One turn of the player, by the set of cells at which it has failed in this turn: all [2^n].

    Attributes:
      failures: int64, the sets that are possible, a set after its parts.
      begin, end: int64, the nodes where the player may be, in the arena.
      class_of: int32, the number of the class; -1: none is.
    """

    failures: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    class_of: np.ndarray


class _Found(NamedTuple):
    """What was found so far, with room for more. See `enumerate_classes`.

    Attributes:
      tried, node, first_choice: by class.
      fail, success, first_entry: by choice.
      after: int32, what the player has tried after a choice.
      begin, end: int64, the nodes where the player acts next after its success, in the arena.
      rows: by entry.
    """

    tried: np.ndarray
    node: np.ndarray
    first_choice: np.ndarray
    fail: np.ndarray
    success: np.ndarray
    first_entry: np.ndarray
    after: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    rows: np.ndarray


@_jit
def _with_room(found, classes, choices, entries):
    """What was found, with room for so many."""
    return _Found(
        _enlarged(found.tried, classes),
        _enlarged(found.node, classes),
        _enlarged(found.first_choice, classes + 1),
        _enlarged(found.fail, choices),
        _enlarged(found.success, choices),
        _enlarged(found.first_entry, choices + 1),
        _enlarged(found.after, choices),
        _enlarged(found.begin, choices),
        _enlarged(found.end, choices),
        _enlarged(found.rows, entries),
    )


@_jit
def _list_failures(child, before, turn, arena, used):
    """Lists the sets of cells at which a player may fail in a turn, and its nodes then.

    Args:
      child: of `Orders`.
      before: the cells that the player has tried before this turn.
      turn: the nodes at its beginning are those of the empty set; the others are written.
      arena: int32, lists of nodes; in use up to `used`.
      used: see above.

    Returns:
      The number of sets, the arena, which may have grown, and how much of it is in use.
    """
    n = child.shape[1]
    turn.failures[0] = 0
    num_failures, new = 1, 0
    while new < num_failures:  # By the largest cell that is added, so each set comes once.
        failed = turn.failures[new]
        begin, end = turn.begin[failed], turn.end[failed]
        for cell in range(n - 1, -1, -1):
            if failed >> cell & 1:
                break
            if before >> cell & 1:
                continue
            arena = _enlarged(arena, used + end - begin)
            kept = _without_stone(arena[begin:end], child, cell, arena[used:])
            if kept > 0:
                more = failed | 1 << cell
                turn.failures[num_failures] = more
                num_failures += 1
                turn.begin[more], turn.end[more] = used, used + kept
                used += kept
        new += 1
    return num_failures, arena, used


@_jit
def _add_classes(n, before, turn, num_failures, arena, found, classes, choices):
    """Adds the classes of a turn, and counts their choices: both numbers afterwards."""
    for failed in turn.failures[:num_failures]:
        found.tried[classes] = before | failed
        found.node[classes] = arena[turn.begin[failed]]
        turn.class_of[failed] = classes
        found.first_choice[classes] = choices
        for cell in range(n):
            choices += 1 - (found.tried[classes] >> cell & 1)
        classes += 1
    found.first_choice[classes] = choices
    return classes, choices


@_jit
def _add_choices(child, row, before, turn, num_failures, arena, used, found, choice, entries):
    """Adds the choices of a turn's classes, with the finished orders that may follow them.

    Returns:
      What was found, the number of entries, the arena, and how much of it is in use.
    """
    n = child.shape[1]
    sets = turn.failures[:num_failures]
    most = n * n * (turn.end[sets] - turn.begin[sets]).sum()
    arena = _enlarged(arena, used + most)
    found = _with_room(found, 0, 0, entries + most)
    # Not inside of the loop, where numba would count references.
    fail, success, first_entry, after = found.fail, found.success, found.first_entry, found.after
    begin, end, rows, class_of = found.begin, found.end, found.rows, turn.class_of
    for failed in sets:
        nodes = arena[turn.begin[failed] : turn.end[failed]]
        for cell in range(n):
            if (before | failed) >> cell & 1:
                continue
            fail[choice] = class_of[failed | 1 << cell]
            success[choice] = -1
            after[choice] = before | failed | 1 << cell
            first_entry[choice] = entries
            num_finished, num_going_on = _after_success(
                nodes, child, row, cell, rows[entries:], arena[used:]
            )
            entries += num_finished
            begin[choice], end[choice] = used, used + num_going_on
            used += num_going_on
            choice += 1
    first_entry[choice] = entries
    class_of[sets] = -1
    return found, entries, arena, used


@_jit
def _nothing(n):
    """Empty lists of a turn, and of what was found."""
    sets, size = 1 << n, 1024
    none = np.full(sets, -1, np.int32)
    turn = _Turn(np.zeros(sets, np.int64), np.zeros(sets, np.int64), np.zeros(sets, np.int64), none)
    numbers, places = np.empty(size, np.int32), np.empty(size, np.int64)
    found = _Found(
        numbers,
        numbers.copy(),
        numbers.copy(),
        numbers.copy(),
        numbers.copy(),
        places,
        numbers.copy(),
        places.copy(),
        places.copy(),
        numbers.copy(),
    )
    return turn, found


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
    turn, found = _nothing(n)
    classes, choices, entries = 0, 0, 0
    arena = _enlarged(np.empty(1024, np.int32), roots.size)
    for i in range(roots.size):
        arena[i] = roots[i]
    # Of the turns on the path: what was tried before, the arena's use, the choices still to follow.
    before, top = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    waiting, last = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    depth, used, enters = 0, roots.size, True
    turn.begin[0], turn.end[0] = 0, roots.size
    while depth >= 0:
        if enters:
            enters = False
            tried = before[depth]
            num, arena, used = _list_failures(child, tried, turn, arena, used)
            found = _with_room(found, classes + num, choices + num * n, 0)
            waiting[depth] = choices
            classes, choices = _add_classes(n, tried, turn, num, arena, found, classes, choices)
            last[depth] = choices
            found, entries, arena, used = _add_choices(
                child, row, tried, turn, num, arena, used, found, waiting[depth], entries
            )
            top[depth] = used
        choice = waiting[depth]
        if choice == last[depth]:
            depth -= 1
            continue
        waiting[depth] += 1
        if found.end[choice] > found.begin[choice]:
            found.success[choice] = classes
            turn.begin[0], turn.end[0] = found.begin[choice], found.end[choice]
            used = top[depth]
            depth += 1
            before[depth] = found.after[choice]
            enters = True
    return (
        found.tried[:classes].copy(),
        found.node[:classes].copy(),
        found.first_choice[: classes + 1].copy(),
        found.fail[:choices].copy(),
        found.success[:choices].copy(),
        found.first_entry[: choices + 1].copy(),
        found.rows[:entries].copy(),
    )


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
