"""Random histories of one player's infoset in classical phantom games, drawn evenly.

What a player has found out fixes where some of the opponent's stones lie, and by when. Orders in
which the opponent's stones came to lie are listed. Its failed tries are counted, not listed: how
many ways there are to fail depends on how many of the player's stones it has found, not on which.
So all histories are numbered, and any of them can be made from its number.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np
import torch

from spiel_dl.games import boards


@dataclasses.dataclass(frozen=True)
class _Turn:
    """The opponent's turn that is not over.

    Attributes:
      num_steps: how many steps it has had, at least 1.
      is_laid: whether its stone lies.
    """

    num_steps: int
    is_laid: bool


class Infoset:
    """All histories of a player's infoset.

    Attributes:
      num_histories: how many there are.
    """

    def __init__(
        self, board: boards.Board, player: int, num_steps: int, tries: list[int], failed: set[int]
    ) -> None:
        """Lists the orders of the opponent's stones.

        Args:
          board: the board game.
          player: whose infoset.
          num_steps: how many public steps there were; the game goes on.
          tries: the player's, in order.
          failed: those of them that failed.
        """
        self._board, self._player = board, player
        self._known_ways: dict[tuple[int, int, _Turn | None], int] = {}
        self._lengths = boards.turn_lengths(board.num_cells)
        ends = np.cumsum(self._lengths)
        self._num_turns = int(np.searchsorted(ends, num_steps, side="right"))
        self._num_steps = num_steps
        self._own = _turns_of(tries, failed)
        self._stones = [cell for cell in tries if cell not in failed]
        opponent = 1 - player
        # Player 0 has the turns 0, 2, ...
        self._num_others = (self._num_turns + 1 - opponent) // 2
        begun = num_steps - (int(ends[self._num_turns - 1]) if self._num_turns else 0)
        is_others = self._num_turns % 2 == opponent and begun > 0
        unfinished: list[_Turn | None] = [None]
        if is_others:
            # With the last stone on the board, the game would be over.
            is_last = len(self._stones) + self._num_others + 1 == board.num_cells
            unfinished = [_Turn(begun, is_laid) for is_laid in (False, True)[: 2 - is_last]]
        self._parts: list[tuple[list[list[int]], _Turn | None]] = []
        for turn in unfinished:
            number = self._num_others + (turn is not None and turn.is_laid)
            self._parts.append((list(self._orders(tries, failed, number)), turn))
        self.num_histories = sum(
            len(orders) * self._num_ways(0, 0, turn) for orders, turn in self._parts
        )

    def actions(self, number: int) -> list[int]:
        """The actions of a history, by its number from 0 on."""
        for orders, turn in self._parts:
            ways = self._num_ways(0, 0, turn)
            if number < len(orders) * ways:
                order, number = divmod(number, max(ways, 1))
                return self._merged(orders[order], self._failures(number, turn), turn)
            number -= len(orders) * ways
        raise AssertionError("the number is that of a history")

    def _orders(self, tries: list[int], failed: set[int], number: int) -> Iterator[list[int]]:
        """The orders in which so many stones of the opponent may have come to lie."""
        # How many of them lay when the player failed at a cell.
        before = {
            cell: turn + self._player
            for turn, own in enumerate(self._own)
            for cell in own
            if cell in failed
        }
        free = [c for c in range(self._board.num_cells) if c not in tries or c in failed]
        wins = self._board.wins[1 - self._player]

        def follow(order: list[int], stones: int) -> Iterator[list[int]]:
            late = [c for c, most in before.items() if c not in order and most <= len(order)]
            if late:
                return
            if len(order) == number:
                if all(cell in order for cell in before):
                    yield order
                return
            for cell in free:
                more = stones | 1 << cell
                if cell not in order and not wins[more]:
                    yield from follow([*order, cell], more)

        return follow([], 0)

    def _num_stones(self, turn: int) -> int:
        """How many of the player's stones lie in one of the opponent's turns, from 0 on."""
        return turn + 1 - self._player

    def _num_ways(self, turn: int, num_found: int, last: _Turn | None) -> int:
        """In how many ways the opponent may fail from one of its turns on.

        Args:
          turn: its number among the opponent's.
          num_found: how many of the player's stones it has found by then.
          last: its turn that is not over, if any.
        """
        key = turn, num_found, last
        if key not in self._known_ways:
            left = self._num_stones(turn) - num_found
            is_last = turn == self._num_others
            self._known_ways[key] = sum(
                math.perm(left, failures)
                * (1 if is_last else self._num_ways(turn + 1, num_found + failures, last))
                for failures in (_last_failures(last) if is_last else range(left + 1))
            )
        return self._known_ways[key]

    def _failures(self, number: int, last: _Turn | None) -> list[list[int]]:
        """The cells at which the opponent fails, by turn, in the way of a number from 0 on."""
        found: list[int] = []
        turns: list[list[int]] = []
        for turn in range(self._num_others + (last is not None)):
            left = [c for c in self._stones[: self._num_stones(turn)] if c not in found]
            is_last = turn == self._num_others
            for failures in _last_failures(last) if is_last else range(len(left) + 1):
                after = 1 if is_last else self._num_ways(turn + 1, len(found) + failures, last)
                ways = math.perm(len(left), failures) * after
                if number < ways:
                    break
                number -= ways
            arrangement, number = divmod(number, after)
            turns.append(_arranged(left, failures, arrangement))
            found += turns[-1]
        return turns

    def _merged(self, order: list[int], failures: list[list[int]], last: _Turn | None) -> list[int]:
        """The actions of both players, with waits."""
        actions: list[int] = []
        wait = self._board.num_cells
        for turn in range(self._num_turns + 1):
            number = turn // 2
            if turn % 2 == self._player:
                own = self._own[number] if number < len(self._own) else []
            elif number < len(failures):
                is_laid = number < self._num_others or (last is not None and last.is_laid)
                own = [*failures[number], *([order[number]] if is_laid else [])]
            else:
                own = []
            end = min(sum(self._lengths[: turn + 1]), self._num_steps)
            actions += own
            actions += (end - len(actions)) * [wait]
        return actions


def _turns_of(tries: list[int], failed: set[int]) -> list[list[int]]:
    """A player's tries by turn, each of which ends when a stone lies."""
    turns: list[list[int]] = [[]]
    for cell in tries:
        turns[-1].append(cell)
        if cell not in failed:
            turns.append([])
    return turns


def _last_failures(last: _Turn | None) -> range:
    """How often the opponent may have failed in its turn that is not over."""
    if last is None:
        return range(1)
    return range(last.num_steps) if last.is_laid else range(last.num_steps, last.num_steps + 1)


def _arranged(cells: list[int], count: int, number: int) -> list[int]:
    """Some of the cells in order, by the arrangement's number from 0 on."""
    left, found = list(cells), []
    for place in range(count):
        index, number = divmod(number, math.perm(len(left) - 1, count - place - 1))
        found.append(left.pop(index))
    return found


def infoset_of(
    board: boards.Board, player: int, num_steps: int, private_tensor: torch.Tensor
) -> Infoset:
    """The infoset in which a player has a private tensor (float32 [n n + n], perfect recall)."""
    n = board.num_cells
    tries, failed = private_tensor[: n * n].view(n, n).cpu(), private_tensor[n * n :].cpu()
    rows = tries[tries.any(dim=1)]
    cells: list[int] = rows.argmax(dim=1).tolist()
    return Infoset(board, player, num_steps, cells, set(failed.nonzero()[:, 0].tolist()))
