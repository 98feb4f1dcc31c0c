"""The compiled form of classical phantom games; `classical_phantom` has the rules and the bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spiel_dl.games.boards import Board, turn_lengths
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
    """The game, for compiled loops: `Board`'s, and of each step the mover and if its turn ends."""

    num_cells: int
    wins: np.ndarray
    mover: np.ndarray
    is_last: np.ndarray


class CompiledClassicalPhantom(CompiledRules):
    """Steps `ClassicalPhantomState`s."""

    def __init__(self, board: Board) -> None:
        """Takes the board game."""
        lengths = turn_lengths(board.num_cells)
        mover = np.repeat(np.arange(len(lengths)) % 2, lengths)
        is_last = np.zeros(len(mover), np.bool_)
        is_last[np.cumsum(lengths) - 1] = True
        self._constants = _Constants(board.num_cells, board.wins, mover, is_last)
        n = board.num_cells
        # Who is asked, all steps, the end, the own tries, and at most n - 1 of them that failed.
        self.max_bits = 1 + len(mover) + 1 + n + (n - 1)

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
    waits: np.ndarray,
    games: Games,
) -> None:
    n = constants.num_cells
    end_bit = OWN_BIT + len(constants.mover)
    for game in range(len(step)):
        if over[game]:
            continue
        action = games.action[game]
        if action != NO_ACTION:
            player = constants.mover[step[game]]
            is_last = constants.is_last[step[game]]
            show_both(games, game, OWN_BIT + step[game])
            step[game] += 1
            is_laid = True
            if not waits[game]:
                slot = 0
                while tries[game, player * n + slot] > 0:
                    slot += 1
                is_laid = try_cell(
                    constants, over, tries, stones, failed, games, game, player, slot, action,
                    end_bit,
                )  # fmt: skip
            waits[game] = is_laid and not is_last and not over[game]
        games.legal[game] = False
        if over[game]:
            games.player[game] = TERMINAL
            continue
        player = constants.mover[step[game]]
        games.player[game] = player
        if waits[game]:
            games.legal[game, n] = True
        else:
            list_cells(constants, stones, failed, games, game, player)
