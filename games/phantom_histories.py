"""All histories of one player's infoset in classical phantom games, by number, to draw from.

A player's failed tries determine some of the opponent's stones, and the latest turns in which they
were placed. The possible orders of the opponent's stones are listed. Its failed tries are counted,
not listed: their number of combinations depends on the number of the player's stones found, not on
which ones. So all histories are numbered, and each can be made from its number.
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
    """The opponent's unfinished turn.

    Attributes:
      num_steps: the number of its steps so far, at least 1.
      is_placed: whether its stone is placed.
    """

    num_steps: int
    is_placed: bool


class Infoset:
    """All histories of a player's infoset.

    Attributes:
      num_histories: their number; 0 if the player's turns are not those of so many public steps.
    """

    def __init__(
        self, board: boards.Board, player: int, num_steps: int, tries: list[int], failed: set[int]
    ) -> None:
        """Lists the orders of the opponent's stones.

        Args:
          board: the board game.
          player: the player.
          num_steps: the number of public steps; the game is not over.
          tries: the player's tries, in order.
          failed: the cells of its failed tries.
        """
        self._board, self._player = board, player
        self._num_ways_cache: dict[tuple[int, int, _Turn | None], int] = {}
        self._lengths = boards.turn_lengths(board.num_cells)
        ends = np.cumsum(self._lengths)
        self._num_turns = int(np.searchsorted(ends, num_steps, side="right"))
        self._num_steps = num_steps
        self._own_turns = _split_by_turn(tries, failed)
        self._stones = [cell for cell in tries if cell not in failed]
        opponent = 1 - player
        # Player 0 has the turns 0, 2, ...
        self._other_turns = (self._num_turns + 1 - opponent) // 2
        begun = num_steps - (int(ends[self._num_turns - 1]) if self._num_turns else 0)
        is_opponents_turn = self._num_turns % 2 == opponent and begun > 0
        unfinished: list[_Turn | None] = [None]
        if is_opponents_turn:
            # With the last stone on the board, the game would be over.
            is_last = len(self._stones) + self._other_turns + 1 == board.num_cells
            unfinished = [_Turn(begun, is_placed) for is_placed in (False, True)[: 2 - is_last]]
        self._parts: list[tuple[list[list[int]], _Turn | None]] = []
        for turn in unfinished if self._turns_fit(begun) else []:
            number = self._other_turns + (turn is not None and turn.is_placed)
            self._parts.append((list(self._orders(tries, failed, number)), turn))
        self.num_histories = sum(
            len(orders) * self._num_ways(0, 0, turn) for orders, turn in self._parts
        )

    def _turns_fit(self, begun: int) -> bool:
        """Whether the player has made the tries of its finished turns, and of one begun if it does.

        Args:
          begun: the number of steps of the unfinished turn.
        """
        *placed, after = map(len, self._own_turns)
        num_finished = (self._num_turns + 1 - self._player) // 2
        most = list(self._lengths[self._player :: 2][:num_finished])
        left = 0  # tries in a turn that goes on
        if self._num_turns % 2 == self._player and begun:
            if len(placed) > num_finished:
                most.append(begun)
            else:
                left = begun
        fit = len(placed) == len(most) and after == left
        return fit and all(tries <= limit for tries, limit in zip(placed, most, strict=True))

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
        """The possible orders of so many stones of the opponent."""
        # The number of them on the board when the player failed at a cell.
        before = {
            cell: turn + self._player
            for turn, turn_tries in enumerate(self._own_turns)
            for cell in turn_tries
            if cell in failed
        }
        free = [c for c in range(self._board.num_cells) if c not in tries or c in failed]
        wins = self._board.wins[1 - self._player]

        def follow(order: list[int], stones: int) -> Iterator[list[int]]:
            missing = [c for c, most in before.items() if c not in order and most <= len(order)]
            if missing:
                return
            if len(order) == number:
                if all(cell in order for cell in before):
                    yield order
                return
            for cell in free:
                enlarged = stones | 1 << cell
                if cell not in order and not wins[enlarged]:
                    yield from follow([*order, cell], enlarged)

        return follow([], 0)

    def _num_stones(self, turn: int) -> int:
        """The number of the player's stones at one of the opponent's turns, from 0 on."""
        return turn + 1 - self._player

    def _num_ways(self, turn: int, num_found: int, last: _Turn | None) -> int:
        """The number of combinations of the opponent's failures from one of its turns on.

        Args:
          turn: the turn's number among the opponent's.
          num_found: the number of the player's stones that it has found by then.
          last: its unfinished turn, if any.
        """
        key = turn, num_found, last
        if key not in self._num_ways_cache:
            num_left = self._num_stones(turn) - num_found
            is_last = turn == self._other_turns
            self._num_ways_cache[key] = sum(
                math.perm(num_left, failures)
                * (1 if is_last else self._num_ways(turn + 1, num_found + failures, last))
                for failures in (_last_failures(last) if is_last else range(num_left + 1))
            )
        return self._num_ways_cache[key]

    def _failures(self, number: int, last: _Turn | None) -> list[list[int]]:
        """The cells at which the opponent fails, by turn, in combination `number` from 0 on."""
        found: list[int] = []
        turns: list[list[int]] = []
        for turn in range(self._other_turns + (last is not None)):
            unfound = [c for c in self._stones[: self._num_stones(turn)] if c not in found]
            is_last = turn == self._other_turns
            for failures in _last_failures(last) if is_last else range(len(unfound) + 1):
                after = 1 if is_last else self._num_ways(turn + 1, len(found) + failures, last)
                ways = math.perm(len(unfound), failures) * after
                if number < ways:
                    break
                number -= ways
            arrangement, number = divmod(number, after)
            turns.append(_arranged(unfound, failures, arrangement))
            found += turns[-1]
        return turns

    def _merged(self, order: list[int], failures: list[list[int]], last: _Turn | None) -> list[int]:
        """The actions of both players, including waits."""
        actions: list[int] = []
        wait = self._board.num_cells
        for turn in range(self._num_turns + 1):
            number = turn // 2
            if turn % 2 == self._player:
                tries = self._own_turns[number] if number < len(self._own_turns) else []
            elif number < len(failures):
                is_placed = number < self._other_turns or (last is not None and last.is_placed)
                tries = [*failures[number], *([order[number]] if is_placed else [])]
            else:
                tries = []
            end = min(sum(self._lengths[: turn + 1]), self._num_steps)
            actions += tries
            actions += (end - len(actions)) * [wait]
        return actions


def _split_by_turn(tries: list[int], failed: set[int]) -> list[list[int]]:
    """A player's tries by turn; a turn ends with a success."""
    turns: list[list[int]] = [[]]
    for cell in tries:
        turns[-1].append(cell)
        if cell not in failed:
            turns.append([])
    return turns


def _last_failures(last: _Turn | None) -> range:
    """The possible numbers of the opponent's failures in its unfinished turn."""
    if last is None:
        return range(1)
    return range(last.num_steps) if last.is_placed else range(last.num_steps, last.num_steps + 1)


def _arranged(cells: list[int], count: int, number: int) -> list[int]:
    """The arrangement of `count` of the cells of a number from 0 on."""
    remaining, arrangement = list(cells), []
    for place in range(count):
        index, number = divmod(number, math.perm(len(remaining) - 1, count - place - 1))
        arrangement.append(remaining.pop(index))
    return arrangement


def infoset_of(
    board: boards.Board, player: int, num_steps: int, private_tensor: torch.Tensor
) -> Infoset:
    """The infoset of a player's private tensor (float32 [n n + n], perfect recall)."""
    n = board.num_cells
    tries, failed = private_tensor[: n * n].view(n, n).cpu(), private_tensor[n * n :].cpu()
    rows = tries[tries.any(dim=1)]
    cells: list[int] = rows.argmax(dim=1).tolist()
    return Infoset(board, player, num_steps, cells, set(failed.nonzero()[:, 0].tolist()))
