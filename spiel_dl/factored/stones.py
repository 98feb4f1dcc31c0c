"""Information state tensors of phantom games: a player's tries, in order, and which failed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
import pyspiel

from spiel_dl.games.boards import turn_lengths
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


class PathTensors(Protocol):
    """Writes a game's information state tensors."""

    def write(self, player: int, paths: StonePaths, begin: int, end: int) -> Observations:
        """The tensors of a player's infosets from `begin` to before `end`."""


# Of each try: the infoset, from 0 on, the order, the cell, and whether it failed: all [M].
_Tries = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


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
        n = self.num_cells
        infosets, order, tried, has_failed = _tries_before(paths, begin, end)
        kinds = np.full((end - begin, n), self.kinds[0])
        kinds[infosets, tried] = np.where(
            has_failed, self.kinds[2 - player], self.kinds[1 + player]
        )
        tensors = np.zeros((end - begin, n * self.num_kinds + n * n), np.float32)
        places = np.arange(n) * self.cell_stride + kinds * self.kind_stride
        np.put_along_axis(tensors, places, 1.0, axis=1)
        tensors[infosets, n * self.num_kinds + order * n + tried] = 1.0
        return Observations(tensors, _not_tried(n, end - begin, infosets, tried))


@dataclasses.dataclass(frozen=True)
class TurnTensors:
    """Writes `python_abrupt_*` games: the player, all tries, the end, own tries, which failed.

    `spiel_dl.games.phantom` has the table.

    Attributes:
      num_cells: n.
    """

    num_cells: int

    def write(self, player: int, paths: StonePaths, begin: int, end: int) -> Observations:
        """The tensors of a player's infosets from `begin` to before `end`."""
        n = self.num_cells
        steps = 2 * paths.num_tried[begin:end] + player
        tensors, not_tried = _of_steps(
            player, n, 2 * n - 1, steps, _tries_before(paths, begin, end)
        )
        return Observations(tensors, not_tried)


@dataclasses.dataclass(frozen=True)
class WaitingTensors:
    """Writes classical `python_*` games: the player, all steps, the end, tries, which failed.

    `spiel_dl.games.phantom` has the table.

    Attributes:
      num_cells: n.
    """

    num_cells: int

    def write(self, player: int, paths: StonePaths, begin: int, end: int) -> Observations:
        """The tensors of a player's infosets from `begin` to before `end`."""
        n, lengths = self.num_cells, turn_lengths(self.num_cells)
        num_steps, starts = sum(lengths), np.cumsum([0, *lengths])
        before = _tries_before(paths, begin, end)
        infosets, order, _, has_failed = before
        num_infosets, num_tried = end - begin, paths.num_tried[begin:end].astype(np.int64)
        succeeds = ~has_failed
        num_stones = np.bincount(infosets[succeeds], minlength=num_infosets)
        # The tries of this turn: those after the last stone, all of which failed.
        after_stone = np.zeros(num_infosets, np.int64)
        np.maximum.at(after_stone, infosets[succeeds], order[succeeds] + 1)
        steps = starts[2 * num_stones + player] + num_tried - after_stone
        tensors, not_tried = _of_steps(player, n, num_steps, steps, before)
        waits = np.zeros((num_infosets, 1), np.bool_)  # Waiting players have no infosets.
        return Observations(tensors, np.concatenate([not_tried, waits], axis=1))


def features_of_tensors(tensors: np.ndarray, num_cells: int) -> np.ndarray:
    """The networks' inputs in this package's games (`PhantomRules.features`): float32 [N, F].

    Args:
      tensors: float32 [N, D], information state tensors of `_of_steps`.
      num_cells: n.
    """
    n = num_cells
    num_steps = tensors.shape[1] - 3 - n * n - n
    parts = np.split(tensors, np.cumsum([2, num_steps, 1, n * n]), axis=1)
    player, steps, _, own_tries, failed = parts
    tried = own_tries.reshape(-1, n, n).sum(axis=1)
    stones = tried - failed
    counts = np.stack([stones.sum(axis=1), failed.sum(axis=1)], axis=1) * np.float32(1 / n)
    return np.concatenate([player, stones, failed, 1 - tried, counts, steps, own_tries], axis=1)


def _of_steps(
    player: int, num_cells: int, num_steps: int, steps: np.ndarray, before: _Tries
) -> tuple[np.ndarray, np.ndarray]:
    """Writes infosets as `PhantomRules`: the player, all steps, the end, own tries, which failed.

    Args:
      player: the player.
      num_cells: n.
      num_steps: T, the most steps of a game.
      steps: int [N], the number of steps before each infoset.
      before: the tries.

    Returns:
      The tensors, float32 [N, 2 + T + 1 + n n + n], and the cells not tried: bool [N, n].
    """
    n, (infosets, order, tried, has_failed) = num_cells, before
    tensors = np.zeros((len(steps), 2 + num_steps + 1 + n * n + n), np.float32)
    tensors[:, player] = 1.0
    tensors[:, 2 : 2 + num_steps] = np.arange(num_steps) < steps[:, None]
    own_tries = 2 + num_steps + 1
    tensors[infosets, own_tries + order * n + tried] = 1.0
    tensors[infosets[has_failed], own_tries + n * n + tried[has_failed]] = 1.0
    return tensors, _not_tried(n, len(steps), infosets, tried)


def _tries_before(paths: StonePaths, begin: int, end: int) -> _Tries:
    """All tries before the infosets from `begin` to before `end`."""
    cells = paths.cells[begin:end].astype(np.int64)
    infosets, order = np.nonzero(cells >= 0)
    tried = cells[infosets, order]
    has_failed = (paths.failed[begin:end][infosets] >> tried & 1).astype(np.bool_)
    return infosets, order, tried, has_failed


def _not_tried(
    num_cells: int, num_infosets: int, infosets: np.ndarray, tried: np.ndarray
) -> np.ndarray:
    """The cells that were not tried: bool [N, n]."""
    legal = np.ones((num_infosets, num_cells), np.bool_)
    legal[infosets, tried] = False
    return legal


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
