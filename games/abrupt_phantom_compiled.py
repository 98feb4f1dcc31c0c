"""The compiled form of abrupt phantom games; `abrupt_phantom` has the rules and the bits' order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spiel_dl.games.boards import Board
from spiel_dl.games.compiled import (
    NO_ACTION,
    TERMINAL,
    CompiledRules,
    Games,
    kernel,
    show_both,
)
from spiel_dl.games.phantom_compiled import OWN_BIT, list_cells, try_cell


class _Constants(NamedTuple):
    """The game, for compiled loops, as in `Board`."""

    num_cells: int
    wins: np.ndarray


class CompiledAbruptPhantom(CompiledRules):
    """Steps the states of `phantom`, `PhantomState`."""

    def __init__(self, board: Board) -> None:
        """Takes the board game."""
        self._constants = _Constants(board.num_cells, board.wins)
        n = board.num_cells
        # Who is asked, all tries, the end, the own tries, and at most n - 1 of them that failed.
        self.max_bits = 1 + (2 * n - 1) + 1 + n + (n - 1)

    def advance(self, state: tuple[np.ndarray, ...], games: Games) -> None:
        """As `CompiledRules.advance`."""
        arguments: list[Any] = [self._constants, *state, games]
        _advance(*arguments)


@kernel
def _advance(
    constants: _Constants,
    step: np.ndarray,
    over: np.ndarray,
    tries: np.ndarray,
    stones: np.ndarray,
    failed: np.ndarray,
    games: Games,
) -> None:
    end_bit = OWN_BIT + 2 * constants.num_cells - 1  # after the tries of both
    for game in range(len(step)):
        if over[game]:
            continue
        action = games.action[game]
        if action != NO_ACTION:
            player, slot = step[game] % 2, step[game] // 2
            show_both(games, game, OWN_BIT + step[game])
            step[game] += 1
            try_cell(
                constants, over, tries, stones, failed, games, game, player, slot, action, end_bit
            )
        games.legal[game] = False
        if over[game]:
            games.player[game] = TERMINAL
            continue
        games.player[game] = step[game] % 2
        list_cells(constants, stones, failed, games, game, step[game] % 2)
