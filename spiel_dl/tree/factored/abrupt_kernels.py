"""Compiled loop over the skeletons of an abrupt phantom game. See `abrupt`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)

# Infosets on the way of one player: on each turn, at most the orders of 5 failures.
_MOST_LISTED = 1 << 12


@_jit
def steps(first_choice, fail, success):
    """By choice, how far behind an infoset's first sequence the one of the next infoset stands.

    Args:
      first_choice, fail, success: of `AbruptClasses`.

    Returns:
      fail_step, success_step: int32 [K].
    """
    num_classes = first_choice.size - 1
    num_sequences = np.empty(num_classes, np.int32)
    fail_step, success_step = np.zeros(fail.size, np.int32), np.zeros(fail.size, np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        step = first_choice[own + 1] - first_choice[own]
        for choice in range(first_choice[own], first_choice[own + 1]):
            if fail[choice] >= 0:
                fail_step[choice] = step
                step += num_sequences[fail[choice]]
            if success[choice] >= 0:
                success_step[choice] = step
                step += num_sequences[success[choice]]
        num_sequences[own] = step
    return fail_step, success_step


@_jit
def _list_cells(num_cells, taken, theirs, free_cells, their_cells):
    """Lists the cells that are not in one set, and those in another; how many these are."""
    num_free, num_theirs = 0, 0
    for cell in range(num_cells):
        if not taken >> cell & 1:
            free_cells[num_free] = cell
            num_free += 1
        if theirs >> cell & 1:
            their_cells[num_theirs] = cell
            num_theirs += 1
    return num_free, num_theirs


@_jit
def add_values(wins, places, tables, player, first_cell, plan, cfv):
    """Adds what the terminal histories pay to the last sequences of a player.

    Args:
      wins: bool [2, 2^n], of `Board`.
      places: int8 [2^n, n], of a set of tried cells, how many cells below one are not in it.
      tables: `StepTables`.
      player: whose values.
      first_cell: the cell that it tries first; histories with other ones are left out.
      plan: float64 [S_-p], the opponent's.
      cfv: float64 [S_p], updated.
    """
    n = places.shape[1]
    full = (1 << n) - 1
    # Not inside of the loop, where numba would count references.
    tried, first_choice, fail, success, fail_step, success_step, first_class = tables
    # Of both players, the sequences that may have led to the skeleton on the way, by infosets: the
    # first sequence of the infoset that comes next, and its class.
    starts = np.zeros((2, _MOST_LISTED), np.int32)
    classes = np.zeros((2, _MOST_LISTED), np.int32)
    starts[:, 0] = 1
    classes[:, 0] = first_class
    depths = 2 * n + 1
    begin, end = np.zeros((depths, 2), np.int64), np.zeros((depths, 2), np.int64)
    end[0] = 1
    stones = np.zeros((depths, 2), np.int64)
    next_cell = np.full(depths, -1, np.int64)
    reach = np.ones(depths)  # The opponent's weight.
    # By cell, and in the last place for failures: at the opponent's turns its weights, at the
    # player's the values of its tries. And the value of all that ends with an opponent's try.
    row = np.zeros((depths, n + 1))
    ended = np.zeros(depths)
    free_cells, their_cells = np.zeros(n, np.int64), np.zeros(n, np.int64)
    depth = 0
    while depth >= 0:
        mover = depth & 1
        is_own = mover == player
        mine, theirs = stones[depth, mover], stones[depth, 1 - mover]
        taken = mine | theirs
        if next_cell[depth] < 0:
            next_cell[depth] = 0
            for cell in range(n + 1):
                row[depth, cell] = 0.0
            ended[depth] = 0.0
            if not is_own:
                num_free, num_theirs = _list_cells(n, taken, theirs, free_cells, their_cells)
                for k in range(begin[depth, mover], end[depth, mover]):
                    start, gone = starts[mover, k], tried[classes[mover, k]]
                    for j in range(num_free):
                        cell = free_cells[j]
                        row[depth, cell] += plan[start + places[gone, cell]]
                    for j in range(num_theirs):
                        cell = their_cells[j]
                        if not gone >> cell & 1:
                            row[depth, n] += plan[start + places[gone, cell]]
        cell = next_cell[depth]
        allowed = 1 << first_cell if is_own and depth < 2 else full
        if cell > n:
            if is_own:
                num_free, num_theirs = _list_cells(
                    n, taken | ~allowed, theirs & allowed, free_cells, their_cells
                )
                for k in range(begin[depth, mover], end[depth, mover]):
                    start, gone = starts[mover, k], tried[classes[mover, k]]
                    for j in range(num_free):
                        cell = free_cells[j]
                        cfv[start + places[gone, cell]] += row[depth, cell]
                    for j in range(num_theirs):
                        cell = their_cells[j]
                        if not gone >> cell & 1:
                            cfv[start + places[gone, cell]] += row[depth, n]
            elif depth > 0:
                row[depth - 1, next_cell[depth - 1] - 1] += ended[depth]
            depth -= 1
            continue
        next_cell[depth] += 1
        if cell < n and (taken >> cell & 1 or not allowed >> cell & 1):
            continue
        weight = reach[depth] if is_own else row[depth, cell]
        if weight == 0.0:
            continue
        new = end[depth, mover]
        count = new
        if cell < n:
            mine |= 1 << cell
            is_won = wins[mover, mine]
            if is_won or mine | theirs == full:
                if is_won and is_own:
                    row[depth, cell] += weight
                elif is_won:
                    ended[depth] -= weight
                continue
            for k in range(begin[depth, mover], end[depth, mover]):
                own = classes[mover, k]
                choice = first_choice[own] + places[tried[own], cell]
                starts[mover, count] = starts[mover, k] + success_step[choice]
                classes[mover, count] = success[choice]
                count += 1
        else:
            for k in range(begin[depth, mover], end[depth, mover]):
                own = classes[mover, k]
                open_cells = theirs & ~tried[own] & allowed
                for failed in range(n):
                    if open_cells >> failed & 1:
                        choice = first_choice[own] + places[tried[own], failed]
                        starts[mover, count] = starts[mover, k] + fail_step[choice]
                        classes[mover, count] = fail[choice]
                        count += 1
            if count == new:
                continue
        depth += 1
        stones[depth, mover], stones[depth, 1 - mover] = mine, theirs
        begin[depth, mover], end[depth, mover] = new, count
        begin[depth, 1 - mover] = begin[depth - 1, 1 - mover]
        end[depth, 1 - mover] = end[depth - 1, 1 - mover]
        reach[depth] = weight
        next_cell[depth] = -1
