"""The compiled form of phantom games; `phantom` has the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.boards import Board
from spiel_dl.games.compiled import (
    NO_ACTION,
    SEATS,
    TERMINAL,
    CompiledRules,
    Games,
    inlined,
    kernel,
)


class _Constants(NamedTuple):
    """The game, for compiled loops: `Board`'s, and by step the mover, and whether its turn ends."""

    num_cells: int
    wins: np.ndarray
    mover: np.ndarray
    is_last: np.ndarray


def compiled_phantom(board: Board, mover: np.ndarray, is_last: np.ndarray) -> CompiledRules:
    """Steps `PhantomState`s of a board game; the arguments are described by `_Constants`."""
    constants = _Constants(board.num_cells, board.wins, mover, is_last)
    return CompiledRules(_advance, constants, _features)


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
    for game in range(len(step)):
        if over[game]:
            continue
        action = games.action[game]
        if action != NO_ACTION:
            player = constants.mover[step[game]]
            is_last = constants.is_last[step[game]]
            step[game] += 1
            succeeds = True
            if not waits[game]:
                succeeds = _try(constants, over, tries, stones, failed, games, game, player, action)
            waits[game] = succeeds and not is_last and not over[game]
        games.legal[game] = False
        if over[game]:
            games.player[game] = TERMINAL
            continue
        player = constants.mover[step[game]]
        games.player[game] = player
        if waits[game]:
            games.legal[game, n] = True
            continue
        for cell in range(n):
            tried = (stones[game, player] | failed[game, player]) >> cell & 1
            games.legal[game, cell] = not tried


@inlined
def _try(
    constants: _Constants,
    over: np.ndarray,
    tries: np.ndarray,
    stones: np.ndarray,
    failed: np.ndarray,
    games: Games,
    game: int,
    player: int,
    cell: int,
) -> bool:
    """Makes a player's try; returns whether it succeeds."""
    n = constants.num_cells
    slot = 0
    while tries[game, player * n + slot] > 0:
        slot += 1
    tries[game, player * n + slot] = cell + 1
    succeeds = not stones[game, 1 - player] >> cell & 1
    if succeeds:
        stones[game, player] |= 1 << cell
        wins = constants.wins[player, stones[game, player]]
        full = stones[game, 0] + stones[game, 1] == (1 << n) - 1
        if wins or full:
            over[game] = True
            games.returns[game] = (1.0 - 2.0 * player) if wins else 0.0
    else:
        failed[game, player] |= 1 << cell
    return succeeds


@kernel
def _features(
    constants: _Constants,
    step: np.ndarray,
    over: np.ndarray,
    tries: np.ndarray,
    stones: np.ndarray,
    failed: np.ndarray,
    waits: np.ndarray,
    observer: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Writes the rows of `PhantomRules.features` for each game's observer."""
    n = constants.num_cells
    counts = SEATS + 3 * n
    steps = counts + 2
    own_tries = steps + len(constants.mover)
    share = np.float32(1 / n)
    index = 0
    for game in range(len(observer)):
        player = observer[game]
        if player < 0:
            continue
        row = rows[index]
        index += 1
        row[:] = 0.0
        row[player] = 1.0
        num_own, num_found = 0, 0
        for cell in range(n):
            is_own = stones[game, player] >> cell & 1
            is_found = failed[game, player] >> cell & 1
            row[SEATS + cell] = is_own
            row[SEATS + n + cell] = is_found
            row[SEATS + 2 * n + cell] = 1 - is_own - is_found
            num_own += is_own
            num_found += is_found
        row[counts] = np.float32(num_own) * share
        row[counts + 1] = np.float32(num_found) * share
        row[steps : steps + step[game]] = 1.0
        for slot in range(n):
            tried = tries[game, player * n + slot]
            if tried == 0:
                break
            row[own_tries + slot * n + tried - 1] = 1.0
