"""Abrupt phantom games: nobody sees the other's stones, and a try that fails ends the turn.

Fix for every turn whether its try succeeds, and where those stones lie: a *skeleton*. Then the
cells at which the two players fail are independent of each other: each fails somewhere among those
stones of the opponent that lie there by then. All that a player's part depends on is its *view*:
where its tries succeeded, and at which sets of stones they failed. With its realization plan x_p,

  W_p(view) = the sum of x_p over p's sequences that end with the view,
  player 0's expected utility = the sum over skeletons of u W_0(view of 0) W_1(view of 1).

Abrupt phantom tic-tac-toe has 5.3 * 10^8 skeletons and 1.7 * 10^8 views, instead of 1.4 * 10^10
terminal histories. Views that a won game may end with are numbered: *slots*. So values against a
plan are three products with matrices of 0, 1 and -1: of the opponent's slots by its sequences, of
both players' slots, and of the player's own slots by its sequences. What follows a view, an infoset
or a skeleton depends on its *class* alone, so blocks of these matrices repeat, and are kept once.
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
from spiel_dl.factored.stones import PathTensors
from spiel_dl.games.boards import Board
from spiel_dl.tree.factored_form import Cost, FactoredForm

_SECONDS_PER_SLOT = 7e-8
# The first row and column of matrices: sequence 0 is the empty one.
_SEQUENCES, _SLOTS = np.array([0, 1]), np.array([0, 0])


class BoardTables(NamedTuple):
    """What compiled code looks up about sets of cells.

    Attributes:
      places: int8 [2^n, n], how many cells below a cell are not in a set.
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
      num_cells: n, of the board.
      num_slots: of both players.
      seen: of each player, the matrix of its slots by its sequences: which end with which view.
      skeletons: player 0's utilities in won games, by both players' slots.
    """

    num_cells: int
    num_slots: tuple[int, int]
    seen: tuple[MergedMatrix, MergedMatrix]
    skeletons: MergedMatrix

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        weights = self.weights(1 - player, opponent_plan)
        if player == 1:
            np.negative(weights, out=weights)  # Utilities are player 0's.
        values = np.zeros(self.num_slots[player])
        self._multiply(self.skeletons, player, player, _SLOTS, weights, values)
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        self._multiply(self.seen[player], 0, 1, _SEQUENCES, values, cfv)
        return cfv

    def weights(self, player: int, plan: np.ndarray) -> np.ndarray:
        """W_p, a player's part in the probability of each of its slots: [L_p].

        Args:
          player: whose.
          plan: float64 [S_p], its realization plan.
        """
        weights = np.zeros(self.num_slots[player])
        plan = np.ascontiguousarray(plan, np.float64)
        self._multiply(self.seen[player], 0, 0, _SEQUENCES, plan, weights)
        return weights

    def _multiply(
        self,
        matrix: MergedMatrix,
        split: int,
        side: int,
        begins: np.ndarray,
        source: np.ndarray,
        target: np.ndarray,
    ) -> None:
        """See `merged_kernels.add_products`; what begins with different cells is apart."""

        def work(cell: int) -> None:
            merged_kernels.add_products(matrix, split, cell, side, begins, source, target)

        self.in_threads(work, self.num_cells)

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        num_slots = sum(self.num_slots)
        matrices = sum(array.nbytes for each in (*self.seen, self.skeletons) for array in each)
        return Cost(_SECONDS_PER_SLOT * num_slots, 8 * num_slots + matrices)


def _seen(
    board: BoardTables, classes: abrupt_classes.AbruptClasses, views: ViewTables
) -> MergedMatrix:
    """A player's matrix of slots by sequences."""
    tried, first_choice, fail, success = classes
    following = abrupt_kernels.follow_infosets(first_choice, fail, success)

    def expand(keys: np.ndarray, level: int) -> Expansion:
        del level
        found = abrupt_kernels.expand_views(
            keys, tried, first_choice, following, views, board.places
        )
        return Expansion._make((*found, True))

    return merged.build(0, expand)


def _skeletons(board: BoardTables, views: Sequence[ViewTables]) -> MergedMatrix:
    """Player 0's utilities by both players' slots."""

    def expand(keys: np.ndarray, level: int) -> Expansion:
        mover = level % 2
        found = abrupt_kernels.expand_skeletons(
            keys, mover, views[mover], views[1 - mover], board.places, board.winning
        )
        return Expansion._make((*found, mover == 1))  # The other player wins by the turn after.

    nobody = np.zeros(2, np.int64)
    return merged.build(int(abrupt_kernels.key_of_skeletons(nobody, nobody)), expand)


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptGame(StoneGame):
    """An abrupt phantom game, OpenSpiel's or ours.

    Attributes:
      sequence_form: its payoffs.
      board: the board game.
    """

    sequence_form: AbruptForm
    board: Board

    @staticmethod
    def build(
        game: pyspiel.Game, board: Board, tensors: PathTensors, *, num_threads: int
    ) -> AbruptGame:
        """The game on a board; see the attributes."""
        tables = BoardTables.of_board(board)
        found = [abrupt_classes.enumerate_classes(board, player) for player in (0, 1)]
        classes = [InfosetClasses.number(board.num_cells, *each) for each in found]
        views = [abrupt_views.enumerate_views(board, player) for player in (0, 1)]
        form = AbruptForm(
            (classes[0].treeplex, classes[1].treeplex),
            2.0,
            num_threads,
            board.num_cells,
            (int(views[0].num_slots[0]), int(views[1].num_slots[0])),
            (_seen(tables, found[0], views[0]), _seen(tables, found[1], views[1])),
            _skeletons(tables, views),
        )
        return AbruptGame(game, form, (classes[0], classes[1]), tensors, board)

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of one of the histories in an infoset; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        paths = self.classes[player].paths
        own = [(cell, not paths.failed[infoset] >> cell & 1) for cell in paths.tries(infoset)]
        found = _Search(self.board, player, own).history()
        assert found is not None, "infosets have histories"
        return found


class _Search:
    """Looks for tries of the opponent with which a player's own ones turn out as they did."""

    def __init__(self, board: Board, player: int, own: list[tuple[int, bool]]):
        self._board, self._player, self._own = board, player, own
        self._actions: list[int] = []

    def history(self) -> list[int] | None:
        """All actions until the player's next turn; None: there are none such."""
        return list(self._actions) if self._go_on(0, (0, 0), 0) else None

    def _go_on(self, turn: int, stones: tuple[int, int], others_failed: int) -> bool:
        """Whether there are further actions; they are in `_actions` then.

        Args:
          turn: its number, from 0 on.
          stones: the player's and the opponent's.
          others_failed: the set of cells at which the opponent has failed.
        """
        mine, theirs = stones
        is_own = turn % 2 == self._player
        if is_own and turn // 2 == len(self._own):
            return True
        if is_own:
            cell, succeeds = self._own[turn // 2]
            if bool(theirs >> cell & 1) == succeeds:
                return False
            return self._try(turn, cell, (mine | succeeds << cell, theirs), others_failed)
        left = mine & ~others_failed
        if left:
            cell = left.bit_length() - 1
            if self._try(turn, cell, stones, others_failed | 1 << cell):
                return True
        for cell in range(self._board.num_cells):
            if not (mine | theirs) >> cell & 1:
                more = theirs | 1 << cell
                full = (mine | more) == (1 << self._board.num_cells) - 1
                if full or self._board.wins[1 - self._player, more]:
                    continue
                if self._try(turn, cell, (mine, more), others_failed):
                    return True
        return False

    def _try(self, turn: int, cell: int, stones: tuple[int, int], others_failed: int) -> bool:
        self._actions.append(cell)
        if self._go_on(turn + 1, stones, others_failed):
            return True
        self._actions.pop()
        return False
