"""Classical phantom games: a player whose try fails tries again, until it has laid a stone.

`phantom` has the rest of the rules. Nobody learns how often the opponent has failed, so that
nothing is public but whose turn it is. These are OpenSpiel's `phantom_ttt` and `dark_hex`, whose
action ids are used here.

Waiting: histories of one public state must be equally long (`rules`), and turns are not. In its
turn a player fails at most once at each stone of its opponent, and how many there are is public.
So the turn takes that many steps and one, and who has laid its stone earlier waits until it ends,
which is an action of its own, the last one, and then the only one that is legal. Nobody but the
player itself can tell a wait from a try that failed. Without waits, histories are OpenSpiel's.

Pieces of the public tensor, with T steps in all; `phantom` has the private ones:

| perfect recall | piece | shape | meaning |
|---|---|---|---|
| yes | steps | T | thermometer of the steps so far |
| no | turn | 2 | the player whose turn it is, one-hot; zeros if the game is over |
| both | game_over | 1 | whether the game is over |
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import boards, phantom, rules
from spiel_dl.games.classical_phantom_compiled import CompiledClassicalPhantom
from spiel_dl.games.classical_phantom_histories import infoset_of
from spiel_dl.games.phantom import PhantomRules, PhantomState

_NOBODY = -1
_MOST_LISTED = 9  # cells of boards on which orders of stones can be listed


@dataclasses.dataclass(frozen=True)
class ClassicalPhantomState(PhantomState):
    """A batch of states.

    Attributes:
      waits: bool [B], whether the stone of this turn lies already.
    """

    waits: torch.Tensor


class _Steps(NamedTuple):
    """What steps belong to, on one device, each [T + 1]; after the last step there is no turn.

    Attributes:
      mover: int64, the player whose turn it is.
      turn: int16, the number of the turn.
      is_last: bool, whether the turn ends with this step.
    """

    mover: torch.Tensor
    turn: torch.Tensor
    is_last: torch.Tensor


class ClassicalPhantomRules(PhantomRules[ClassicalPhantomState]):
    """Rules of a classical phantom game; see `PhantomRules`."""

    def __init__(self, board: boards.Board, num_columns: int, goal: str = "") -> None:
        super().__init__(board, num_columns, goal)
        self.num_actions = board.num_cells + 1
        self.turn_lengths = boards.turn_lengths(board.num_cells)
        self.max_game_length = sum(self.turn_lengths)
        self._steps_by_device: dict[torch.device, _Steps] = {}

    def initial_state(
        self, batch_size: int = 1, device: torch.device | str = "cpu"
    ) -> ClassicalPhantomState:
        """A batch of B copies of the empty board."""
        empty = phantom.empty(batch_size, self.board.num_cells, device)
        waits = torch.zeros(batch_size, dtype=torch.bool, device=device)
        return ClassicalPhantomState(**empty, waits=waits)

    def legal_actions(self, state: ClassicalPhantomState) -> torch.Tensor:
        """The cells that the player to move has not tried, or to wait: bool [B, A]."""
        waits = state.waits[:, None]
        return torch.cat([self.not_tried(state, self.mover(state)) & ~waits, waits], dim=1)

    def apply(self, state: ClassicalPhantomState, action: torch.Tensor) -> ClassicalPhantomState:
        """The successors under `action` (int64 [B]): the player to move tries a cell, or waits."""
        mover, n = self.mover(state), self.board.num_cells
        own = state.tries.unflatten(1, (2, n)).gather(1, mover[:, None, None].expand(-1, 1, n))
        slot = torch.where(state.waits, _NOBODY, (own[:, 0] > 0).sum(dim=1))
        found = self.tried(state, mover, slot, action.clamp(max=n - 1))
        is_last = self._steps(state.step.device).is_last.index_select(0, state.step.int())
        return ClassicalPhantomState(
            step=state.step + ~state.over,
            over=found.over,
            tries=found.tries,
            stones=found.stones,
            failed=found.failed,
            waits=(state.waits | found.succeeded) & ~is_last & ~found.over,
        )

    def round_index(self, state: ClassicalPhantomState) -> torch.Tensor:
        """How many pairs of turns are over: int16 [B]."""
        return self._steps(state.step.device).turn.index_select(0, state.step.int()) // 2

    def public_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the public pieces; the module's table explains them."""
        if perfect_recall:
            return {"steps": (self.max_game_length,), "game_over": (1,)}
        return {"turn": (2,), "game_over": (1,)}

    def draw_histories(
        self,
        public_tensor: torch.Tensor,
        count: int,
        generator: np.random.Generator,
        player: int | None = None,
        private_tensor: torch.Tensor | None = None,
    ) -> tuple[rules.ConsistentHistories, np.ndarray] | None:
        """As `Rules.draw_histories`: those of one infoset, on boards of at most 9 cells."""
        if player is None or private_tensor is None or self.board.num_cells > _MOST_LISTED:
            return None
        if public_tensor[-1] > 0:
            return None  # The game is over.
        num_steps = int(public_tensor.sum())
        infoset = infoset_of(self.board, player, num_steps, private_tensor)
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
        own = self.private_tensor(state, player)
        if not torch.equal(own, private_tensor.cpu().expand_as(own)):
            raise impossible
        device = public_tensor.device
        reach = torch.ones(len(numbers), dtype=torch.float64, device=device)
        histories = rules.ConsistentHistories(
            True, len(numbers), state.to(device), actions.to(device, torch.int16), reach
        )
        return histories, np.full(len(numbers), total / len(numbers))

    def compiled(self) -> CompiledClassicalPhantom:
        """As `Rules.compiled`."""
        return CompiledClassicalPhantom(self.board)

    def action_to_string(self, player: int, action: int) -> str:
        """A cell's row and column, from 0 on, or that the player waits."""
        if action == self.board.num_cells:
            return "wait"
        return super().action_to_string(player, action)

    def mover(self, state: ClassicalPhantomState) -> torch.Tensor:
        """As `PhantomRules.mover`."""
        return self._steps(state.step.device).mover.index_select(0, state.step.int())

    def _steps(self, device: torch.device) -> _Steps:
        if device not in self._steps_by_device:
            turns = [j for j, length in enumerate(self.turn_lengths) for _ in range(length)]
            turns.append(self.board.num_cells)  # a turn that nobody has
            ends = [one != other for one, other in itertools.pairwise(turns)]
            self._steps_by_device[device] = _Steps(
                mover=torch.tensor([j % 2 for j in turns], device=device),
                turn=torch.tensor(turns, dtype=torch.int16, device=device),
                is_last=torch.tensor([*ends, True], device=device),
            )
        return self._steps_by_device[device]


def phantom_ttt() -> ClassicalPhantomRules:
    """Phantom tic-tac-toe."""
    return ClassicalPhantomRules.on_tic_tac_toe()


def dark_hex(num_rows: int = 3, num_cols: int = 3) -> ClassicalPhantomRules:
    """Dark hex on so many rows and columns; as `PhantomRules.on_hex`."""
    return ClassicalPhantomRules.on_hex(num_rows, num_cols)
