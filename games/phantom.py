"""Phantom games of two players, who see their own stones only.

The players try in turn to place a stone on a cell that they have not tried before, player 0 first.
Only the player who tries learns whether it succeeds: a try fails at a stone of the opponent. The
game ends when a stone wins, see `boards`, or when the board is full, which is a draw if nobody has
won. Action ids are OpenSpiel's, of `phantom_ttt` and `dark_hex`.

*Abrupt* games (`gameversion=abrupt`, `adh`): a try ends the turn, whether it succeeds or fails. So
the number of tries is public.

*Classical* games: after a failed try the player tries again, until it has placed a stone. Failures
are private, so only the player to move is public. Histories of one public state must be equally
long (`rules`), and turns are not. In its turn a player fails at most once at each stone of its
opponent, and the number of these is public. So a turn has that many steps plus one, and a player
who has placed its stone earlier waits until the turn ends. Waiting is an action, the last one, and
then the only legal one. Its opponent cannot tell a wait from a failed try. Without waits, histories
are OpenSpiel's.

Pieces of the tensors, with n cells and T steps in all, 2 n - 1 in abrupt games:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | steps (abrupt: tries) | T | thermometer of the steps so far |
| public | no | turn (abrupt: current_player) | 2 | whose turn it is, one-hot; zeros at the end |
| public | both | game_over | 1 | whether the game is over |
| private | yes | own_tries | n x n | the own tries in order, one-hot, zero-padded |
| private | yes | failed | n | cells at which they failed |
| private | no | cells | n x 3 | of each cell: not tried, an own stone, an opponent's |

The network's inputs. They include the order of tries, because a stone that was placed earlier is
more likely to have been found by the opponent:

| piece | shape | meaning |
|---|---|---|
| player | 2 | the seat, one-hot |
| own_stones | n | the cells of the own stones |
| found_stones | n | the cells at which tries failed, where stones of the opponent lie |
| untried | n | all other cells |
| counts | 2 | own stones and found ones, as shares of all cells |
| steps | T | thermometer of the steps so far |
| own_tries | n x n | the own tries in order, one-hot, zero-padded |
"""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import boards, phantom_histories, rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.compiled import CompiledRules
from spiel_dl.games.phantom_compiled import compiled_phantom
from spiel_dl.games.piece_rules import PieceRules, Pieces

_MOST_CELLS = 16
_MOST_LISTED = 9  # cells of boards on which orders of stones can be listed


@dataclasses.dataclass(frozen=True)
class PhantomState(rules.StateBatch):
    """A batch of states.

    Attributes:
      step: int8 [B], the number of steps so far.
      over: bool [B], whether the game is over.
      tries: int8 [B, 2 n], player 0's cells in order, then player 1's, each plus 1; 0 if not tried.
      stones: int32 [B, 2], the sets of both players' stones; bit c is cell c.
      failed: int32 [B, 2], the sets of cells at which they failed.
      waits: bool [B], whether the stone of this turn is placed already.
    """

    step: torch.Tensor
    over: torch.Tensor
    tries: torch.Tensor
    stones: torch.Tensor
    failed: torch.Tensor
    waits: torch.Tensor


class _Tables(NamedTuple):
    """Constants on one device. The last three are by step; at T there is no turn.

    Attributes:
      bits: int32 [n], the set of each cell alone.
      wins: bool [2 * 2^n], whether a set of stones wins: player 0's, then player 1's.
      slots: int64 [2 n], 0, 1, 2, ...
      steps: int64 [T], 0, 1, 2, ...
      try_bits: float32 [n + 1, n], one-hot of a cell plus 1; zeros for 0.
      players: int32 [2], 0 and 1.
      mover: int64 [T + 1], the player whose turn it is.
      turn: int16 [T + 1], the number of the turn.
      is_last: bool [T + 1], whether the turn ends with this step.
    """

    bits: torch.Tensor
    wins: torch.Tensor
    slots: torch.Tensor
    steps: torch.Tensor
    try_bits: torch.Tensor
    players: torch.Tensor
    mover: torch.Tensor
    turn: torch.Tensor
    is_last: torch.Tensor


class PhantomRules(PieceRules[PhantomState]):
    """Rules of a phantom game.

    Args:
      board: the board game.
      num_columns: columns of the board, whose cells are counted row by row; for texts only.
      goal: a sentence about what wins; for texts only.
      is_abrupt: whether a failed try ends the turn.

    Raises:
      ValueError: if the board has more than 16 cells.
    """

    min_utility = -1.0
    max_utility = 1.0

    def __init__(
        self, board: boards.Board, num_columns: int, goal: str = "", *, is_abrupt: bool
    ) -> None:
        n = board.num_cells
        if n > _MOST_CELLS:
            raise ValueError(f"the board has {n} cells; use one of at most {_MOST_CELLS}")
        self.board, self.num_columns, self.goal = board, num_columns, goal
        self.is_abrupt = is_abrupt
        # Player 0 may try all cells, and player 1 all but that of the last stone.
        self.turn_lengths = [1] * (2 * n - 1) if is_abrupt else boards.turn_lengths(n)
        self.max_game_length = sum(self.turn_lengths)
        num_turns = len(self.turn_lengths)
        turn = np.append(np.repeat(np.arange(num_turns), self.turn_lengths), num_turns)
        self.num_actions = n if is_abrupt else n + 1  # The last action is to wait.
        self.root = PhantomState(
            step=torch.zeros(1, dtype=torch.int8),
            over=torch.zeros(1, dtype=torch.bool),
            tries=torch.zeros((1, 2 * n), dtype=torch.int8),
            stones=torch.zeros((1, 2), dtype=torch.int32),
            failed=torch.zeros((1, 2), dtype=torch.int32),
            waits=torch.zeros(1, dtype=torch.bool),
        )
        self._tables = TablesByDevice(
            _Tables,
            bits=1 << np.arange(n, dtype=np.int32),
            wins=board.wins.reshape(-1).copy(),
            slots=np.arange(2 * n),
            steps=np.arange(self.max_game_length),
            try_bits=np.eye(n + 1, dtype=np.float32)[:, 1:],
            players=np.arange(2, dtype=np.int32),
            mover=turn % 2,
            turn=turn.astype(np.int16),
            is_last=np.append(turn[1:] != turn[:-1], True),
        )

    def current_player(self, state: PhantomState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return torch.where(state.over, rules.TERMINAL_PLAYER, self._mover(state)).to(torch.int8)

    def legal_actions(self, state: PhantomState) -> torch.Tensor:
        """The cells that the player to move has not tried, or waiting: bool [B, A]."""
        tried = (state.stones | state.failed).gather(1, self._mover(state)[:, None])
        goes_on = ~state.over[:, None]
        free = ((tried & self._tables(state.step.device).bits) == 0) & goes_on
        if self.is_abrupt:
            return free
        waits = state.waits[:, None]
        return torch.cat([free & ~waits, waits], dim=1)

    def apply(self, state: PhantomState, action: torch.Tensor) -> PhantomState:
        """The successors under `action` (int64 [B]): the player to move tries a cell, or waits."""
        tables, n = self._tables(state.step.device), self.board.num_cells
        player, cell = self._mover(state), action.clamp(max=n - 1)
        own_tries = state.tries.unflatten(1, (2, n)).gather(
            1, player[:, None, None].expand(-1, 1, n)
        )
        slot = (own_tries[:, 0] > 0).sum(dim=1)
        acts = ~state.over & ~state.waits
        opponent_stones = state.stones.gather(1, 1 - player[:, None])[:, 0]
        bit = torch.where(acts, tables.bits.index_select(0, cell), 0)
        fails = (opponent_stones & bit) != 0
        succeeds = acts & ~fails
        is_mover = tables.players == player[:, None]
        stones = state.stones | (torch.where(fails, 0, bit)[:, None] * is_mover)
        own_stones = stones.gather(1, player[:, None])[:, 0].long()
        wins = tables.wins.index_select(0, own_stones + (player << n)) & succeeds
        full = stones.sum(dim=1) == (1 << n) - 1
        over = state.over | wins | full
        writes = (tables.slots == (player * n + slot)[:, None]) & acts[:, None]
        is_last = tables.is_last.index_select(0, state.step.int())
        return PhantomState(
            step=state.step + ~state.over,
            over=over,
            tries=torch.where(writes, (cell + 1).to(torch.int8)[:, None], state.tries),
            stones=stones,
            failed=state.failed | (torch.where(fails, bit, 0)[:, None] * is_mover),
            waits=(state.waits | succeeds) & ~is_last & ~over,
        )

    def returns(self, state: PhantomState) -> torch.Tensor:
        """Player 0's utility: float64 [B], 1, 0 or -1 at the end."""
        wins = self._tables(state.step.device).wins
        first, second = state.stones.long().unbind(dim=1)
        won = wins.index_select(0, first).double()
        lost = wins.index_select(0, second + (1 << self.board.num_cells)).double()
        return (won - lost) * state.over

    def round_index(self, state: PhantomState) -> torch.Tensor:
        """The number of completed pairs of turns: int16 [B]."""
        return self._tables(state.step.device).turn.index_select(0, state.step.int()) // 2

    def public(self, state: PhantomState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        over = {"game_over": state.over[:, None]}
        if not perfect_recall:
            name = "current_player" if self.is_abrupt else "turn"
            return {name: rules.one_hot(self.current_player(state), 2), **over}
        steps = self._tables(state.step.device).steps < state.step[:, None]
        return {"tries" if self.is_abrupt else "steps": steps, **over}

    def private(self, state: PhantomState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        failed = self._cells(state.failed, player)
        if perfect_recall:
            return {"own_tries": self._own_tries(state, player), "failed": failed}
        stones = self._cells(state.stones, player)
        return {"cells": torch.stack([~(stones | failed), stones, failed], dim=2)}

    def inputs(self, state: PhantomState, player: int) -> Pieces:
        """The pieces of a network's inputs; the module's second table explains them."""
        own_stones = self._cells(state.stones, player)
        found_stones = self._cells(state.failed, player)
        counts = torch.stack([own_stones.sum(dim=1), found_stones.sum(dim=1)], dim=1)
        return {
            "player": rules.seat(state, player),
            "own_stones": own_stones,
            "found_stones": found_stones,
            "untried": ~(own_stones | found_stones),
            "counts": counts.float() * (1 / self.board.num_cells),
            "steps": self._tables(state.step.device).steps < state.step[:, None],
            "own_tries": self._own_tries(state, player),
        }

    def draw_histories(
        self,
        public_tensor: torch.Tensor,
        count: int,
        generator: np.random.Generator,
        player: int | None = None,
        private_tensor: torch.Tensor | None = None,
    ) -> tuple[rules.ConsistentHistories, np.ndarray] | None:
        """See `Rules.draw_histories`; only for infosets of classical games on at most 9 cells."""
        if self.is_abrupt or player is None or private_tensor is None:
            return None
        if self.board.num_cells > _MOST_LISTED or public_tensor[-1] > 0:  # The game is over.
            return None
        num_steps = int(public_tensor.sum())
        infoset = phantom_histories.infoset_of(self.board, player, num_steps, private_tensor)
        total = infoset.num_histories
        impossible = ValueError("no history has these observations; give those of one state")
        if not total:
            raise impossible
        numbers = np.arange(total)
        if total > count:
            numbers = np.sort(generator.choice(total, count, replace=False, shuffle=False))
        actions = torch.tensor([infoset.actions(number)[:num_steps] for number in numbers.tolist()])
        state = self.initial_state(len(numbers))
        for step in range(num_steps):
            state = self.apply(state, actions[:, step])
        for found, given in (
            (self.public_tensor(state), public_tensor),
            (self.private_tensor(state, player), private_tensor),
        ):
            if not torch.equal(found, given.cpu().expand_as(found)):
                raise impossible
        device = public_tensor.device
        reach = torch.ones(len(numbers), dtype=torch.float64, device=device)
        histories = rules.ConsistentHistories(
            True, state.to(device), actions.to(device, torch.int16), reach
        )
        return histories, np.full(len(numbers), total / len(numbers))

    def compiled(self) -> CompiledRules:
        """See `Rules.compiled`."""
        tables = self._tables(torch.device("cpu"))
        return compiled_phantom(self.board, tables.mover[:-1].numpy(), tables.is_last[:-1].numpy())

    def action_to_string(self, player: int, action: int) -> str:
        """A cell's row and column, from 0 on, or "wait"."""
        if action == self.board.num_cells:
            return "wait"
        row, column = divmod(action, self.num_columns)
        return f"({row}, {column})"

    def describe(self, state: PhantomState, row: int = 0) -> str:
        """The board of one row and both players' failed tries, for people."""
        stones, failed = state.stones[row].tolist(), state.failed[row].tolist()
        cells = range(self.board.num_cells)
        marks = ["x" if stones[0] >> c & 1 else "o" if stones[1] >> c & 1 else "." for c in cells]
        lines = ["".join(marks[c : c + self.num_columns]) for c in cells[:: self.num_columns]]
        for player in (0, 1):
            where = [self.action_to_string(player, c) for c in cells if failed[player] >> c & 1]
            lines.append(f"P{player} failed at: {' '.join(where) or '-'}")
        return "\n".join(lines)

    def _cells(self, sets: torch.Tensor, player: int) -> torch.Tensor:
        """The cells of a player's set, of both players' (int32 [B, 2]): bool [B, n]."""
        return (sets[:, player : player + 1] & self._tables(sets.device).bits) != 0

    def _own_tries(self, state: PhantomState, player: int) -> torch.Tensor:
        """A player's tries in order, one-hot: float32 [B, n, n]."""
        n = self.board.num_cells
        tries = state.tries[:, player * n : (player + 1) * n]
        return rules.look_up(self._tables(state.step.device).try_bits, tries)

    def _mover(self, state: PhantomState) -> torch.Tensor:
        """The player whose turn it is, in games that are not over: int64 [B]."""
        return self._tables(state.step.device).mover.index_select(0, state.step.int())


def _tic_tac_toe_rules(is_abrupt: bool) -> PhantomRules:
    """The rules of phantom tic-tac-toe."""
    return PhantomRules(boards.tic_tac_toe(), 3, "Three in a line win.", is_abrupt=is_abrupt)


def _hex_rules(is_abrupt: bool, num_rows: int = 3, num_cols: int = 3) -> PhantomRules:
    """The rules of dark hex on so many rows and columns.

    Raises:
      ValueError: if there are fewer than 2 of either, or more than 16 cells.
    """
    if min(num_rows, num_cols) < 2 or num_rows * num_cols > _MOST_CELLS:
        raise ValueError(
            f"num_rows={num_rows} and num_cols={num_cols} are out of range; use 2 or more of "
            f"each, and at most {_MOST_CELLS} cells"
        )
    goal = "A chain wins: player 0's from top to bottom, player 1's from left to right."
    return PhantomRules(boards.hex_board(num_rows, num_cols), num_cols, goal, is_abrupt=is_abrupt)


phantom_ttt = functools.partial(_tic_tac_toe_rules, False)
abrupt_phantom_ttt = functools.partial(_tic_tac_toe_rules, True)
dark_hex = functools.partial(_hex_rules, False)
abrupt_dark_hex = functools.partial(_hex_rules, True)
