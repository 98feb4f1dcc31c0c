"""Compiled tables and loops of classical phantom games. See `phantom`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import kernel


@kernel
def _enlarged(array, size):
    """The array, or a larger copy with room for at least `size` numbers."""
    if size <= array.size:
        return array
    larger = np.empty(max(size, 2 * array.size), array.dtype)
    for i in range(array.size):
        larger[i] = array[i]
    return larger


@kernel
def _without_stone(nodes, child, cell, kept):
    """Copies the nodes (int32 [m]) with a stone on the cell to `kept`; returns their number."""
    num_kept = 0
    for node in nodes:
        if child[node, cell] < 0:
            kept[num_kept] = node
            num_kept += 1
    return num_kept


@kernel
def _after_success(nodes, child, row, cell, finished, going_on):
    """Lists the continuations of a player's success on a cell.

    Args:
      nodes: int32 [m], the player's possible nodes.
      child, row: see `Orders`.
      cell: the cell of the try.
      finished: written: the finished orders, also those after the opponent's next stone.
      going_on: written: the nodes where the player acts next.

    Returns:
      The numbers of finished orders and of nodes.
    """
    num_finished, num_going_on = 0, 0
    for node in nodes:
        own_child = child[node, cell]
        if own_child < 0:
            continue
        if row[own_child] >= 0:
            finished[num_finished] = row[own_child]
            num_finished += 1
            continue
        for opponent_child in child[own_child]:
            if opponent_child < 0:
                continue
            if row[opponent_child] >= 0:
                finished[num_finished] = row[opponent_child]
                num_finished += 1
            else:
                going_on[num_going_on] = opponent_child
                num_going_on += 1
    return num_finished, num_going_on


class _Turn(NamedTuple):
    """One turn of the player, by the set of cells at which it has failed in this turn: all [2^n].

    Attributes:
      failures: int64, the possible sets, each after its subsets.
      begin, end: int64, the range in the arena of the player's possible nodes.
      class_of: int32, the number of the class; -1: the set is impossible.
    """

    failures: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    class_of: np.ndarray


class _ClassLists(NamedTuple):
    """The lists of classes, choices and entries, with room for more. See `enumerate_classes`.

    Attributes:
      tried, node, first_choice: by class.
      fail, success, first_entry: by choice.
      after: int32, the set of cells tried after a choice.
      begin, end: int64, the range in the arena of the nodes where the player acts after a success.
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


@kernel
def _enlarged_lists(lists, classes, choices, entries):
    """The lists, with room for so many classes, choices and entries."""
    return _ClassLists(
        _enlarged(lists.tried, classes),
        _enlarged(lists.node, classes),
        _enlarged(lists.first_choice, classes + 1),
        _enlarged(lists.fail, choices),
        _enlarged(lists.success, choices),
        _enlarged(lists.first_entry, choices + 1),
        _enlarged(lists.after, choices),
        _enlarged(lists.begin, choices),
        _enlarged(lists.end, choices),
        _enlarged(lists.rows, entries),
    )


@kernel
def _list_failures(child, before, turn, arena, used):
    """Lists the sets of cells at which a player may fail in a turn, and its nodes then.

    Args:
      child: see `Orders`.
      before: the cells that the player has tried before this turn.
      turn: has the nodes of the empty set; those of the other sets are written.
      arena: int32, lists of nodes; in use up to `used`.
      used: see above.

    Returns:
      The number of sets, the arena, which may have grown, and its length in use.
    """
    n = child.shape[1]
    turn.failures[0] = 0
    num_failures, index = 1, 0
    while index < num_failures:  # Cells are added in ascending order, so each set comes once.
        failed = turn.failures[index]
        begin, end = turn.begin[failed], turn.end[failed]
        for cell in range(n - 1, -1, -1):
            if failed >> cell & 1:
                break
            if before >> cell & 1:
                continue
            arena = _enlarged(arena, used + end - begin)
            kept = _without_stone(arena[begin:end], child, cell, arena[used:])
            if kept > 0:
                enlarged = failed | 1 << cell
                turn.failures[num_failures] = enlarged
                num_failures += 1
                turn.begin[enlarged], turn.end[enlarged] = used, used + kept
                used += kept
        index += 1
    return num_failures, arena, used


@kernel
def _append_classes(n, before, turn, num_failures, arena, lists, classes, choices):
    """Adds the classes of a turn; returns the new numbers of classes and of choices."""
    for failed in turn.failures[:num_failures]:
        lists.tried[classes] = before | failed
        lists.node[classes] = arena[turn.begin[failed]]
        turn.class_of[failed] = classes
        lists.first_choice[classes] = choices
        for cell in range(n):
            choices += 1 - (lists.tried[classes] >> cell & 1)
        classes += 1
    lists.first_choice[classes] = choices
    return classes, choices


@kernel
def _append_choices(child, row, before, turn, num_failures, arena, used, lists, choice, entries):
    """Adds the choices of a turn's classes, with the finished orders that may follow them.

    Returns:
      The lists, the number of entries, the arena, and its length in use.
    """
    n = child.shape[1]
    sets = turn.failures[:num_failures]
    max_nodes = n * n * (turn.end[sets] - turn.begin[sets]).sum()
    arena = _enlarged(arena, used + max_nodes)
    lists = _enlarged_lists(lists, 0, 0, entries + max_nodes)
    # Not inside of the loop, where numba would count references.
    fail, success, first_entry, after = lists.fail, lists.success, lists.first_entry, lists.after
    begin, end, rows, class_of = lists.begin, lists.end, lists.rows, turn.class_of
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
    return lists, entries, arena, used


@kernel
def _empty_lists(n):
    """An empty turn, and empty lists of classes."""
    sets, size = 1 << n, 1024
    none = np.full(sets, -1, np.int32)
    turn = _Turn(np.zeros(sets, np.int64), np.zeros(sets, np.int64), np.zeros(sets, np.int64), none)
    int32s, int64s = np.empty(size, np.int32), np.empty(size, np.int64)
    lists = _ClassLists(
        int32s,
        int32s.copy(),
        int32s.copy(),
        int32s.copy(),
        int32s.copy(),
        int64s,
        int32s.copy(),
        int64s.copy(),
        int64s.copy(),
        int32s.copy(),
    )
    return turn, lists


@kernel
def enumerate_classes(child, row, roots):
    """A player's classes of infosets, depth first, and the finished orders behind their choices.

    Args:
      child: int32 [V, n], see `Orders`.
      row: int32 [V], see `Orders`.
      roots: int32 [r], the nodes where the player acts for the first time.

    Returns:
      tried: int32 [C], the set of cells that a class's player has tried.
      node: int32 [C], one of the nodes that the class is compatible with.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: impossible.
      first_entry: int64 [K + 1], a choice's first entry in `rows`.
      rows: int32 [E], the finished orders that may follow a choice without another one.
    """
    n = child.shape[1]
    turn, lists = _empty_lists(n)
    classes, choices, entries = 0, 0, 0
    arena = _enlarged(np.empty(1024, np.int32), roots.size)
    for i in range(roots.size):
        arena[i] = roots[i]
    # By turns on the path: the cells tried before, the arena's length, the choices to follow next.
    before, arena_length = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    next_choice, end_choice = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    depth, used, enters = 0, roots.size, True
    turn.begin[0], turn.end[0] = 0, roots.size
    while depth >= 0:
        if enters:
            enters = False
            tried = before[depth]
            num, arena, used = _list_failures(child, tried, turn, arena, used)
            lists = _enlarged_lists(lists, classes + num, choices + num * n, 0)
            next_choice[depth] = choices
            classes, choices = _append_classes(n, tried, turn, num, arena, lists, classes, choices)
            end_choice[depth] = choices
            lists, entries, arena, used = _append_choices(
                child, row, tried, turn, num, arena, used, lists, next_choice[depth], entries
            )
            arena_length[depth] = used
        choice = next_choice[depth]
        if choice == end_choice[depth]:
            depth -= 1
            continue
        next_choice[depth] += 1
        if lists.end[choice] > lists.begin[choice]:
            lists.success[choice] = classes
            turn.begin[0], turn.end[0] = lists.begin[choice], lists.end[choice]
            used = arena_length[depth]
            depth += 1
            before[depth] = lists.after[choice]
            enters = True
    return (
        lists.tried[:classes].copy(),
        lists.node[:classes].copy(),
        lists.first_choice[: classes + 1].copy(),
        lists.fail[:choices].copy(),
        lists.success[:choices].copy(),
        lists.first_entry[: choices + 1].copy(),
        lists.rows[:entries].copy(),
    )


@kernel
def add_weights(tables, begin, end, plan, weights):
    """Adds a plan's weights of some classes' choices to the finished orders that may follow.

    Args:
      tables: `ChoiceTables` of the player.
      begin, end: the range of classes.
      plan: float64 [S], its realization plan.
      weights: float64 [W], updated.
    """
    first_sequence, members, first_member, first_choice, first_entry, rows = tables
    for class_ in range(begin, end):
        for k in range(first_choice[class_ + 1] - first_choice[class_]):
            weight = 0.0
            for m in range(first_member[class_], first_member[class_ + 1]):
                weight += plan[first_sequence[members[m]] + np.uint32(k)]
            if weight != 0.0:
                choice = first_choice[class_] + k
                for entry in range(first_entry[choice], first_entry[choice + 1]):
                    weights[rows[entry]] += weight


@kernel
def sum_values(tables, begin, end, values, cfv):
    """Writes the sums of values of the finished orders that may follow some classes' sequences.

    Args:
      tables: `ChoiceTables` of the player.
      begin, end: the range of classes.
      values: float [W], of the finished orders: utility times the opponent's weight.
      cfv: float64 [S], written.
    """
    first_sequence, members, first_member, first_choice, first_entry, rows = tables
    for class_ in range(begin, end):
        for k in range(first_choice[class_ + 1] - first_choice[class_]):
            choice = first_choice[class_] + k
            value = 0.0
            for entry in range(first_entry[choice], first_entry[choice + 1]):
                value += values[rows[entry]]
            for m in range(first_member[class_], first_member[class_ + 1]):
                cfv[first_sequence[members[m]] + np.uint32(k)] = value
