"""The compiled form of Battleships; `battleships` has the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.battleships_fleets import HIT, MISS, NO_FIT, NOTHING, SUNK, FleetTables
from spiel_dl.games.compiled import (
    NO_ACTION,
    SEATS,
    TERMINAL,
    CompiledRules,
    Games,
    kernel,
)

_SCORES = np.array([0, NO_FIT, 1, NO_FIT], np.float32)  # of NOTHING, MISS, HIT, SUNK


class _Constants(NamedTuple):
    """The constants of a game, for compiled loops: S ships, N tiles, T shots of each player.

    Attributes:
      covers: bool [S, 2N, N], see `FleetTables`.
      fits: bool [S, 2N], see `FleetTables`.
      excludes: bool [S, 2N, S, 2N], see `FleetTables`.
      ship_values: float64 [S].
      lines: int64 [P, L], the tiles of all placements of all ships; padded with N.
      scale: float32, 1 divided by the most placements that cover a tile of an empty board.
      num_shots: T.
      repeats_shots: whether a player may shoot at the same tile again.
      is_win_loss: whether the returns are those of `win_loss`.
    """

    covers: np.ndarray
    fits: np.ndarray
    excludes: np.ndarray
    ship_values: np.ndarray
    lines: np.ndarray
    scale: np.float32
    num_shots: int
    repeats_shots: bool
    is_win_loss: bool


def compiled_battleships(
    fleets: FleetTables,
    ship_values: tuple[float, ...],
    num_shots: int,
    repeats_shots: bool,
    is_win_loss: bool,
) -> CompiledRules:
    """Steps `BattleshipsState`s of a game; the arguments are described by `_Constants`."""
    constants = _Constants(
        fleets.covers,
        fleets.fits,
        fleets.excludes,
        np.array(ship_values),
        _lines(fleets),
        np.float32(1.0) / np.float32(fleets.covers.sum(axis=(0, 1)).max()),
        num_shots,
        repeats_shots,
        is_win_loss,
    )
    return CompiledRules(_advance, constants, _features)


def _lines(fleets: FleetTables) -> np.ndarray:
    placements = fleets.placements
    lines = np.full((len(placements), placements.sum(axis=1).max()), placements.shape[1])
    for line, covered in zip(lines, placements, strict=True):
        tiles = covered.nonzero()[0]
        line[: len(tiles)] = tiles
    return lines


@kernel
def _advance(
    constants: _Constants,
    next_move: np.ndarray,
    record: np.ndarray,
    tiles_left: np.ndarray,
    boards: np.ndarray,
    games: Games,
) -> None:
    num_placements = 2 * len(constants.covers)
    end = num_placements + 2 * constants.num_shots
    for game in range(len(next_move)):
        move, action = next_move[game], games.action[game]
        if move == end:
            continue
        if action != NO_ACTION:
            if move < num_placements:
                record[game, move] = action
                next_move[game] = move + 1
            else:
                is_last = _shoot(constants, record, tiles_left, boards, game, move, action)
                next_move[game] = end if is_last else move + 1
        move = next_move[game]
        games.legal[game] = False
        games.player[game] = TERMINAL if move == end else move % 2
        if move == end:
            games.returns[game] = _return(constants, tiles_left[game])
        elif move < num_placements:
            _allow_placements(constants, record[game], move, games.legal[game])
        else:
            _allow_shots(constants, boards[game], move, games.legal[game])


@kernel
def _shoot(
    constants: _Constants,
    record: np.ndarray,
    tiles_left: np.ndarray,
    boards: np.ndarray,
    game: int,
    move: int,
    tile: int,
) -> bool:
    """Makes a shot; returns whether it ends the game."""
    num_ships, num_tiles = len(constants.covers), constants.covers.shape[2]
    owner, shots = 1 - move % 2, 2 * constants.num_shots
    column = owner * num_tiles + tile
    outcome, is_sunk = MISS, True
    for ship in range(num_ships):
        slot = 2 * ship + owner
        if constants.covers[ship, record[game, slot] - num_tiles, tile]:
            tiles_left[game, slot] -= boards[game, column] == NOTHING
            outcome = HIT if tiles_left[game, slot] else SUNK
        is_sunk &= tiles_left[game, slot] == 0
    boards[game, column] = outcome
    record[game, move], record[game, move + shots] = tile, outcome
    return is_sunk or move + 1 == 2 * num_ships + shots


@kernel
def _allow_shots(constants: _Constants, boards: np.ndarray, move: int, legal: np.ndarray) -> None:
    num_tiles = constants.covers.shape[2]
    target = (1 - move % 2) * num_tiles
    for tile in range(num_tiles):
        legal[tile] = constants.repeats_shots or boards[target + tile] == NOTHING


@kernel
def _allow_placements(
    constants: _Constants, record: np.ndarray, move: int, legal: np.ndarray
) -> None:
    """Marks the placements on free tiles as legal."""
    num_tiles = constants.covers.shape[2]
    ship, first = move // 2, num_tiles
    for placement in range(2 * num_tiles):
        is_free = constants.fits[ship, placement]
        for earlier in range(ship):
            earlier_placement = record[2 * earlier + move % 2] - num_tiles
            is_free &= not constants.excludes[earlier, earlier_placement, ship, placement]
        legal[first + placement] = is_free


@kernel
def _return(constants: _Constants, tiles_left: np.ndarray) -> float:
    """Player 0's utility at the end."""
    gain, first_floats, second_floats = 0.0, False, False
    for ship in range(len(constants.covers)):
        first_left, second_left = tiles_left[2 * ship], tiles_left[2 * ship + 1]
        first_floats |= first_left > 0
        second_floats |= second_left > 0
        value = constants.ship_values[ship]
        gain += value * np.float64(second_left == 0) - value * np.float64(first_left == 0)
    if constants.is_win_loss:
        return np.float64(first_floats) - np.float64(second_floats)
    return gain


@kernel
def _weigh_placements(
    constants: _Constants, board: np.ndarray, scratch: np.ndarray, planes: np.ndarray
) -> None:
    """Writes `placements_left` of a board of N tiles.

    Nothing branches on announcements, as processors would mispredict such branches.

    Args:
      constants: the game's constants.
      board: int8 [N], the last announcement of each tile.
      scratch: float32 [3, N + 1]; column N stands for no tile.
      planes: float32 [2 N], written.
    """
    num_tiles, (score, number, weight) = len(board), scratch
    scratch[:] = 0.0
    for tile in range(num_tiles):
        score[tile] = _SCORES[board[tile] - NOTHING]
    for placement in range(len(constants.lines)):
        line, hits = constants.lines[placement], np.float32(0.0)
        for tile in line:
            hits += score[tile]
        fits = np.float32(hits >= 0)
        hits *= fits
        for tile in line:
            number[tile] += fits
            weight[tile] += hits
    for tile in range(num_tiles):
        scale = constants.scale * np.float32(board[tile] == NOTHING)
        planes[tile] = number[tile] * scale
        planes[num_tiles + tile] = weight[tile] * scale


@kernel
def _features(
    constants: _Constants,
    next_move: np.ndarray,
    record: np.ndarray,
    tiles_left: np.ndarray,
    boards: np.ndarray,
    observer: np.ndarray,
    rows: np.ndarray,
) -> None:
    """Writes the rows of `battleships_features` for each game's observer."""
    num_ships, num_tiles = len(constants.covers), constants.covers.shape[2]
    own_board = SEATS + num_ships * num_tiles
    placements_left = own_board + 6 * num_tiles
    next_ship = placements_left + 2 * num_tiles
    shots_left = next_ship + num_ships
    sunk = shots_left + 2
    share = np.float32(1 / constants.num_shots)
    scratch = np.empty((3, num_tiles + 1), np.float32)
    index = 0
    for game in range(len(observer)):
        player = observer[game]
        if player < 0:
            continue
        row = rows[index]
        index += 1
        row[:] = 0.0
        row[player] = 1.0
        num_placed = 0
        for ship in range(num_ships):
            placement = record[game, 2 * ship + player] - num_tiles
            if placement >= 0:
                num_placed += 1
                for tile in range(num_tiles):
                    row[SEATS + ship * num_tiles + tile] = constants.covers[ship, placement, tile]
        if num_placed < num_ships:
            row[next_ship + num_placed] = 1.0
        opponent = boards[game, (1 - player) * num_tiles : (2 - player) * num_tiles]
        _weigh_placements(constants, opponent, scratch, row[placements_left:next_ship])
        for side in range(2):
            owner = player if side == 0 else 1 - player
            for outcome in (MISS, HIT, SUNK):
                first = own_board + (3 * side + outcome) * num_tiles
                for tile in range(num_tiles):
                    row[first + tile] = boards[game, owner * num_tiles + tile] == outcome
            left, num_sunk = 0, 0
            for shot in range(constants.num_shots):
                left += record[game, 2 * (num_ships + shot) + owner] < 0
            row[shots_left + side] = np.float32(left) * share
            for ship in range(num_ships):
                num_sunk += tiles_left[game, 2 * ship + owner] == 0
            row[sunk + side * num_ships : sunk + side * num_ships + num_sunk] = 1.0
