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
    show,
    show_both,
)

_OWN_BIT = 2  # information state tensors begin with a one-hot of the player


class _Constants(NamedTuple):
    """The game, for compiled loops, as in `Board`."""

    num_cells: int
    wins: np.ndarray


class CompiledAbruptPhantom(CompiledRules):
    """Steps `AbruptPhantomState`s."""

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
    n = constants.num_cells
    for game in range(len(step)):
        if over[game]:
            continue
        action = games.action[game]
        if action != NO_ACTION:
            player, slot = step[game] % 2, step[game] // 2
            tries[game, player * n + slot] = action + 1
            show_both(games, game, _OWN_BIT + step[game])
            own_tries = _OWN_BIT + 2 * n  # after the tries of both and the end
            show(games, game, player, own_tries + slot * n + action)
            step[game] += 1
            if stones[game, 1 - player] >> action & 1:
                failed[game, player] |= 1 << action
                show(games, game, player, own_tries + n * n + action)
            else:
                stones[game, player] |= 1 << action
                wins = constants.wins[player, stones[game, player]]
                full = stones[game, 0] + stones[game, 1] == (1 << n) - 1
                if wins or full:
                    over[game] = True
                    show_both(games, game, own_tries - 1)
                    games.returns[game] = (1.0 - 2.0 * player) if wins else 0.0
        games.legal[game] = False
        if over[game]:
            games.player[game] = TERMINAL
            continue
        player = step[game] % 2
        games.player[game] = player
        for cell in range(n):
            tried = (stones[game, player] | failed[game, player]) >> cell & 1
            games.legal[game, cell] = not tried
