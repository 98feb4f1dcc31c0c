"""A player's tries in phantom games, in order, and which failed; OpenSpiel's tensors of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.tree.from_openspiel import check_game_of
from spiel_dl.tree.information_states import Observations


class StonePaths(NamedTuple):
    """A player's tries before each of its infosets.

    Attributes:
      cells: int8 [I, n], the cells tried, in order; -1 after the last one.
      num_tried: int8 [I], the number of tries.
      failed: int32 [I], the set of cells at which it failed; bit c is cell c.
    """

    cells: np.ndarray
    num_tried: np.ndarray
    failed: np.ndarray

    def tries(self, infoset: int) -> list[int]:
        """The cells that were tried before an infoset, in order."""
        cells: list[int] = self.cells[infoset, : self.num_tried[infoset]].tolist()
        return cells


@dataclasses.dataclass(frozen=True)
class StoneTensors:
    """Writes the tensors of OpenSpiel's games.

    First the known contents of each cell, one-hot, then the tries in order, one-hot.

    Attributes:
      num_cells: n.
      cell_stride, kind_stride: distances in the tensor of two cells, and of two contents of a cell.
      num_kinds: the number of contents that a cell may have.
      kinds: the contents: nothing known, a stone of player 0, a stone of player 1.
    """

    num_cells: int
    cell_stride: int
    kind_stride: int
    num_kinds: int
    kinds: tuple[int, int, int]

    def write(self, player: int, paths: StonePaths, begin: int, end: int) -> Observations:
        """The tensors of a player's infosets from `begin` to before `end`."""
        n, cells = self.num_cells, paths.cells[begin:end].astype(np.int64)
        infosets, order = np.nonzero(cells >= 0)
        tried = cells[infosets, order]
        has_failed = (paths.failed[begin:end][infosets] >> tried & 1).astype(np.bool_)
        kinds = np.full((end - begin, n), self.kinds[0])
        kinds[infosets, tried] = np.where(
            has_failed, self.kinds[2 - player], self.kinds[1 + player]
        )
        tensors = np.zeros((end - begin, n * self.num_kinds + n * n), np.float32)
        places = np.arange(n) * self.cell_stride + kinds * self.kind_stride
        np.put_along_axis(tensors, places, 1.0, axis=1)
        tensors[infosets, n * self.num_kinds + order * n + tried] = 1.0
        legal = np.ones((end - begin, n), np.bool_)
        legal[infosets, tried] = False
        return Observations(tensors, legal)


def tries(state: pyspiel.State, num_cells: int) -> Iterator[tuple[int, int, bool]]:
    """The tries before a state: player, cell, and whether the try succeeded."""
    stones: set[int] = set()
    for step in state.full_history():
        if step.action >= num_cells:  # a wait, see `spiel_dl.games.phantom`
            continue
        yield int(step.player), int(step.action), step.action not in stones
        stones.add(step.action)


def check_mover(game: pyspiel.Game, state: pyspiel.State, player: int) -> None:
    """Raises a ValueError if it is not a player's turn, or the state is of another game."""
    check_game_of(state, game)
    if state.current_player() != player:
        raise ValueError(
            f"player {player} does not move in this state, but player {state.current_player()}"
        )
