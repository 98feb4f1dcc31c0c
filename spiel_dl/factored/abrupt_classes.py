"""Classes of infosets in abrupt phantom games, where a try that fails ends the turn."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from spiel_dl.games.boards import Board

# The opponent's stones, as a set of cells, and how often it has failed.
_Situation = tuple[int, int]
Situations = frozenset[_Situation]


class AbruptClasses(NamedTuple):
    """What infosets of a player differ in, as far as what may follow.

    Attributes:
      tried: int32 [C], the set of cells that the player has tried.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: none is.
    """

    tried: np.ndarray
    first_choice: np.ndarray
    fail: np.ndarray
    success: np.ndarray


class _Class(NamedTuple):
    """The player's stones, where it has failed, and what may be the opponent's situation."""

    stones: int
    failed: int
    situations: Situations


def first_situations(board: Board, player: int) -> Situations:
    """The opponent's situations when a player acts for the first time."""
    if player == 0:
        return frozenset([(0, 0)])
    return frozenset((1 << cell, 0) for cell in range(board.num_cells))


def enumerate_classes(board: Board, player: int) -> AbruptClasses:
    """A player's classes; a class comes before those that follow it."""
    replies = Replies(board, player)
    root = _Class(0, 0, first_situations(board, player))
    number, tried, first_choice = {root: 0}, [], [0]
    after: tuple[list[int], list[int]] = ([], [])
    # Dictionaries keep the order of insertion, and a try makes the set of tried cells larger.
    classes = [root]
    for own in classes:
        tried.append(own.stones | own.failed)
        for cell in range(board.num_cells):
            if tried[-1] >> cell & 1:
                continue
            for succeeds in (False, True):
                following = replies.after(own, cell, succeeds)
                if not following.situations:
                    after[succeeds].append(-1)
                    continue
                if following not in number:
                    number[following] = len(classes)
                    classes.append(following)
                after[succeeds].append(number[following])
        first_choice.append(len(after[0]))
    arrays = (tried, first_choice, after[0], after[1])
    return AbruptClasses(*(np.array(array, np.int32) for array in arrays))


class Replies:
    """What may follow a player's tries."""

    def __init__(self, board: Board, player: int):
        self._num_cells = board.num_cells
        self._full = (1 << board.num_cells) - 1
        self._wins = board.wins[player].tolist()
        self._others_wins = board.wins[1 - player].tolist()
        self.of = functools.cache(self._reply)
        """From a player's stones, the opponent's, and how often it has failed, to situations."""

    def after(self, own: _Class, cell: int, succeeds: bool) -> _Class:
        """The class at the player's next turn; without situations if there is none."""
        stones = own.stones | (succeeds << cell)
        failed = own.failed | ((not succeeds) << cell)
        situations: set[_Situation] = set()
        if not (succeeds and self._wins[stones]):
            for others, failures in own.situations:
                if (others >> cell & 1) != succeeds:
                    situations |= self.of(stones, others, failures)
        return _Class(stones, failed, frozenset(situations))

    def _reply(self, stones: int, others: int, failures: int) -> Situations:
        """The situations after the opponent's turn in which the game goes on."""
        if stones | others == self._full:
            return frozenset()
        found = set()
        if stones.bit_count() > failures:
            found.add((others, failures + 1))
        for cell in range(self._num_cells):
            if not (stones | others) >> cell & 1:
                more = others | 1 << cell
                if not self._others_wins[more] and stones | more != self._full:
                    found.add((more, failures))
        return frozenset(found)
