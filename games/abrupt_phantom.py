"""Abrupt phantom games: a try ends the turn, whether it succeeds or fails.

So the number of tries is public. `phantom` has the rest of the rules. These are OpenSpiel's
`phantom_ttt(gameversion=abrupt)` and `dark_hex(gameversion=adh)`, whose action ids are used here.

Pieces of the public tensor, with n cells; `phantom` has the private ones:

| perfect recall | piece | shape | meaning |
|---|---|---|---|
| yes | tries | 2 n - 1 | thermometer of both players' tries so far |
| no | current_player | 2 | the player to move, one-hot; zeros if none is |
| both | game_over | 1 | whether the game is over |
"""

from __future__ import annotations

from collections.abc import Mapping

import torch

from spiel_dl.games import phantom
from spiel_dl.games.abrupt_phantom_compiled import CompiledAbruptPhantom
from spiel_dl.games.phantom import PhantomRules, PhantomState


class AbruptPhantomRules(PhantomRules[PhantomState]):
    """Rules of an abrupt phantom game; see `PhantomRules`."""

    def initial_state(
        self, batch_size: int = 1, device: torch.device | str = "cpu"
    ) -> PhantomState:
        """A batch of B copies of the empty board."""
        return PhantomState(**phantom.empty(batch_size, self.board.num_cells, device))

    def mover(self, state: PhantomState) -> torch.Tensor:
        """As `PhantomRules.mover`."""
        return (state.step % 2).long()

    def legal_actions(self, state: PhantomState) -> torch.Tensor:
        """The cells that the player to move has not tried: bool [B, A]."""
        return self.not_tried(state, self.mover(state))

    def apply(self, state: PhantomState, action: torch.Tensor) -> PhantomState:
        """The successors under `action` (int64 [B]): the player to move tries a cell."""
        found = self.tried(state, self.mover(state), state.step // 2, action)
        return PhantomState(
            step=state.step + ~state.over,
            over=found.over,
            tries=found.tries,
            stones=found.stones,
            failed=found.failed,
        )

    def round_index(self, state: PhantomState) -> torch.Tensor:
        """How often both players have tried: int16 [B]."""
        return (state.step // 2).to(torch.int16)

    def public_pieces(self, perfect_recall: bool) -> Mapping[str, tuple[int, ...]]:
        """Names and shapes of the public pieces; the module's table explains them."""
        if perfect_recall:
            return {"tries": (self.max_game_length,), "game_over": (1,)}
        return {"current_player": (2,), "game_over": (1,)}

    def compiled(self) -> CompiledAbruptPhantom:
        """As `Rules.compiled`."""
        return CompiledAbruptPhantom(self.board)


def abrupt_phantom_ttt() -> AbruptPhantomRules:
    """Abrupt phantom tic-tac-toe."""
    return AbruptPhantomRules.on_tic_tac_toe()


def abrupt_dark_hex(num_rows: int = 3, num_cols: int = 3) -> AbruptPhantomRules:
    """Abrupt dark hex on so many rows and columns; as `PhantomRules.on_hex`."""
    return AbruptPhantomRules.on_hex(num_rows, num_cols)
