"""Board games of perfect information on which phantom games are played, and their winning sets.

Players place one stone each in turn, player 0 first. A player with a winning set of cells after its
own stone has won; a full board without a winner is a draw.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Board:
    """A board game by its winning sets.

    Attributes:
      num_cells: n; at most 16, because sets of cells are numbers.
      wins: bool [2, 2^n], whether a set of a player's stones wins; bit c is cell c.
      is_hexagonal: whether cells are drawn as hexagons, each row half a cell to the right.
    """

    num_cells: int
    wins: np.ndarray
    is_hexagonal: bool = False


def tic_tac_toe() -> Board:
    """Three stones in a line win, on 3x3 cells."""
    rows = [0b111 << 3 * i for i in range(3)]
    columns = [0b1001001 << i for i in range(3)]
    lines = np.array([*rows, *columns, 0b100010001, 0b001010100])
    sets = np.arange(1 << 9)
    wins = ((sets[:, None] & lines) == lines).any(axis=1)
    return Board(9, np.stack([wins, wins]))


def hex_board(num_rows: int, num_columns: int) -> Board:
    """A chain between its two sides wins: player 0 from top to bottom, player 1 from left to right.

    A cell touches its neighbours in its row, those above it and to the right of that, and those
    below it and to the left of that.
    """
    num_cells = num_rows * num_columns
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))
    neighbours = [0] * num_cells
    for cell in range(num_cells):
        row, column = divmod(cell, num_columns)
        for down, right in steps:
            if 0 <= row + down < num_rows and 0 <= column + right < num_columns:
                neighbours[cell] |= 1 << (cell + down * num_columns + right)
    in_row = [sum(1 << (r * num_columns + c) for c in range(num_columns)) for r in range(num_rows)]
    in_column = [
        sum(1 << (r * num_columns + c) for r in range(num_rows)) for c in range(num_columns)
    ]
    sides = ((in_row[0], in_row[-1]), (in_column[0], in_column[-1]))
    wins = np.zeros((2, 1 << num_cells), np.bool_)
    for player, (start, end) in enumerate(sides):
        for stones in range(1 << num_cells):
            wins[player, stones] = bool(_reached(stones & start, stones, neighbours) & end)
    return Board(num_cells, wins, is_hexagonal=True)


def turn_lengths(num_cells: int) -> list[int]:
    """The most tries in each turn of a classical phantom game, one turn for each stone.

    A player may fail at every stone of its opponent, and succeeds then.
    """
    return [1 + (turn + 1) // 2 for turn in range(num_cells)]


def _reached(start: int, stones: int, neighbours: list[int]) -> int:
    """The stones of a set that are connected with those of `start`."""
    reached, new = 0, start
    while new:
        reached |= new
        adjacent = 0
        for cell, cell_neighbours in enumerate(neighbours):
            if new >> cell & 1:
                adjacent |= cell_neighbours
        new = adjacent & stones & ~reached
    return reached
