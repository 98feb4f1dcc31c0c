"""A player's views of the skeletons of abrupt phantom games, by classes. See `abrupt`.

A *view* is a player's part of a skeleton: the cells at which its tries succeeded, and, for each
that failed, the opponent's stones by then. Views of a *class* have the same continuations.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import abrupt_kernels
from spiel_dl.factored.abrupt_classes import Replies, Situations, first_situations
from spiel_dl.games.boards import Board


class ViewTables(NamedTuple):
    """A player's classes of views and numbering of slots, for compiled code.

    A class has a choice for each of the n cells, in order, and then one for each set of stones at
    which the next try may fail. Views that a won game may end with are numbered as *slots*. The
    slots of one view's choices are adjacent, before those of all views that follow it.

    Attributes:
      first_choice: int32 [C + 1], a class's first choice.
      stones: int16 [K], the opponent's stones where a choice fails; of the first n of a class, 0.
      moves: int32 [K, 3], the class after a choice, -1: impossible; the first slot of the next view
        relative to that of the view; the choice's own slot relative to it, -1: it has none.
      failing: int16 [C, 2^n], a set of stones' choice, relative to the class's first; -1: none.
      num_slots: int64 [1], the number of slots.
    """

    first_choice: np.ndarray
    stones: np.ndarray
    moves: np.ndarray
    failing: np.ndarray
    num_slots: np.ndarray


class _View(NamedTuple):
    """The player's stones, the number of its failures, and the opponent's possible situations."""

    stones: int
    failures: int
    situations: Situations


class _Choice(NamedTuple):
    """A choice: the stones where it fails, the next view, and whether a won game may end so."""

    failed_at: int
    following: _View
    may_end: bool


def enumerate_views(board: Board, player: int) -> ViewTables:
    """A player's classes of views; a class comes before those that follow it."""
    choices_of = _Choices(board, player)
    root = _View(0, 0, first_situations(board, player))
    number, classes = {root: 0}, [root]
    first_choice, stones, following_numbers, may_end = [0], [], [], []
    # A try adds a stone or a failure, so following classes come later.
    for view in classes:
        for choice in choices_of.of(view):
            following = choice.following
            if following.situations and following not in number:
                number[following] = len(classes)
                classes.append(following)
            stones.append(choice.failed_at)
            following_numbers.append(number.get(following, -1))
            may_end.append(choice.may_end)
        first_choice.append(len(following_numbers))
    first, failed_at = np.array(first_choice, np.int32), np.array(stones, np.int16)
    following_class = np.array(following_numbers, np.int32)
    moves, num_slots = abrupt_kernels.number_slots(first, following_class, np.array(may_end))
    failing = np.full((len(classes), 1 << board.num_cells), -1, np.int16)
    class_of_choice = np.repeat(np.arange(len(classes)), np.diff(first))
    is_failure = failed_at > 0
    place = np.arange(len(following_numbers)) - first[class_of_choice]
    failing[class_of_choice[is_failure], failed_at[is_failure]] = place[is_failure]
    return ViewTables(first, failed_at, moves, failing, num_slots)


class _Choices:
    """Lists the choices after a view."""

    def __init__(self, board: Board, player: int):
        self._board = board
        self._replies = Replies(board, player)
        self._wins = board.wins[player].tolist()
        self._opponent_wins = board.wins[1 - player].tolist()
        self._may_lose = functools.cache(self._opponent_may_win)

    def of(self, view: _View) -> list[_Choice]:
        """The choices after a view of a class."""
        successes = [self._success(view, cell) for cell in range(self._board.num_cells)]
        sets = sorted({stones for stones, _ in view.situations})
        return successes + [self._failure(view, s) for s in sets if s.bit_count() > view.failures]

    def _success(self, view: _View, cell: int) -> _Choice:
        stones = view.stones | 1 << cell
        if stones == view.stones:
            return _Choice(0, view._replace(situations=frozenset()), may_end=False)
        possible = [pair for pair in view.situations if not pair[0] >> cell & 1]
        if self._wins[stones]:
            return _Choice(0, view._replace(situations=frozenset()), bool(possible))
        return self._choice(0, stones, view.failures, possible)

    def _failure(self, view: _View, opponent_stones: int) -> _Choice:
        possible = [pair for pair in view.situations if pair[0] == opponent_stones]
        return self._choice(opponent_stones, view.stones, view.failures + 1, possible)

    def _choice(
        self, failed_at: int, stones: int, failures: int, possible: list[tuple[int, int]]
    ) -> _Choice:
        following = frozenset().union(*(self._replies.of(stones, *pair) for pair in possible))
        may_end = any(self._may_lose(stones, opponent_stones) for opponent_stones, _ in possible)
        return _Choice(failed_at, _View(stones, failures, following), may_end)

    def _opponent_may_win(self, stones: int, opponent_stones: int) -> bool:
        """Whether the opponent wins by one more stone."""
        free = [c for c in range(self._board.num_cells) if not (stones | opponent_stones) >> c & 1]
        return any(self._opponent_wins[opponent_stones | 1 << cell] for cell in free)
