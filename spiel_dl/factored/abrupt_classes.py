"""Classes of infosets in abrupt phantom games, where a try that fails ends the turn."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from spiel_dl.games.boards import Board

# The opponent's stones, as a set of cells, and the number of its failures.
_Situation = tuple[int, int]
Situations = frozenset[_Situation]


class AbruptClasses(NamedTuple):
    """Classes of a player's infosets: those of a class have the same continuations.

    Attributes:
      tried: int32 [C], the set of cells that the player has tried.
      first_choice: int32 [C + 1], a class's first choice; one follows for each cell not tried.
      fail, success: int32 [K], the class after a choice that fails or succeeds, -1: impossible.
    """

    tried: np.ndarray
    first_choice: np.ndarray
    fail: np.ndarray
    success: np.ndarray


class _Class(NamedTuple):
    """The player's stones, the cells where it failed, and the opponent's possible situations."""

    stones: int
    failed: int
    situations: Situations


def first_situations(board: Board, player: int) -> Situations:
    """The opponent's possible situations when a player acts for the first time."""
    if player == 0:
        return frozenset([(0, 0)])
    return frozenset((1 << cell, 0) for cell in range(board.num_cells))


def enumerate_classes(board: Board, player: int) -> AbruptClasses:
    """A player's classes of infosets; a class comes before those that follow it."""
    replies = Replies(board, player)
    root = _Class(0, 0, first_situations(board, player))
    number, tried, first_choice = {root: 0}, [], [0]
    following_numbers: tuple[list[int], list[int]] = ([], [])
    # Dictionaries keep the order of insertion, and a try makes the set of tried cells larger.
    classes = [root]
    for class_ in classes:
        tried.append(class_.stones | class_.failed)
        for cell in range(board.num_cells):
            if tried[-1] >> cell & 1:
                continue
            for succeeds in (False, True):
                following = replies.after(class_, cell, succeeds)
                if not following.situations:
                    following_numbers[succeeds].append(-1)
                    continue
                if following not in number:
                    number[following] = len(classes)
                    classes.append(following)
                following_numbers[succeeds].append(number[following])
        first_choice.append(len(following_numbers[0]))
    arrays = (tried, first_choice, following_numbers[0], following_numbers[1])
    return AbruptClasses(*(np.array(array, np.int32) for array in arrays))


class Replies:
    """The opponent's possible situations after a player's tries."""

    def __init__(self, board: Board, player: int):
        self._num_cells = board.num_cells
        self._full = (1 << board.num_cells) - 1
        self._wins = board.wins[player].tolist()
        self._opponent_wins = board.wins[1 - player].tolist()
        self.of = functools.cache(self._reply)
        """Situations by a player's stones, the opponent's, and the opponent's failures; cached."""

    def after(self, class_: _Class, cell: int, succeeds: bool) -> _Class:
        """The class at the player's next turn; without situations if there is none."""
        stones = class_.stones | (succeeds << cell)
        failed = class_.failed | ((not succeeds) << cell)
        situations: set[_Situation] = set()
        if not (succeeds and self._wins[stones]):
            for opponent_stones, failures in class_.situations:
                if (opponent_stones >> cell & 1) != succeeds:
                    situations |= self.of(stones, opponent_stones, failures)
        return _Class(stones, failed, frozenset(situations))

    def _reply(self, stones: int, opponent_stones: int, failures: int) -> Situations:
        """The situations after the opponent's turn, where the game has not ended."""
        if stones | opponent_stones == self._full:
            return frozenset()
        situations = set()
        if stones.bit_count() > failures:
            situations.add((opponent_stones, failures + 1))
        for cell in range(self._num_cells):
            if not (stones | opponent_stones) >> cell & 1:
                enlarged = opponent_stones | 1 << cell
                if not self._opponent_wins[enlarged] and stones | enlarged != self._full:
                    situations.add((enlarged, failures))
        return frozenset(situations)
