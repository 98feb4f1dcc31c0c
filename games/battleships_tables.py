"""The constants with which `BattleshipsRules` steps batches of states on one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.battleships_fleets import NOTHING, FleetTables
from spiel_dl.games.rules import TERMINAL_PLAYER


class BattleshipsTables(NamedTuple):
    """Constants for S ships, N tiles and 2 T shots, on one device.

    By move: an index 0 ... L, L = 2 S + 2 T, is the move to make; L: the game is over. By slot: an
    index 0 ... 2 S - 1 is a ship, by the move that places it. A ship's placement is looked up by
    its action, which is -1 before the ship is placed.
    """

    # By move.
    player: torch.Tensor  # int8 [L + 1], OpenSpiel's id
    following: torch.Tensor  # int32 [L + 1], the next move if the game goes on
    target: torch.Tensor  # int64 [L + 1], the owner of the board shot at; 2 after the end
    target_board: torch.Tensor  # int64 [L + 1, N], columns of that board in `boards`
    open_tile: torch.Tensor  # int8 [L + 1], in `boards` of legal targets; -2: there are none
    own_ships: torch.Tensor  # int64 [L + 1, S], slots of the mover's ships
    free_rows: torch.Tensor  # int64 [L + 1, S], by own ship: row of its action 0 in `free`
    free: torch.Tensor  # bool [(S * S + 1) * (1 + 3 N), 2 N], free for the next ship
    # By slot.
    sizes: torch.Tensor  # int8 [2 S]
    values: torch.Tensor  # float64 [2 S], player 0's gain if the ship is sunk
    cover_rows: torch.Tensor  # int64 [2 S], index in `covers` of action 0
    covers: torch.Tensor  # bool [2 S * (1 + 3 N) * 9 N], whether slot and placement cover an aim
    aims: torch.Tensor  # int64 [2 N], by column of `boards`: tile + 3 N * owner
    placement_bits: torch.Tensor  # float32 [1 + 3 N, 2 N], one-hot of a placement by 1 + action
    # By ship.
    ship_rows: torch.Tensor  # int64 [S], row in `ships` of action 0
    ships: torch.Tensor  # float32 [S * (1 + 3 N), N], the tiles of the ship
    lines: torch.Tensor  # float32 [P, N], the tiles of each placement of each ship
    # By column of `record`.
    recorded_at: torch.Tensor  # int32 [2 S + 4 T], the move of the entry
    is_outcome: torch.Tensor  # bool [2 S + 4 T]
    is_public: torch.Tensor  # bool [2 S + 4 T], whether the entry itself is public
    public_columns: torch.Tensor  # int64 [2 S + 4 T], column in the public tensor of entry 0


def battleships_tables(
    fleets: FleetTables,
    ship_sizes: Sequence[int],
    ship_values: Sequence[float],
    num_shots: int,
) -> TablesByDevice[BattleshipsTables]:
    """Builds the tables; the arguments are those of `BattleshipsRules`."""
    values = torch.tensor(ship_values, dtype=torch.float64)
    num_slots, num_tiles = 2 * fleets.num_ships, fleets.covers.shape[2]
    board_tiles = torch.arange(num_tiles).repeat(2)
    owners = torch.tensor([0, 1]).repeat_interleave(num_tiles)
    return TablesByDevice(
        BattleshipsTables,
        sizes=torch.tensor(ship_sizes, dtype=torch.int8).repeat_interleave(2),
        values=torch.stack([-values, values], dim=1).flatten(),
        aims=board_tiles + 3 * num_tiles * owners,
        placement_bits=torch.eye(3 * num_tiles + 1)[:, num_tiles + 1 :].contiguous(),
        **_by_move(fleets, num_shots),
        **_lookups(fleets),
        **_by_record(num_slots, num_tiles, num_shots),
    )


def _by_move(fleets: FleetTables, num_shots: int) -> dict[str, torch.Tensor]:
    num_ships, num_tiles = fleets.num_ships, fleets.covers.shape[2]
    num_slots, num_rows = 2 * num_ships, 1 + 3 * num_tiles
    end = num_slots + 2 * num_shots
    move = torch.arange(end + 1)
    mover = move % 2
    shooting = (move >= num_slots) & (move < end)
    next_ship = (move // 2).clamp(max=num_ships - 1)
    # The rows of the last block are never free: there is no ship to place.
    block = torch.where(move < num_slots, next_ship * num_ships, num_ships * num_ships)
    earlier_ship = torch.arange(num_ships) * (move < num_slots)[:, None]
    return {
        "player": torch.where(move < end, mover, TERMINAL_PLAYER).to(torch.int8),
        "following": (move + 1).clamp(max=end).to(torch.int32),
        "target": torch.where(move < end, 1 - mover, 2),
        "target_board": torch.arange(num_tiles) + num_tiles * (1 - mover)[:, None],
        "open_tile": torch.where(shooting, NOTHING, -2).to(torch.int8),
        "own_ships": 2 * torch.arange(num_ships) + mover[:, None],
        "free_rows": 1 + num_rows * (block[:, None] + earlier_ship),
    }


def _lookups(fleets: FleetTables) -> dict[str, torch.Tensor]:
    num_ships, num_tiles = fleets.num_ships, fleets.covers.shape[2]
    # Row 0 of a ship is for no placement, row 1 + action for one; the first has action N.
    first, num_rows = 1 + num_tiles, 1 + 3 * num_tiles
    ships = np.zeros((num_ships, num_rows, num_tiles), dtype=bool)
    ships[:, first:] = fleets.covers
    covers = np.zeros((num_ships, 2, num_rows, 3, 3 * num_tiles), dtype=bool)
    for owner in (0, 1):
        covers[:, owner, :, owner, :num_tiles] = ships
    # By next ship and placed ship. Ships not placed exclude nothing, but the next one must fit.
    free = np.ones((num_ships, num_ships, num_rows, 2 * num_tiles), dtype=bool)
    free[:, :, first:] = ~fleets.excludes.transpose(2, 0, 1, 3)
    free[range(num_ships), range(num_ships), 0] = fleets.fits
    never = np.zeros((num_rows, 2 * num_tiles), dtype=bool)
    rows = 1 + num_rows * torch.arange(2 * num_ships)
    return {
        "free": torch.from_numpy(np.concatenate([free.reshape(-1, 2 * num_tiles), never])),
        "cover_rows": rows * 9 * num_tiles,
        "covers": torch.from_numpy(covers).flatten(),
        "ship_rows": rows[:num_ships],
        "ships": torch.from_numpy(ships).flatten(0, 1).float(),
        "lines": torch.from_numpy(fleets.placements).float(),
    }


def _by_record(num_slots: int, num_tiles: int, num_shots: int) -> dict[str, torch.Tensor]:
    placements, shots = torch.arange(num_slots), torch.arange(2 * num_shots)
    placing, shooting = torch.ones_like(placements), torch.ones_like(shots)
    kind = torch.cat([0 * placing, 1 * shooting, 2 * shooting])
    outcomes = num_slots + len(shots) * num_tiles
    columns = [placements, num_slots + shots * num_tiles, outcomes + shots * 3]
    return {
        "recorded_at": torch.cat([placements, num_slots + shots, num_slots + shots]).int(),
        "is_outcome": kind == 2,
        "is_public": kind > 0,
        "public_columns": torch.cat(columns),
    }
