"""Abrupt phantom games: players do not see the opponent's stones; a failed try ends the turn.

A *skeleton* fixes for every turn whether its try succeeds, and the cells of the successful ones.
Given a skeleton, the cells at which the two players fail are independent: each fails at one of the
opponent's stones that lie on the board by then. A player's factor depends on its *view* alone:
where its tries succeeded, and at which sets of stones they failed. With its realization plan x_p,

  W_p(view) = the sum of x_p over p's sequences that end with the view,
  player 0's expected utility = the sum over skeletons of u W_0(view of 0) W_1(view of 1).

Abrupt phantom tic-tac-toe has 5.3 * 10^8 skeletons and 1.7 * 10^8 views, instead of 1.4 * 10^10
terminal histories. Views that a won game may end with are numbered as *slots*. So values against a
plan are three products with matrices of 0, 1 and -1: of the opponent's slots by its sequences, of
both players' slots, and of the player's own slots by its sequences. What follows a view, an infoset
or a skeleton depends on its *class* alone, so blocks of these matrices repeat, and are stored once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored import (
    abrupt_classes,
    abrupt_kernels,
    abrupt_views,
    merged,
    merged_kernels,
)
from spiel_dl.factored.abrupt_views import ViewTables
from spiel_dl.factored.infoset_classes import InfosetClasses, StoneGame
from spiel_dl.factored.merged import Expansion, MergedMatrix
from spiel_dl.factored.stones import StoneTensors
from spiel_dl.games.boards import Board
from spiel_dl.tree.factored_form import Cost, FactoredForm

_SECONDS_PER_SLOT = 7e-8
# The first row and column of matrices: sequence 0 is the empty one.
_SEQUENCE_OFFSETS, _SLOT_OFFSETS = np.array([0, 1]), np.array([0, 0])


class BoardTables(NamedTuple):
    """Tables by sets of cells, for compiled code.

    Attributes:
      places: int8 [2^n, n], the number of cells below a cell that are not in a set.
      winning: int16 [2, 2^n], the set of cells where one more stone wins.
    """

    places: np.ndarray
    winning: np.ndarray

    @staticmethod
    def of_board(board: Board) -> BoardTables:
        """The tables of a board."""
        n = board.num_cells
        cells, sets = np.arange(n), np.arange(1 << n)
        is_free = ~sets[:, None] >> cells & 1
        places = is_free.cumsum(axis=1) - is_free
        wins = board.wins[:, sets[:, None] | 1 << cells] & is_free.astype(np.bool_)
        return BoardTables(places.astype(np.int8), (wins << cells).sum(axis=2).astype(np.int16))


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptForm(FactoredForm):
    """The factored payoffs of an abrupt phantom game.

    Attributes:
      num_cells: n, the board's number of cells.
      num_slots: each player's number of slots.
      view_matrices: for each player, slots by sequences: 1 where a sequence ends with the view.
      skeletons: player 0's utilities in won games, by both players' slots.
    """

    num_cells: int
    num_slots: tuple[int, int]
    view_matrices: tuple[MergedMatrix, MergedMatrix]
    skeletons: MergedMatrix

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences against a plan: float64 [S_p], a new array."""
        weights = self.weights(1 - player, opponent_plan)
        if player == 1:
            np.negative(weights, out=weights)  # Utilities are player 0's.
        values = np.zeros(self.num_slots[player])
        self._multiply(self.skeletons, player, player, _SLOT_OFFSETS, weights, values)
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        self._multiply(self.view_matrices[player], 0, 1, _SEQUENCE_OFFSETS, values, cfv)
        return cfv

    def weights(self, player: int, plan: np.ndarray) -> np.ndarray:
        """W_p, a player's factor of the probability of each of its slots: float64 [L_p].

        Args:
          player: the player.
          plan: float64 [S_p], its realization plan.
        """
        weights = np.zeros(self.num_slots[player])
        plan = np.ascontiguousarray(plan, np.float64)
        self._multiply(self.view_matrices[player], 0, 0, _SEQUENCE_OFFSETS, plan, weights)
        return weights

    def _multiply(
        self,
        matrix: MergedMatrix,
        split: int,
        side: int,
        offsets: np.ndarray,
        source: np.ndarray,
        target: np.ndarray,
    ) -> None:
        """Adds a product in parallel, see `merged_kernels.add_products`; parts are first cells."""

        def add_part(cell: int) -> None:
            merged_kernels.add_products(matrix, split, cell, side, offsets, source, target)

        self.in_threads(add_part, self.num_cells)

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        num_slots = sum(self.num_slots)
        arrays = (array for each in (*self.view_matrices, self.skeletons) for array in each)
        num_bytes = 8 * num_slots + sum(array.nbytes for array in arrays)
        return Cost(_SECONDS_PER_SLOT * num_slots, num_bytes)


def _view_matrix(
    board: BoardTables, classes: abrupt_classes.AbruptClasses, views: ViewTables
) -> MergedMatrix:
    """A player's matrix of slots by sequences."""
    tried, first_choice, fail, success = classes
    following = abrupt_kernels.follow_infosets(first_choice, fail, success)

    def expand(keys: np.ndarray, level: int) -> Expansion:
        del level
        arrays = abrupt_kernels.expand_views(
            keys, tried, first_choice, following, views, board.places
        )
        return Expansion._make((*arrays, True))

    return merged.build(0, expand)


def _skeletons(board: BoardTables, views: Sequence[ViewTables]) -> MergedMatrix:
    """Player 0's utilities by both players' slots."""

    def expand(keys: np.ndarray, level: int) -> Expansion:
        mover = level % 2
        arrays = abrupt_kernels.expand_skeletons(
            keys, mover, views[mover], views[1 - mover], board.places, board.winning
        )
        return Expansion._make((*arrays, mover == 1))  # The opponent wins by the turn after.

    no_stones = np.zeros(2, np.int64)
    return merged.build(int(abrupt_kernels.key_of_skeletons(no_stones, no_stones)), expand)


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptGame(StoneGame):
    """An abrupt phantom game, OpenSpiel's or ours.

    Attributes:
      sequence_form: its factored payoffs.
      board: the board game.
    """

    sequence_form: AbruptForm
    board: Board

    @staticmethod
    def build(
        game: pyspiel.Game, board: Board, tensors: StoneTensors | None, *, num_threads: int
    ) -> AbruptGame:
        """The factored form of a game on a board."""
        tables = BoardTables.of_board(board)
        arrays = [abrupt_classes.enumerate_classes(board, player) for player in (0, 1)]
        classes = [InfosetClasses.number(board.num_cells, *each) for each in arrays]
        views = [abrupt_views.enumerate_views(board, player) for player in (0, 1)]
        form = AbruptForm(
            (classes[0].treeplex, classes[1].treeplex),
            2.0,
            num_threads,
            board.num_cells,
            (int(views[0].num_slots[0]), int(views[1].num_slots[0])),
            (_view_matrix(tables, arrays[0], views[0]), _view_matrix(tables, arrays[1], views[1])),
            _skeletons(tables, views),
        )
        return AbruptGame(game, form, (classes[0], classes[1]), tensors, board)

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of a history in an infoset; ValueError if the player has no such infoset."""
        self.check_infoset(player, infoset)
        paths = self.classes[player].paths
        own_tries = [(cell, not paths.failed[infoset] >> cell & 1) for cell in paths.tries(infoset)]
        actions = _HistorySearch(self.board, player, own_tries).history()
        assert actions is not None, "infosets have histories"
        return actions


class _HistorySearch:
    """Searches for tries of the opponent that give a player's tries their outcomes."""

    def __init__(self, board: Board, player: int, own_tries: list[tuple[int, bool]]):
        self._board, self._player, self._own_tries = board, player, own_tries
        self._actions: list[int] = []

    def history(self) -> list[int] | None:
        """All actions until the player's next turn; None: the outcomes are impossible."""
        return list(self._actions) if self._extend(0, (0, 0), 0) else None

    def _extend(self, turn: int, stones: tuple[int, int], opponent_failed: int) -> bool:
        """Appends the remaining actions to `_actions`; whether there are any.

        Args:
          turn: number of the turn, from 0 on.
          stones: the player's and the opponent's sets of cells.
          opponent_failed: the set of cells at which the opponent has failed.
        """
        own, opponent = stones
        is_own = turn % 2 == self._player
        if is_own and turn // 2 == len(self._own_tries):
            return True
        if is_own:
            cell, succeeds = self._own_tries[turn // 2]
            if bool(opponent >> cell & 1) == succeeds:
                return False
            return self._try(turn, cell, (own | succeeds << cell, opponent), opponent_failed)
        untried = own & ~opponent_failed
        if untried:
            cell = untried.bit_length() - 1
            if self._try(turn, cell, stones, opponent_failed | 1 << cell):
                return True
        for cell in range(self._board.num_cells):
            if not (own | opponent) >> cell & 1:
                enlarged = opponent | 1 << cell
                full = (own | enlarged) == (1 << self._board.num_cells) - 1
                if full or self._board.wins[1 - self._player, enlarged]:
                    continue
                if self._try(turn, cell, (own, enlarged), opponent_failed):
                    return True
        return False

    def _try(self, turn: int, cell: int, stones: tuple[int, int], opponent_failed: int) -> bool:
        self._actions.append(cell)
        if self._extend(turn + 1, stones, opponent_failed):
            return True
        self._actions.pop()
        return False
