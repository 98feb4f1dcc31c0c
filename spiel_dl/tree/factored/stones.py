"""What OpenSpiel's phantom games tell a player: its own tries, in order, and which failed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.tree.factored.factored_game import Observations


class StonePaths(NamedTuple):
    """What a player has tried before each of its infosets.

    Attributes:
      cells: int8 [I, n], in order; -1 after the last one.
      num_tried: int8 [I].
      failed: int32 [I], the set of cells at which it failed; bit c is cell c.
    """

    cells: np.ndarray
    num_tried: np.ndarray
    failed: np.ndarray

    def tries(self, infoset: int) -> list[int]:
        """The cells that were tried before an infoset, in order."""
        own: list[int] = self.cells[infoset, : self.num_tried[infoset]].tolist()
        return own


@dataclasses.dataclass(frozen=True)
class StoneTensors:
    """How a game's information state tensors are written.

    First one-hot what a player knows of each cell, then one-hot its tries in order.

    Attributes:
      num_cells: n.
      cell_stride, kind_stride: where the entry of a cell and what lies there stands.
      num_kinds: how many kinds of things may lie on a cell.
      kinds: nothing known, a stone of player 0, a stone of player 1.
    """

    num_cells: int
    cell_stride: int
    kind_stride: int
    num_kinds: int
    kinds: tuple[int, int, int]

    def write(self, player: int, paths: StonePaths, begin: int, end: int) -> Observations:
        """The tensors of a player's infosets from `begin` to before `end`."""
        n = self.num_cells
        cells = paths.cells[begin:end].astype(np.int64)
        infosets, order = np.nonzero(cells >= 0)
        tried = cells[infosets, order]
        kinds = np.full((end - begin, n), self.kinds[0])
        has_failed = paths.failed[begin:end][infosets] >> tried & 1
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


def tries(state: pyspiel.State) -> Iterator[tuple[int, int, bool]]:
    """What the players have tried before a state: player, cell, and whether it succeeded."""
    stones: set[int] = set()
    for step in state.full_history():
        yield int(step.player), int(step.action), step.action not in stones
        stones.add(step.action)


def check_mover(game: pyspiel.Game, state: pyspiel.State, player: int) -> None:
    """Raises a ValueError if it is not a player's turn, or the state is of another game."""
    own = state.get_game()
    if own is not game and str(own) != str(game):
        raise ValueError(f"the state is of {own}, not of {game}; ask with a state of this game")
    if state.current_player() != player:
        raise ValueError(
            f"player {player} does not move in this state, but player {state.current_player()}"
        )
