"""Abrupt phantom games: nobody sees the other's stones, and a try that fails ends the turn.

Fix for every turn whether its try succeeds, and where those stones lie: a *skeleton*. Then the
cells at which the two players fail are independent of each other: each fails somewhere among those
stones of the opponent that lie there by then. All that a player's part depends on is its *view*:
where its tries succeeded, and at which sets of stones they failed. With its realization plan x_p,

  W_p(view) = the sum of x_p over p's sequences that end with the view,
  player 0's expected utility = the sum over skeletons of u W_0(view of 0) W_1(view of 1).

Abrupt phantom tic-tac-toe has 5.3 * 10^8 skeletons and 1.7 * 10^8 views, instead of 1.4 * 10^10
terminal histories. So values against a plan take three walks: over the opponent's views with the
lists of its infosets, over the skeletons, and over the player's own views. Nothing but W and what
it pays is kept. Where an infoset or a view comes to stand after a try is known from its *class*, of
which there are some ten thousand.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.tree.factored import abrupt_classes, abrupt_kernels, abrupt_views
from spiel_dl.tree.factored.abrupt_views import ViewTables
from spiel_dl.tree.factored.boards import Board
from spiel_dl.tree.factored.factored_form import Cost, FactoredForm
from spiel_dl.tree.factored.factored_game import FactoredGame, Observations
from spiel_dl.tree.factored.infoset_classes import InfosetClasses
from spiel_dl.tree.factored.stones import StoneTensors, check_mover

_SECONDS_PER_SLOT = 2.5e-7


class BoardTables(NamedTuple):
    """What compiled code looks up about sets of cells.

    Attributes:
      places: int8 [2^n, n], how many cells below a cell are not in a set.
      untried: int8 [2^n, n], the cells that are not in it, in order; then -1.
      winning: int16 [2, 2^n], the set of cells where one more stone wins.
      lowest: int8 [2^(n + 1)], the lowest bit of a number.
    """

    places: np.ndarray
    untried: np.ndarray
    winning: np.ndarray
    lowest: np.ndarray

    @staticmethod
    def of_board(board: Board) -> BoardTables:
        """The tables of a board."""
        n = board.num_cells
        cells, sets = np.arange(n), np.arange(1 << n)
        is_free = ~sets[:, None] >> cells & 1
        places = is_free.cumsum(axis=1) - is_free
        order = np.where(is_free, cells, n)
        order.sort(axis=1)
        wins = board.wins[:, sets[:, None] | 1 << cells] & is_free.astype(np.bool_)
        numbers = np.arange(1 << (n + 1))
        lowest = np.log2(np.maximum(numbers & -numbers, 1))
        return BoardTables(
            places.astype(np.int8),
            np.where(order < n, order, -1).astype(np.int8),
            (wins << cells).sum(axis=2).astype(np.int16),
            lowest.astype(np.int8),
        )


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptForm(FactoredForm):
    """The factored payoffs of an abrupt phantom game.

    Attributes:
      board: the board game.
      classes: both players' infosets.
      views: both players'.
    """

    board: Board
    classes: tuple[InfosetClasses, InfosetClasses]
    views: tuple[ViewTables, ViewTables]

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        weights = self.weights(1 - player, opponent_plan)
        values = np.zeros(self.views[player].num_slots[0])
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        following, views = self._following[player], self.views[player]

        def work(cell: int) -> None:  # What begins with different cells is apart.
            abrupt_kernels.add_skeletons(
                self._board, *self._both_views, player, cell, weights, values
            )
            abrupt_kernels.walk_views(following, views, self._board, cell, False, cfv, values)

        self.in_threads(work, self.board.num_cells)
        return cfv

    def weights(self, player: int, plan: np.ndarray) -> np.ndarray:
        """W_p, a player's part in the probability of each of its views: float64 [L_p].

        Args:
          player: whose.
          plan: float64 [S_p], its realization plan.
        """
        weights = np.zeros(self.views[player].num_slots[0])
        plan = np.ascontiguousarray(plan, np.float64)
        following, views = self._following[player], self.views[player]

        def work(cell: int) -> None:
            abrupt_kernels.walk_views(following, views, self._board, cell, True, plan, weights)

        self.in_threads(work, self.board.num_cells)
        return weights

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        num_slots = sum(int(views.num_slots[0]) for views in self.views)
        return Cost(_SECONDS_PER_SLOT * num_slots, 8 * num_slots)

    @functools.cached_property
    def _board(self) -> BoardTables:
        return BoardTables.of_board(self.board)

    @functools.cached_property
    def _following(self) -> list[np.ndarray]:
        return [
            abrupt_kernels.follow_infosets(own.tried, own.first_choice, own.fail, own.success)
            for own in self.classes
        ]

    @functools.cached_property
    def _both_views(self) -> tuple[ViewTables, np.ndarray]:
        """Both players' views in one, and the first class of each."""
        first, second = self.views
        num_classes = len(first.failing)
        moves = second.moves.copy()
        moves[moves[:, 0] >= 0, 0] += num_classes
        both = ViewTables(
            np.concatenate([first.first_choice, second.first_choice[1:] + first.first_choice[-1]]),
            np.concatenate([first.stones, second.stones]),
            np.concatenate([first.moves, moves]),
            np.concatenate([first.failing, second.failing]),
            np.concatenate([first.num_slots, second.num_slots]),
        )
        return both, np.array([0, num_classes])


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptGame(FactoredGame):
    """An abrupt phantom game of OpenSpiel's.

    Attributes:
      sequence_form: its payoffs and classes.
      tensors: how OpenSpiel writes what a player has tried.
    """

    sequence_form: AbruptForm
    tensors: StoneTensors

    @staticmethod
    def build(
        game: pyspiel.Game, board: Board, tensors: StoneTensors, *, num_threads: int
    ) -> AbruptGame:
        """The game on a board; see the attributes."""
        classes = []
        for player in (0, 1):
            found = abrupt_classes.enumerate_classes(board, player)
            classes.append(InfosetClasses.number(board.num_cells, *found))
        treeplexes = (classes[0].treeplex, classes[1].treeplex)
        views = (abrupt_views.enumerate_views(board, 0), abrupt_views.enumerate_views(board, 1))
        form = AbruptForm(treeplexes, 2.0, num_threads, board, (classes[0], classes[1]), views)
        return AbruptGame(game, form, tensors)

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        return np.array(self.sequence_form.classes[player].cells(infoset), np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        return self.sequence_form.classes[player].find(state, player)

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of one of the histories in an infoset; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        paths = self.sequence_form.classes[player].paths
        own = [(cell, not paths.failed[infoset] >> cell & 1) for cell in paths.tries(infoset)]
        found = _Search(self.sequence_form.board, player, own).history()
        assert found is not None, "infosets have histories"
        return found

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """What a player sees in the infosets from `begin` to before `end`."""
        return self.tensors.write(player, self.sequence_form.classes[player].paths, begin, end)


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
