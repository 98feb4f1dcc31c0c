"""Classical phantom games: players do not see the opponent's stones; a failed try is repeated.

Given the order in which stones are placed, the failed tries of the two players are independent: a
player may fail at each of the opponent's stones that lie on the board by then. So with player p's
realization plan x_p,

  W_p(order) = the sum of x_p over p's sequences that end with the order,
  player 0's expected utility = the sum over orders of utility(order) W_0(order) W_1(order),

and the value of one of player 0's sequences is the sum of utility(order) W_1(order) over the orders
that it may end with. Phantom tic-tac-toe has 255 168 orders and 9.8 * 10^9 terminal histories.

The orders that may follow do not depend on the sequence of a turn's failures. So infosets that
differ in these sequences only are a *class*, and orders are listed by the choices of classes.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.factored import phantom_kernels
from spiel_dl.factored.infoset_classes import InfosetClasses, StoneGame
from spiel_dl.factored.orders import orders_of
from spiel_dl.factored.stones import StoneTensors, check_mover
from spiel_dl.games.boards import Board, turn_lengths
from spiel_dl.tree.factored_form import Cost, FactoredForm, equal_parts
from spiel_dl.tree.histories import counting_order

# Not the number of threads, so that sums do not depend on it.
_NUM_PARTS = 8
_SECONDS_PER_ENTRY = 2e-9


class ChoiceTables(NamedTuple):
    """The finished orders that may follow a player's sequences, for compiled code: all unsigned.

    Attributes:
      first_sequence: [I], the first sequence of each infoset.
      members: [I], the infosets of each class, one class after the other.
      first_member: [C + 1], a class's first entry in `members`.
      first_choice: [C + 1], a class's first choice.
      first_entry: [K + 1], a choice's first entry in `rows`.
      rows: [E], finished orders.
    """

    first_sequence: np.ndarray
    members: np.ndarray
    first_member: np.ndarray
    first_choice: np.ndarray
    first_entry: np.ndarray
    rows: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class PhantomClasses(InfosetClasses):
    """A player's infosets and their classes. See `phantom_kernels.enumerate_classes`.

    Attributes:
      node: int32 [C], a node of the board game that a class is compatible with.
      first_entry: int64 [K + 1], a choice's first entry in `rows`.
      rows: int32 [E], the finished orders that may follow a choice without another one.
    """

    node: np.ndarray
    first_entry: np.ndarray
    rows: np.ndarray

    @classmethod
    def enumerate(cls, board: Board, player: int) -> PhantomClasses:
        """The classes of a player."""
        orders = orders_of(board)
        roots = np.zeros(1, np.int32) if player == 0 else orders.child[0]
        arrays = phantom_kernels.enumerate_classes(orders.child, orders.row, roots)
        tried, node, first_choice, fail, success, first_entry, rows = arrays
        numbered = InfosetClasses.number(board.num_cells, tried, first_choice, fail, success)
        return cls(**numbered.fields(), node=node, first_entry=first_entry, rows=rows)

    @functools.cached_property
    def tables(self) -> ChoiceTables:
        """The tables for compiled code."""
        members, first_member = counting_order(self.class_of, len(self.tried))
        return ChoiceTables(
            self.treeplex.first_sequence.view(np.uint32),
            members.view(np.uint32),
            first_member.view(np.uint32),
            self.first_choice.view(np.uint32),
            self.first_entry.view(np.uint64),
            self.rows.view(np.uint32),
        )

    @functools.cached_property
    def parts(self) -> np.ndarray:
        """Bounds of parts of the classes with equally many entries: int64 [_NUM_PARTS + 1]."""
        return equal_parts(self.first_entry[self.first_choice], _NUM_PARTS)


@dataclasses.dataclass(frozen=True, eq=False)
class PhantomForm(FactoredForm):
    """The factored payoffs of a classical phantom game.

    Attributes:
      board: the board game.
      classes: both players' infosets and classes.
    """

    board: Board
    classes: tuple[PhantomClasses, PhantomClasses]

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences against a plan: float64 [S_p], a new array."""
        sign = 1.0 if player == 0 else -1.0
        weights = self.weights(1 - player, opponent_plan)
        values = sign * orders_of(self.board).utility * weights
        classes = self.classes[player]
        cfv = np.zeros(classes.treeplex.num_sequences)

        def add_part(part: int) -> None:
            bounds = classes.parts[part : part + 2]
            phantom_kernels.sum_values(classes.tables, bounds[0], bounds[1], values, cfv)

        self.in_threads(add_part, _NUM_PARTS)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        entries = sum(len(classes.rows) for classes in self.classes)
        num_bytes = 4 * entries + 8 * _NUM_PARTS * orders_of(self.board).num_rows
        return Cost(_SECONDS_PER_ENTRY * entries, num_bytes)

    def weights(self, player: int, plan: np.ndarray) -> np.ndarray:
        """W_p, a player's factor of the probability of each finished order: float64 [W].

        Args:
          player: the player.
          plan: float64 [S_p], its realization plan.
        """
        classes = self.classes[player]
        weights = np.zeros((_NUM_PARTS, orders_of(self.board).num_rows))
        plan = np.ascontiguousarray(plan, np.float64)

        def add_part(part: int) -> None:
            bounds = classes.parts[part : part + 2]
            phantom_kernels.add_weights(classes.tables, bounds[0], bounds[1], plan, weights[part])

        self.in_threads(add_part, _NUM_PARTS)
        return weights.sum(axis=0)


@dataclasses.dataclass(frozen=True, eq=False)
class PhantomGame(StoneGame):
    """A classical phantom game, OpenSpiel's or this package's.

    Attributes:
      sequence_form: its factored payoffs and classes.
      strings_count_turns: whether the game's strings show the number of the opponent's failures.
      has_waits: whether players wait until turns are over, see `games.phantom`. Waiting players
        have no infoset here.
    """

    sequence_form: PhantomForm
    strings_count_turns: bool = False
    has_waits: bool = False

    @staticmethod
    def build(
        game: pyspiel.Game,
        board: Board,
        tensors: StoneTensors | None,
        *,
        num_threads: int,
        strings_count_turns: bool = False,
        has_waits: bool = False,
    ) -> PhantomGame:
        """The factored form of a game on a board."""
        with concurrent.futures.ThreadPoolExecutor(min(num_threads, 2)) as threads:
            orders_of(board)
            first, second = threads.map(PhantomClasses.enumerate, (board, board), (0, 1))
        form = PhantomForm(
            (first.treeplex, second.treeplex), 2.0, num_threads, board, (first, second)
        )
        return PhantomGame(game, form, (first, second), tensors, strings_count_turns, has_waits)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        if self.forced_action(state) is not None:
            raise ValueError(f"player {player} waits in {state}, and has no infoset here")
        return super().find_infoset(state, player)

    def forced_action(self, state: pyspiel.State) -> int | None:
        """The action of waiting where it is the only legal one; None elsewhere."""
        waits = self.has_waits and state.legal_actions() == [self._wait]
        return self._wait if waits else None

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of a history in an infoset in which the opponent has never failed."""
        return self._history(player, infoset, fails=False)

    def other_history(self, player: int, infoset: int) -> list[int] | None:
        """The actions of a history in an infoset in which the opponent has failed if it could."""
        if not self.strings_count_turns:
            return None
        return self._history(player, infoset, fails=True)

    def _history(self, player: int, infoset: int, fails: bool) -> list[int]:
        self.check_infoset(player, infoset)
        classes = self.sequence_form.classes[player]
        node = int(classes.node[classes.class_of[infoset]])
        stones = orders_of(self.sequence_form.board).cells_of(node)
        remaining = classes.paths.tries(infoset)
        lengths = turn_lengths(classes.num_cells) if self.has_waits else []
        actions: list[int] = []
        failed: list[int] = []
        for turn, stone in enumerate(stones):
            if turn % 2 == player:
                position = remaining.index(stone)
                turn_tries, remaining = remaining[: position + 1], remaining[position + 1 :]
            else:
                new_failures = stones[player:turn:2] if fails else []
                turn_tries = [*(cell for cell in new_failures if cell not in failed), stone]
                failed += new_failures
            actions += turn_tries
            if lengths:
                actions += (lengths[turn] - len(turn_tries)) * [self._wait]
        return actions + remaining

    @property
    def _wait(self) -> int:
        return self.sequence_form.board.num_cells
