"""What phantom games of two players have in common: each sees its own stones only.

The players try to lay a stone on a cell that they have not tried before, player 0 first. A referee
tells only the player who tries whether it succeeds: it fails where a stone of the opponent lies.
The game ends when a stone wins, see `boards`, or when the board is full, which is a draw if nobody
has won. `abrupt_phantom` and `classical_phantom` say what happens after a try that fails.

Pieces of the private tensors, with n cells:

| perfect recall | piece | shape | meaning |
|---|---|---|---|
| yes | own_tries | n x n | the own tries in order, one-hot, zero-padded |
| yes | failed | n | cells at which they failed |
| no | cells | n x 3 | of each cell: not tried, an own stone, an opponent's |
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import NamedTuple, Self, TypeVar

import numpy as np
import torch

from spiel_dl.games import boards, rules

_MOST_CELLS = 16


@dataclasses.dataclass(frozen=True)
class PhantomState(rules.StateBatch):
    """A batch of states.

    Attributes:
      step: int8 [B], how many public steps there were.
      over: bool [B], whether the game is over.
      tries: int8 [B, 2 n], player 0's cells in order, then player 1's, each plus 1; 0 if not tried.
      stones: int32 [B, 2], the sets of both players' stones; bit c is cell c.
      failed: int32 [B, 2], the sets of cells at which they failed.
    """

    step: torch.Tensor
    over: torch.Tensor
    tries: torch.Tensor
    stones: torch.Tensor
    failed: torch.Tensor


State = TypeVar("State", bound=PhantomState)


def empty(batch_size: int, num_cells: int, device: torch.device | str) -> dict[str, torch.Tensor]:
    """The fields of a `PhantomState` of B empty boards, by name."""
    fields = {
        "step": ((), torch.int8),
        "over": ((), torch.bool),
        "tries": ((2 * num_cells,), torch.int8),
        "stones": ((2,), torch.int32),
        "failed": ((2,), torch.int32),
    }
    return {
        name: torch.zeros((batch_size, *shape), dtype=dtype, device=device)
        for name, (shape, dtype) in fields.items()
    }


class Tables(NamedTuple):
    """Constants on one device.

    Attributes:
      bits: int32 [n], the set of each cell alone.
      wins: bool [2 * 2^n], whether a set of stones wins: player 0's, then player 1's.
      slots: int64 [2 n], 0, 1, 2, ...
      steps: int64 [T], 0, 1, 2, ...
      try_bits: float32 [n + 1, n], one-hot of a cell plus 1; zeros for 0.
      players: int32 [2], 0 and 1.
    """

    bits: torch.Tensor
    wins: torch.Tensor
    slots: torch.Tensor
    steps: torch.Tensor
    try_bits: torch.Tensor
    players: torch.Tensor


class Tried(NamedTuple):
    """What a batch of tries leads to.

    Attributes:
      over: bool [B], as in `PhantomState`.
      tries: int8 [B, 2 n], likewise.
      stones: int32 [B, 2], likewise.
      failed: int32 [B, 2], likewise.
      succeeded: bool [B], whether a stone was laid.
    """

    over: torch.Tensor
    tries: torch.Tensor
    stones: torch.Tensor
    failed: torch.Tensor
    succeeded: torch.Tensor


class PhantomRules(rules.Rules[State], abc.ABC):
    """Rules of a phantom game.

    Args:
      board: the board game that is played.
      num_columns: of its cells, which are counted row by row; for people.
      goal: a sentence that says what wins; for people.

    Raises:
      ValueError: if the board has more than 16 cells.
    """

    min_utility = -1.0
    max_utility = 1.0

    def __init__(self, board: boards.Board, num_columns: int, goal: str = "") -> None:
        if board.num_cells > _MOST_CELLS:
            raise ValueError(
                f"the board has {board.num_cells} cells; use one of at most {_MOST_CELLS}"
            )
        self.board, self.num_columns, self.goal = board, num_columns, goal
        self.num_actions = board.num_cells  # Who waits has another one.
        # Player 0 may try all cells, and player 1 all but the one on which the last stone is laid.
        self.max_game_length = 2 * board.num_cells - 1
        self._tables_by_device: dict[torch.device, Tables] = {}

    @classmethod
    def on_tic_tac_toe(cls) -> Self:
        """The rules on tic-tac-toe's board."""
        return cls(boards.tic_tac_toe(), 3, "Three in a line win.")

    @classmethod
    def on_hex(cls, num_rows: int, num_cols: int) -> Self:
        """The rules on a board of hex with so many rows and columns.

        Raises:
          ValueError: if there are fewer than 2 of either, or more than 16 cells.
        """
        if min(num_rows, num_cols) < 2 or num_rows * num_cols > _MOST_CELLS:
            raise ValueError(
                f"num_rows={num_rows} and num_cols={num_cols} are out of range; use 2 or more of "
                f"each, and at most {_MOST_CELLS} cells"
            )
        goal = "A chain wins: player 0's from top to bottom, player 1's from left to right."
        return cls(boards.hex_board(num_rows, num_cols), num_cols, goal)

    @abc.abstractmethod
    def mover(self, state: State) -> torch.Tensor:
        """Whose turn it is, in games that go on: int64 [B]."""

    def current_player(self, state: State) -> torch.Tensor:
        """Who acts: int8 [B]."""
        return torch.where(state.over, rules.TERMINAL_PLAYER, self.mover(state)).to(torch.int8)

    def public_tensor(self, state: State, perfect_recall: bool = True) -> torch.Tensor:
        """What everybody sees: float32 [B, Dpub], all steps or the current player, and the end."""
        over = state.over.to(torch.float32)[:, None]
        if not perfect_recall:
            return torch.cat([rules.one_hot(self.current_player(state), 2), over], dim=1)
        steps = self.tables(state.step.device).steps
        return torch.cat([(steps < state.step[:, None]).to(torch.float32), over], dim=1)

    def returns(self, state: State) -> torch.Tensor:
        """Player 0's utility: float64 [B], 1, 0 or -1 at the end."""
        wins = self.tables(state.step.device).wins
        first, second = state.stones.long().unbind(dim=1)
        won = wins.index_select(0, first).double()
        lost = wins.index_select(0, second + (1 << self.board.num_cells)).double()
        return (won - lost) * state.over

    def private_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the private pieces; the module's table explains them."""
        n = self.board.num_cells
        return {"own_tries": (n, n), "failed": (n,)} if perfect_recall else {"cells": (n, 3)}

    def private_tensor(
        self, state: State, player: int, perfect_recall: bool = True
    ) -> torch.Tensor:
        """What `player` alone sees: float32 [B, Dpriv]."""
        tables, n = self.tables(state.step.device), self.board.num_cells
        failed = (state.failed[:, player : player + 1] & tables.bits) != 0
        if perfect_recall:
            own = state.tries[:, player * n : (player + 1) * n]
            return torch.cat([rules.look_up(tables.try_bits, own), failed.to(torch.float32)], dim=1)
        stones = (state.stones[:, player : player + 1] & tables.bits) != 0
        kinds = torch.stack([~(stones | failed), stones, failed], dim=2)
        return kinds.to(torch.float32).flatten(1)

    def action_to_string(self, player: int, action: int) -> str:
        """A cell's row and column, from 0 on."""
        row, column = divmod(action, self.num_columns)
        return f"({row}, {column})"

    def describe(self, state: State, row: int = 0) -> str:
        """The board of one row and both players' failed tries, for people."""
        stones, failed = state.stones[row].tolist(), state.failed[row].tolist()
        cells = range(self.board.num_cells)
        marks = ["x" if stones[0] >> c & 1 else "o" if stones[1] >> c & 1 else "." for c in cells]
        lines = ["".join(marks[c : c + self.num_columns]) for c in cells[:: self.num_columns]]
        for player in (0, 1):
            where = [self.action_to_string(player, c) for c in cells if failed[player] >> c & 1]
            lines.append(f"P{player} failed at: {' '.join(where) or '-'}")
        return "\n".join(lines)

    def not_tried(self, state: State, player: torch.Tensor) -> torch.Tensor:
        """The cells that a player (int64 [B]) has not tried in games that go on: bool [B, A]."""
        tried = (state.stones | state.failed).gather(1, player[:, None])
        return ((tried & self.tables(state.step.device).bits) == 0) & ~state.over[:, None]

    def tried(
        self, state: State, player: torch.Tensor, slot: torch.Tensor, cell: torch.Tensor
    ) -> Tried:
        """Tries cells, in games that go on.

        Args:
          state: B states.
          player: int64 [B], who tries.
          slot: int [B], how many cells it has tried before; less than 0 where nobody tries.
          cell: int64 [B], where.
        """
        tables = self.tables(state.step.device)
        acts = ~state.over & (slot >= 0)
        others = state.stones.gather(1, 1 - player[:, None])[:, 0]
        bit = torch.where(acts, tables.bits.index_select(0, cell), 0)
        fails = (others & bit) != 0
        is_mover = tables.players == player[:, None]
        stones = state.stones | (torch.where(fails, 0, bit)[:, None] * is_mover)
        own = stones.gather(1, player[:, None])[:, 0].long()
        succeeded = acts & ~fails
        wins = tables.wins.index_select(0, own + (player << self.board.num_cells)) & succeeded
        full = stones.sum(dim=1) == (1 << self.board.num_cells) - 1
        writes = (tables.slots == (player * self.board.num_cells + slot)[:, None]) & acts[:, None]
        return Tried(
            over=state.over | wins | full,
            tries=torch.where(writes, (cell + 1).to(torch.int8)[:, None], state.tries),
            stones=stones,
            failed=state.failed | (torch.where(fails, bit, 0)[:, None] * is_mover),
            succeeded=succeeded,
        )

    def tables(self, device: torch.device) -> Tables:
        """Constants on a device."""
        if device not in self._tables_by_device:
            n = self.board.num_cells
            self._tables_by_device[device] = Tables(
                bits=torch.tensor([1 << c for c in range(n)], dtype=torch.int32, device=device),
                wins=torch.from_numpy(self.board.wins.reshape(-1).copy()).to(device),
                slots=torch.arange(2 * n, device=device),
                steps=torch.arange(self.max_game_length, device=device),
                try_bits=torch.from_numpy(np.eye(n + 1, dtype=np.float32)[:, 1:]).to(device),
                players=torch.arange(2, dtype=torch.int32, device=device),
            )
        return self._tables_by_device[device]
