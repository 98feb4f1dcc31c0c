"""Compiled loops over the views and skeletons of an abrupt phantom game. See `abrupt`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)

# Infosets on the way of one player: on each turn, at most the orders of 5 failures.
_MOST_LISTED = 1 << 12
# Columns of `moves` and of `listed`.
_AFTER, _STEP, _SLOT = 0, 1, 2
_START, _TRIED, _FIRST_CHOICE = 0, 1, 2


@_jit
def follow_infosets(tried, first_choice, fail, success):
    """What follows the choices of a player's infosets.

    Args:
      tried, first_choice, fail, success: of `AbruptClasses`.

    Returns:
      int32 [K, 2, 3], by choice and whether it succeeds: how far behind an infoset's first sequence
      the one of the next infoset stands, the cells that are tried then, and its class's first
      choice.
    """
    num_classes = first_choice.size - 1
    num_sequences = np.empty(num_classes, np.int32)
    following = np.zeros((fail.size, 2, 3), np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        step = first_choice[own + 1] - first_choice[own]
        for choice in range(first_choice[own], first_choice[own + 1]):
            for succeeds in range(2):
                after = success[choice] if succeeds else fail[choice]
                if after >= 0:
                    following[choice, succeeds, _START] = step
                    following[choice, succeeds, _TRIED] = tried[after]
                    following[choice, succeeds, _FIRST_CHOICE] = first_choice[after]
                    step += num_sequences[after]
        num_sequences[own] = step
    return following


@_jit
def number_slots(first_choice, after, may_end):
    """Numbers the views that won games may end with.

    Args:
      first_choice: of `ViewTables`.
      after: int32 [K], the class after a choice, -1: none is.
      may_end: bool [K], whether a won game may end with a choice.

    Returns:
      moves: int32 [K, 3], of `ViewTables`.
      num_slots: int64 [1].
    """
    num_classes = first_choice.size - 1
    size = np.zeros(num_classes, np.int64)
    moves = np.empty((after.size, 3), np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        for choice in range(first_choice[own], first_choice[own + 1]):
            moves[choice, _SLOT] = size[own] if may_end[choice] else -1
            size[own] += may_end[choice]
        for choice in range(first_choice[own], first_choice[own + 1]):
            moves[choice, _AFTER], moves[choice, _STEP] = after[choice], size[own]
            if after[choice] >= 0:
                size[own] += size[after[choice]]
    return moves, size[:1].copy()


@_jit
def _cells(views, choice, first, n):
    """The set of cells that one of a class's choices may be tried at; and its slot."""
    cells = views.stones[choice] if choice >= first + n else 1 << (choice - first)
    return cells, views.moves[choice, _SLOT]


@_jit
def _gather(view, base, views, listed, untried, allowed, plan, weights):
    """Writes the weights of a view's slots: sums over the infosets that the view is seen from.

    Args:
      view, base: its class and its first slot.
      views: `ViewTables`.
      listed: the infosets, int32 [m, 3]: first sequence, set of tried cells, first choice.
      untried: of `BoardTables`.
      allowed: a set of cells; no others are tried.
      plan: float64 [S].
      weights: float64 [L], written.
    """
    n = untried.shape[1]
    sums = np.zeros(n)
    for k in range(listed.shape[0]):
        start, gone = listed[k, _START], listed[k, _TRIED]
        for place in range(n):
            cell = untried[gone, place]
            if cell < 0:
                break
            sums[cell] += plan[start + place]
    first = views.first_choice[view]
    for choice in range(first, views.first_choice[view + 1]):
        cells, slot = _cells(views, choice, first, n)
        if slot >= 0 and not cells & ~allowed:
            weight = 0.0
            for cell in range(n):
                if cells >> cell & 1:
                    weight += sums[cell]
            weights[base + slot] = weight


@_jit
def _spread(view, base, views, listed, untried, allowed, values, cfv):
    """Adds the values of a view's slots to the sequences that end with it: `_gather`, transposed.

    Args:
      view, base, views, listed, untried, allowed: see `_gather`.
      values: float64 [L].
      cfv: float64 [S], updated.
    """
    n = untried.shape[1]
    sums = np.zeros(n)
    first = views.first_choice[view]
    for choice in range(first, views.first_choice[view + 1]):
        cells, slot = _cells(views, choice, first, n)
        if slot >= 0 and not cells & ~allowed:
            for cell in range(n):
                if cells >> cell & 1:
                    sums[cell] += values[base + slot]
    for k in range(listed.shape[0]):
        start, gone = listed[k, _START], listed[k, _TRIED]
        for place in range(n):
            cell = untried[gone, place]
            if cell < 0:
                break
            cfv[start + place] += sums[cell]


@_jit
def _list_next(following, places, cells, succeeds, listed, begin, end):
    """Lists the infosets after a try at one of some cells, behind those from `begin` to `end`.

    Args:
      following: of `follow_infosets`.
      places: of `BoardTables`.
      cells: the set of cells.
      succeeds: whether the try succeeds: 1 or 0.
      listed: see `_gather`; updated.
      begin, end: the infosets before the try.

    Returns:
      The end of the list.
    """
    count = end
    for k in range(begin, end):
        start, gone, first = listed[k, _START], listed[k, _TRIED], listed[k, _FIRST_CHOICE]
        for cell in range(places.shape[1]):
            if (cells & ~gone) >> cell & 1:
                after = following[first + places[gone, cell], succeeds]
                listed[count, _START] = start + after[_START]
                listed[count, _TRIED] = after[_TRIED]
                listed[count, _FIRST_CHOICE] = after[_FIRST_CHOICE]
                count += 1
    return count


@_jit
def walk_views(following, views, board, first_cell, gathers, sequences, slots):
    """Goes through a player's views with the infosets from which each may be seen.

    Args:
      following: of `follow_infosets`.
      views: the player's `ViewTables`.
      board: `BoardTables`.
      first_cell: the cell that it tries first; views with other ones are left out.
      gathers: whether slots get the sums of sequences; else their values go to sequences.
      sequences: float64 [S], a plan, or counterfactual values, which are updated.
      slots: float64 [L], weights, which are written, or values.
    """
    n = board.places.shape[1]
    listed = np.zeros((_MOST_LISTED, 3), np.int32)
    listed[0, _START] = 1
    begin, end = np.zeros(n + 2, np.int64), np.ones(n + 2, np.int64)
    view_at, base = np.zeros(n + 2, np.int64), np.zeros(n + 2, np.int64)
    next_choice = np.zeros(n + 2, np.int64)
    depth, allowed = 0, 1 << first_cell
    while depth >= 0:
        view, choice = view_at[depth], next_choice[depth]
        first = views.first_choice[view]
        if choice == first:
            seen = listed[begin[depth] : end[depth]]
            if gathers:
                _gather(view, base[depth], views, seen, board.untried, allowed, sequences, slots)
            else:
                _spread(view, base[depth], views, seen, board.untried, allowed, slots, sequences)
        if choice == views.first_choice[view + 1]:
            depth -= 1
            continue
        next_choice[depth] += 1
        cells, _ = _cells(views, choice, first, n)
        if views.moves[choice, _AFTER] < 0 or (depth == 0 and cells != 1 << first_cell):
            continue
        succeeds = 1 if choice < first + n else 0
        depth += 1
        begin[depth], allowed = end[depth - 1], (1 << n) - 1
        end[depth] = _list_next(
            following, board.places, cells, succeeds, listed, begin[depth - 1], begin[depth]
        )
        view_at[depth] = views.moves[choice, _AFTER]
        base[depth] = base[depth - 1] + views.moves[choice, _STEP]
        next_choice[depth] = views.first_choice[view_at[depth]]


@_jit
def _finish(won, is_own, start, first, moves, lowest, weight, ending, weights, values):
    """Pays what the mover wins by its next stone.

    Args:
      won: the set of cells where it does.
      is_own: whether the mover is the player whose values are asked for.
      start, first: its view's first slot, its class's first choice.
      moves, lowest: of `ViewTables` and `BoardTables`.
      weight: of the opponent's last view.
      ending: the slot of the player's last view.
      weights, values: see `add_skeletons`.
    """
    lost = 0.0
    while won:
        slot = start + moves[first + lowest[won], _SLOT]
        if is_own:
            values[slot] += weight
        else:
            lost += weights[slot]
        won &= won - 1
    if lost != 0.0:
        values[ending] -= lost


@_jit
def add_skeletons(board, views, first_class, player, first_cell, weights, values):
    """Adds what the won games pay to a player's views at their ends.

    Args:
      board: `BoardTables`.
      views: `ViewTables` of both players, the classes of player 1 behind those of player 0.
      first_class: int64 [2], both players' first classes.
      player: whose values.
      first_cell: the cell that it tries first; games with other ones are left out.
      weights: float64 [L_-p], of the opponent's views.
      values: float64 [L_p], updated.
    """
    # Not inside of the loop, where numba would count references.
    first_choice, moves, failing = views.first_choice, views.moves, views.failing
    winning, lowest = board.winning, board.lowest
    n = board.places.shape[1]
    depths = 2 * n + 2
    stones, base = np.zeros((depths, 2), np.int64), np.zeros((depths, 2), np.int64)
    view = np.zeros((depths, 2), np.int64)
    view[0] = first_class
    waiting = np.zeros(depths, np.int64)  # Cells that come next; the bit behind them is a failure.
    # Of the last turns: the weight of the opponent's view, and the slot of the player's.
    weight, ending = np.zeros(depths), np.full(depths, -1, np.int64)
    depth, enters = 0, True
    while depth >= 0:
        mover = depth & 1
        is_own = mover == player
        mine, theirs = stones[depth, mover], stones[depth, 1 - mover]
        own, start = view[depth, mover], base[depth, mover]
        first = first_choice[own]
        if enters:
            free = ((1 << n) - 1) & ~(mine | theirs)
            is_last = free & (free - 1) == 0  # The last stone on a board ends the game.
            can_fail = failing[own, theirs] >= 0
            if is_own and depth < 2:
                free &= 1 << first_cell
                can_fail = can_fail and theirs == 1 << first_cell
            won = winning[mover, mine] & free
            _finish(
                won, is_own, start, first, moves, lowest,
                weight[depth], ending[depth], weights, values,
            )  # fmt: skip
            waiting[depth] = (0 if is_last else free & ~won) | can_fail << n
        enters = waiting[depth] != 0
        if not enters:
            depth -= 1
            continue
        cell = lowest[waiting[depth]]
        waiting[depth] &= waiting[depth] - 1
        choice = first + (cell if cell < n else failing[own, theirs])
        slot = start + moves[choice, _SLOT] if moves[choice, _SLOT] >= 0 else -1
        depth += 1
        if is_own:
            weight[depth], ending[depth] = weight[depth - 1], slot
        else:
            weight[depth], ending[depth] = weights[slot] if slot >= 0 else 0.0, ending[depth - 1]
        stones[depth, mover] = mine | 1 << cell if cell < n else mine
        stones[depth, 1 - mover] = theirs
        view[depth, mover], base[depth, mover] = moves[choice, _AFTER], start + moves[choice, _STEP]
        view[depth, 1 - mover] = view[depth - 1, 1 - mover]
        base[depth, 1 - mover] = base[depth - 1, 1 - mover]
