"""What skeletons of abrupt phantom games look like to one player, by classes. See `abrupt`.

A *view* is a player's part of a skeleton: the cells at which its tries succeeded, and, for each
that failed, where the opponent's stones lay by then. A *class* of views is what may follow them.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import abrupt_kernels
from spiel_dl.factored.abrupt_classes import Replies, Situations, first_situations
from spiel_dl.games.boards import Board


class ViewTables(NamedTuple):
    """A player's views and where they stand, for compiled code.

    A class has a choice for each of the n cells, in order, and then one for each set of stones at
    which the next try may fail. Views that a won game may end with are numbered: *slots*. Those of
    the choices of one view stand together, before those of all views that follow it.

    Attributes:
      first_choice: int32 [C + 1].
      stones: int16 [K], where a choice fails: the opponent's stones; of the first n of a class, 0.
      moves: int32 [K, 3], the class after a choice, -1: none is; how far behind a view's first
        slot the one of the next view stands; how far behind it the choice's own slot stands, -1:
        it has none.
      failing: int16 [C, 2^n], from a set of stones to a choice's place in its class, -1: none is.
      num_slots: int64 [1].
    """

    first_choice: np.ndarray
    stones: np.ndarray
    moves: np.ndarray
    failing: np.ndarray
    num_slots: np.ndarray


class _View(NamedTuple):
    """The player's stones, how often it has failed, and what may be the opponent's situation."""

    stones: int
    failures: int
    situations: Situations


class _Choice(NamedTuple):
    """What follows a choice, and whether a won game may end with it."""

    failed_at: int
    following: _View
    may_end: bool


def enumerate_views(board: Board, player: int) -> ViewTables:
    """A player's views; a class comes before those that follow it."""
    choices_of = _Choices(board, player)
    root = _View(0, 0, first_situations(board, player))
    number, classes = {root: 0}, [root]
    first_choice, stones, after, may_end = [0], [], [], []
    # A try makes the number of stones or of failures larger, so what follows comes later.
    for own in classes:
        for choice in choices_of.of(own):
            following = choice.following
            if following.situations and following not in number:
                number[following] = len(classes)
                classes.append(following)
            stones.append(choice.failed_at)
            after.append(number.get(following, -1))
            may_end.append(choice.may_end)
        first_choice.append(len(after))
    first, failed_at = np.array(first_choice, np.int32), np.array(stones, np.int16)
    following_class = np.array(after, np.int32)
    moves, num_slots = abrupt_kernels.number_slots(first, following_class, np.array(may_end))
    failing = np.full((len(classes), 1 << board.num_cells), -1, np.int16)
    own_class = np.repeat(np.arange(len(classes)), np.diff(first))
    fails = failed_at > 0
    place = np.arange(len(after)) - first[own_class]
    failing[own_class[fails], failed_at[fails]] = place[fails]
    return ViewTables(first, failed_at, moves, failing, num_slots)


class _Choices:
    """What a player may do after a view."""

    def __init__(self, board: Board, player: int):
        self._board = board
        self._replies = Replies(board, player)
        self._wins = board.wins[player].tolist()
        self._others_wins = board.wins[1 - player].tolist()
        self._may_lose = functools.cache(self._opponent_may_win)

    def of(self, own: _View) -> list[_Choice]:
        """The choices of a class."""
        found = [self._success(own, cell) for cell in range(self._board.num_cells)]
        sets = sorted({others for others, _ in own.situations})
        return found + [self._failure(own, s) for s in sets if s.bit_count() > own.failures]

    def _success(self, own: _View, cell: int) -> _Choice:
        stones = own.stones | 1 << cell
        if stones == own.stones:
            return _Choice(0, own._replace(situations=frozenset()), may_end=False)
        possible = [pair for pair in own.situations if not pair[0] >> cell & 1]
        if self._wins[stones]:
            return _Choice(0, own._replace(situations=frozenset()), bool(possible))
        return self._choice(0, stones, own.failures, possible)

    def _failure(self, own: _View, others: int) -> _Choice:
        possible = [pair for pair in own.situations if pair[0] == others]
        return self._choice(others, own.stones, own.failures + 1, possible)

    def _choice(
        self, failed_at: int, stones: int, failures: int, possible: list[tuple[int, int]]
    ) -> _Choice:
        following = frozenset().union(*(self._replies.of(stones, *pair) for pair in possible))
        may_end = any(self._may_lose(stones, others) for others, _ in possible)
        return _Choice(failed_at, _View(stones, failures, following), may_end)

    def _opponent_may_win(self, stones: int, others: int) -> bool:
        """Whether the opponent wins by one more stone."""
        free = [c for c in range(self._board.num_cells) if not (stones | others) >> c & 1]
        return any(self._others_wins[others | 1 << cell] for cell in free)
