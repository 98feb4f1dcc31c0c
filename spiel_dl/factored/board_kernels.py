"""Compiled enumeration of a board game's orders of stones. See `orders`."""

from __future__ import annotations

import numpy as np

from spiel_dl.games.compiled import kernel


@kernel
def enumerate_orders(num_cells, wins):
    """The arrays of `Orders` of a board of so many cells, with `Board.wins`."""
    max_nodes, level = 1, 1
    for stones in range(num_cells):
        level *= num_cells - stones
        max_nodes += level
    child = np.full((max_nodes, num_cells), -1, np.int32)
    parent = np.full(max_nodes, -1, np.int32)
    cell = np.full(max_nodes, -1, np.int8)
    row = np.full(max_nodes, -1, np.int32)
    utility = np.zeros(level)
    # The path to the current node.
    node_at = np.zeros(num_cells + 1, np.int32)
    next_cell = np.zeros(num_cells + 1, np.int64)
    placed = np.zeros((num_cells + 1, 2), np.int64)
    depth, nodes, rows = 0, 1, 0
    while depth >= 0:
        c = next_cell[depth]
        if c == num_cells:
            depth -= 1
            continue
        next_cell[depth] += 1
        if (placed[depth, 0] | placed[depth, 1]) >> c & 1:
            continue
        mover = depth & 1
        node, parent_node = nodes, node_at[depth]
        nodes += 1
        child[parent_node, c], parent[node], cell[node] = node, parent_node, c
        own_stones = placed[depth, mover] | 1 << c
        is_won = wins[mover, own_stones]
        if is_won or depth + 1 == num_cells:
            row[node] = rows
            if is_won:
                utility[rows] = 1.0 - 2.0 * mover
            rows += 1
            continue
        depth += 1
        node_at[depth], next_cell[depth] = node, 0
        placed[depth, mover], placed[depth, 1 - mover] = own_stones, placed[depth - 1, 1 - mover]
    return (
        child[:nodes].copy(),
        parent[:nodes].copy(),
        cell[:nodes].copy(),
        row[:nodes].copy(),
        utility[:rows].copy(),
    )
