"""Abrupt phantom games for two players: tic-tac-toe and hex, of which one sees the own stones only.

The players try in turn to lay a stone on a cell that they have not tried before, player 0 first. A
referee tells only the player who tries whether it succeeds: it fails where a stone of the opponent
lies. Either way the turn passes, so that the number of tries is public. The game ends when a stone
wins, see `boards`, or when the board is full, which is a draw if nobody has won. These are
OpenSpiel's `phantom_ttt(gameversion=abrupt)` and `dark_hex(gameversion=adh)`, whose action ids are
used here. In classical phantom games a player tries until it succeeds. Nothing is public there,
so that they cannot be written as `Rules`.

Pieces of the tensors, with n cells:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | tries | 2 n - 1 | thermometer of both players' tries so far |
| public | no | current_player | 2 | the player to move, one-hot; zeros if none is |
| public | both | game_over | 1 | whether the game is over |
| private | yes | own_tries | n x n | the own tries in order, one-hot, zero-padded |
| private | yes | failed | n | cells at which they failed |
| private | no | cells | n x 3 | of each cell: not tried, an own stone, an opponent's |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import boards, rules
from spiel_dl.games.abrupt_phantom_compiled import CompiledAbruptPhantom

_MOST_CELLS = 16


@dataclasses.dataclass(frozen=True)
class AbruptPhantomState(rules.StateBatch):
    """A batch of states.

    Attributes:
      step: int8 [B], how many tries there were.
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


class _Tables(NamedTuple):
    """Constants on one device.

    Attributes:
      bits: int32 [n], the set of each cell alone.
      wins: bool [2 * 2^n], whether a set of stones wins: player 0's, then player 1's.
      slots: int64 [2 n], 0, 1, 2, ...
      try_bits: float32 [n + 1, n], one-hot of a cell plus 1; zeros for 0.
      players: int32 [2], 0 and 1.
    """

    bits: torch.Tensor
    wins: torch.Tensor
    slots: torch.Tensor
    try_bits: torch.Tensor
    players: torch.Tensor


class AbruptPhantomRules(rules.Rules[AbruptPhantomState]):
    """Rules of an abrupt phantom game.

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
        self.num_actions = board.num_cells
        # Player 0 may try all cells, and player 1 all but the one on which the last stone is laid.
        self.max_game_length = 2 * board.num_cells - 1
        self._tables_by_device: dict[torch.device, _Tables] = {}

    def initial_state(
        self, batch_size: int = 1, device: torch.device | str = "cpu"
    ) -> AbruptPhantomState:
        """A batch of B copies of the empty board."""

        def zeros(*shape: int, dtype: torch.dtype) -> torch.Tensor:
            return torch.zeros((batch_size, *shape), dtype=dtype, device=device)

        return AbruptPhantomState(
            step=zeros(dtype=torch.int8),
            over=zeros(dtype=torch.bool),
            tries=zeros(2 * self.num_actions, dtype=torch.int8),
            stones=zeros(2, dtype=torch.int32),
            failed=zeros(2, dtype=torch.int32),
        )

    def current_player(self, state: AbruptPhantomState) -> torch.Tensor:
        """Who acts: int8 [B]."""
        return torch.where(state.over, rules.TERMINAL_PLAYER, state.step % 2).to(torch.int8)

    def legal_actions(self, state: AbruptPhantomState) -> torch.Tensor:
        """The cells that the player to move has not tried: bool [B, A]."""
        bits = self._tables(state.step.device).bits
        tried = (state.stones | state.failed).gather(1, (state.step % 2).long()[:, None])
        return ((tried & bits) == 0) & ~state.over[:, None]

    def apply(self, state: AbruptPhantomState, action: torch.Tensor) -> AbruptPhantomState:
        """The successors under `action` (int64 [B]): the player to move tries a cell."""
        tables = self._tables(state.step.device)
        player = (state.step % 2).long()
        others = state.stones.gather(1, 1 - player[:, None])[:, 0]
        bit = torch.where(state.over, 0, tables.bits.index_select(0, action))
        fails = (others & bit) != 0
        is_mover = tables.players == player[:, None]
        stones = state.stones | (torch.where(fails, 0, bit)[:, None] * is_mover)
        own = stones.gather(1, player[:, None])[:, 0].long()
        wins = tables.wins.index_select(0, own + (player << self.num_actions)) & ~fails
        full = stones.sum(dim=1) == (1 << self.num_actions) - 1
        slot = player * self.num_actions + state.step // 2
        writes = (tables.slots == slot[:, None]) & ~state.over[:, None]
        return AbruptPhantomState(
            step=state.step + ~state.over,
            over=state.over | wins | full,
            tries=torch.where(writes, (action + 1).to(torch.int8)[:, None], state.tries),
            stones=stones,
            failed=state.failed | (torch.where(fails, bit, 0)[:, None] * is_mover),
        )

    def returns(self, state: AbruptPhantomState) -> torch.Tensor:
        """Player 0's utility: float64 [B], 1, 0 or -1 at the end."""
        wins = self._tables(state.step.device).wins
        first, second = state.stones.long().unbind(dim=1)
        won = wins.index_select(0, first).double()
        lost = wins.index_select(0, second + (1 << self.num_actions)).double()
        return (won - lost) * state.over

    def round_index(self, state: AbruptPhantomState) -> torch.Tensor:
        """How often both players have tried: int16 [B]."""
        return (state.step // 2).to(torch.int16)

    def public_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the public pieces; the module's table explains them."""
        if perfect_recall:
            return {"tries": (self.max_game_length,), "game_over": (1,)}
        return {"current_player": (2,), "game_over": (1,)}

    def private_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the private pieces; the module's table explains them."""
        n = self.num_actions
        return {"own_tries": (n, n), "failed": (n,)} if perfect_recall else {"cells": (n, 3)}

    def public_tensor(self, state: AbruptPhantomState, perfect_recall: bool = True) -> torch.Tensor:
        """What everybody sees: float32 [B, Dpub]."""
        over = state.over.to(torch.float32)[:, None]
        if not perfect_recall:
            return torch.cat([rules.one_hot(self.current_player(state), 2), over], dim=1)
        slots = self._tables(state.step.device).slots[: self.max_game_length]
        return torch.cat([(slots < state.step[:, None]).to(torch.float32), over], dim=1)

    def private_tensor(
        self, state: AbruptPhantomState, player: int, perfect_recall: bool = True
    ) -> torch.Tensor:
        """What `player` alone sees: float32 [B, Dpriv]."""
        tables, n = self._tables(state.step.device), self.num_actions
        failed = (state.failed[:, player : player + 1] & tables.bits) != 0
        if perfect_recall:
            own = state.tries[:, player * n : (player + 1) * n]
            return torch.cat([rules.look_up(tables.try_bits, own), failed.to(torch.float32)], dim=1)
        stones = (state.stones[:, player : player + 1] & tables.bits) != 0
        kinds = torch.stack([~(stones | failed), stones, failed], dim=2)
        return kinds.to(torch.float32).flatten(1)

    def compiled(self) -> CompiledAbruptPhantom:
        """As `Rules.compiled`."""
        return CompiledAbruptPhantom(self.board)

    def action_to_string(self, player: int, action: int) -> str:
        """A cell's row and column, from 0 on."""
        row, column = divmod(action, self.num_columns)
        return f"({row}, {column})"

    def describe(self, state: AbruptPhantomState, row: int = 0) -> str:
        """The board of one row and both players' failed tries, for people."""
        stones, failed = state.stones[row].tolist(), state.failed[row].tolist()
        cells = range(self.num_actions)
        marks = ["x" if stones[0] >> c & 1 else "o" if stones[1] >> c & 1 else "." for c in cells]
        lines = ["".join(marks[c : c + self.num_columns]) for c in cells[:: self.num_columns]]
        for player in (0, 1):
            where = [self.action_to_string(player, c) for c in cells if failed[player] >> c & 1]
            lines.append(f"P{player} failed at: {' '.join(where) or '-'}")
        return "\n".join(lines)

    def _tables(self, device: torch.device) -> _Tables:
        if device not in self._tables_by_device:
            n = self.num_actions
            self._tables_by_device[device] = _Tables(
                bits=torch.tensor([1 << c for c in range(n)], dtype=torch.int32, device=device),
                wins=torch.from_numpy(self.board.wins.reshape(-1).copy()).to(device),
                slots=torch.arange(2 * n, device=device),
                try_bits=torch.from_numpy(np.eye(n + 1, dtype=np.float32)[:, 1:]).to(device),
                players=torch.arange(2, dtype=torch.int32, device=device),
            )
        return self._tables_by_device[device]


def abrupt_phantom_ttt() -> AbruptPhantomRules:
    """Abrupt phantom tic-tac-toe."""
    return AbruptPhantomRules(boards.tic_tac_toe(), 3, "Three in a line win.")


def abrupt_dark_hex(num_rows: int = 3, num_cols: int = 3) -> AbruptPhantomRules:
    """Abrupt dark hex on so many rows and columns.

    Raises:
      ValueError: if there are fewer than 2 of either, or more than 16 cells.
    """
    if min(num_rows, num_cols) < 2 or num_rows * num_cols > _MOST_CELLS:
        raise ValueError(
            f"num_rows={num_rows} and num_cols={num_cols} are out of range; use 2 or more of "
            f"each, and at most {_MOST_CELLS} cells"
        )
    goal = "A chain wins: player 0's from top to bottom, player 1's from left to right."
    return AbruptPhantomRules(boards.hex_board(num_rows, num_cols), num_cols, goal)
