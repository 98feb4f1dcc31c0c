"""Abrupt phantom games: nobody sees the other's stones, and a try that fails ends the turn.

Fix for every turn whether its try succeeds, and where those stones lie: a *skeleton*. Then the
cells at which the two players fail are independent of each other: each fails somewhere among those
stones of the opponent that lie there by then. So with player p's realization plan x_p,

  W_p(skeleton) = the sum of x_p over p's sequences that end with the skeleton,

and values are sums over skeletons, of which abrupt phantom tic-tac-toe has 5.3 * 10^8, instead of
over its 1.4 * 10^10 terminal histories. They are walked depth first with the lists of both players'
infosets that are compatible, and kept nowhere. Where an infoset comes to stand after a try is known
from its *class*, of which there are some ten thousand.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.tree.factored import abrupt_classes, abrupt_kernels
from spiel_dl.tree.factored.boards import Board
from spiel_dl.tree.factored.factored_form import FactoredForm
from spiel_dl.tree.factored.factored_game import FactoredGame, Observations
from spiel_dl.tree.factored.infoset_classes import InfosetClasses
from spiel_dl.tree.factored.stones import StoneTensors, check_mover


class StepTables(NamedTuple):
    """Where infosets stand, for compiled code. See `InfosetClasses`.

    Both players' classes and choices are numbered on, first those of player 0.

    Attributes:
      tried: int32 [C].
      first_choice: int32 [C + 1].
      fail, success: int32 [K].
      fail_step, success_step: int32 [K], how far behind an infoset's first sequence the one of the
        next infoset stands.
      first_class: int32 [2], both players' first class.
    """

    tried: np.ndarray
    first_choice: np.ndarray
    fail: np.ndarray
    success: np.ndarray
    fail_step: np.ndarray
    success_step: np.ndarray
    first_class: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class AbruptForm(FactoredForm):
    """The factored payoffs of an abrupt phantom game.

    Attributes:
      board: the board game.
      classes: both players'.
    """

    board: Board
    classes: tuple[InfosetClasses, InfosetClasses]

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)

        def work(cell: int) -> None:  # Sequences that begin with different cells are apart.
            abrupt_kernels.add_values(
                self.board.wins, self._places, self._tables, player, cell, plan, cfv
            )

        self.in_threads(work, self.board.num_cells)
        return cfv

    @functools.cached_property
    def _tables(self) -> StepTables:
        first, second = self.classes
        own_steps = [
            abrupt_kernels.steps(own.first_choice, own.fail, own.success) for own in self.classes
        ]
        first_class = np.array([0, len(first.tried)], np.int32)
        # A class that there is not stays -1.
        fail, success = (
            np.where(after >= 0, after + first_class[1], -1).astype(np.int32)
            for after in (second.fail, second.success)
        )
        num_choices = np.int32(len(first.fail))
        return StepTables(
            np.concatenate([first.tried, second.tried]),
            np.concatenate([first.first_choice[:-1], second.first_choice + num_choices]),
            np.concatenate([first.fail, fail]),
            np.concatenate([first.success, success]),
            np.concatenate([own_steps[0][0], own_steps[1][0]]),
            np.concatenate([own_steps[0][1], own_steps[1][1]]),
            first_class,
        )

    @functools.cached_property
    def _places(self) -> np.ndarray:
        """Of a set of cells, how many cells below a cell are not in it: int8 [2^n, n]."""
        cells = np.arange(self.board.num_cells)
        is_free = ~np.arange(1 << self.board.num_cells)[:, None] >> cells & 1
        return (is_free.cumsum(axis=1) - is_free).astype(np.int8)


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
        form = AbruptForm(treeplexes, 2.0, num_threads, board, (classes[0], classes[1]))
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
