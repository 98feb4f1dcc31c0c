"""The game tree of a board game whose stones both players see."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from spiel_dl.factored import board_kernels
from spiel_dl.games.boards import Board


@dataclasses.dataclass(frozen=True, eq=False)
class Orders:
    """All orders in which stones are placed: the tree of the board game, depth first.

    Attributes:
      child: int32 [V, n], the node after a stone on a cell; -1: the cell has one.
      parent: int32 [V], -1 at the root.
      cell: int8 [V], the cell of the last stone; -1 at the root.
      row: int32 [V], the number of the finished order at a terminal node; -1 at others.
      utility: float64 [W], player 0's utility of the finished orders: 1, 0 or -1.
    """

    child: np.ndarray
    parent: np.ndarray
    cell: np.ndarray
    row: np.ndarray
    utility: np.ndarray

    @property
    def num_rows(self) -> int:
        """W, the number of finished orders."""
        return len(self.utility)

    def cells_of(self, node: int) -> list[int]:
        """The cells of the stones at a node, in the order in which they were placed."""
        cells: list[int] = []
        while self.parent[node] >= 0:
            cells.append(int(self.cell[node]))
            node = int(self.parent[node])
        return cells[::-1]


@functools.lru_cache(maxsize=8)
def orders_of(board: Board) -> Orders:
    """The game tree of a board game; computed once for each board."""
    return Orders(*board_kernels.enumerate_orders(board.num_cells, board.wins))
