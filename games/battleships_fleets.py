"""Fleets on one Battleships board: placements, which of them exclude each other, and search.

A board of N = width * height tiles is numbered row by row. A ship of L tiles has 2 N placements at
most: placement p < N lies horizontally, with its leftmost tile at p; placement N + t lies
vertically, with its topmost tile at t. A ship of one tile lies horizontally only. A *fleet* is one
placement per ship, without common tiles; ships of equal size are told apart.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

NOTHING, MISS, HIT, SUNK = -1, 0, 1, 2
# Added to a placement's hits for a tile missed or sunk: below 0, the placement does not fit.
NO_FIT = -1e6
# The search for dead ends visits about so many sets of occupied tiles at most, in seconds.
_MAX_OCCUPANCIES = 100_000


@dataclasses.dataclass(frozen=True)
class FleetTables:
    """Precomputed facts about the placements of S ships on a board of N tiles.

    Attributes:
      covers: bool [S, 2N, N], the tiles of each placement; none where the ship does not fit.
      fits: bool [S, 2N], whether the ship fits there on the empty board.
      excludes: bool [S, 2N, S, 2N], whether two placements of two ships share a tile.
    """

    covers: np.ndarray
    fits: np.ndarray
    excludes: np.ndarray

    @property
    def num_ships(self) -> int:
        """S, the number of ships."""
        return self.covers.shape[0]

    @property
    def placements(self) -> np.ndarray:
        """The tiles of each placement of each ship: bool [P, N]."""
        return self.covers[self.fits]


def fleet_tables(width: int, height: int, ship_sizes: Sequence[int]) -> FleetTables:
    """Computes the tables of a board and its ships.

    Raises:
      ValueError: if ships placed in order, wherever they fit, may leave one without a placement, or
        are so many for their board that it takes too long to find out.
    """
    covers = np.stack([_covers(width, height, size) for size in ship_sizes])
    fits: np.ndarray = np.any(covers, axis=2)
    placements = covers.reshape(-1, width * height).astype(np.float32)
    excludes = (placements @ placements.T > 0).reshape(*fits.shape, *fits.shape)
    if not _never_stuck(covers, excludes):
        raise ValueError(
            f"ship_sizes={list(ship_sizes)} do not fit, or may leave a ship without a place, on a "
            f"{width}x{height} board; use a larger board or fewer ships, or name larger ones first"
        )
    return FleetTables(covers, fits, excludes)


def consistent_fleets(
    tables: FleetTables,
    shots: Sequence[int],
    outcomes: Sequence[int],
    num_placed: int,
    limit: int,
) -> tuple[int, np.ndarray | None]:
    """All fleets, or beginnings of fleets, consistent with the announced outcomes of shots.

    A shot's outcome depends only on the ship at its tile and on earlier shots, so each placement is
    checked by itself; a fleet is consistent if all its placements are and its ships together cover
    every tile announced as hit or sunk.

    Args:
      shots: the tiles shot at on this board, in order.
      outcomes: MISS, HIT or SUNK for each of them.
      num_placed: the number of ships placed.
      limit: stop once there are more beginnings of fleets than this.

    Returns:
      Their number, and the placements, int16 [F, num_placed], or None above the limit.
    """
    possible, num_hits, hits_needed = _consistent_placements(
        tables, np.array(shots, dtype=np.int64), np.array(outcomes, dtype=np.int64)
    )
    # Later ships can cover this many hit tiles at most.
    max_hits = np.where(possible, num_hits, 0).max(axis=1)[:num_placed]
    max_later_hits = max_hits.sum() - max_hits.cumsum()
    fleets = np.zeros((1, 0), dtype=np.int16)
    covered = np.zeros(1, dtype=np.int16)
    for ship in range(num_placed):
        candidates = possible[ship].nonzero()[0]
        total = covered[:, None] + num_hits[ship, candidates]
        allowed = total >= np.int16(hits_needed - max_later_hits[ship])  # no wider sums
        for earlier in range(ship):
            excludes = tables.excludes[earlier][:, ship][:, candidates]
            allowed &= ~excludes[fleets[:, earlier]]
        count = int(allowed.sum())
        if count > limit:
            return count, None
        rows, columns = allowed.nonzero()
        placed = candidates[columns].astype(np.int16)[:, None]
        fleets, covered = np.concatenate([fleets[rows], placed], axis=1), total[rows, columns]
    return len(fleets), fleets


def _consistent_placements(
    tables: FleetTables, shots: np.ndarray, outcomes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """The placements consistent with the shots at their tiles, and their numbers of hit tiles.

    Returns:
      possible: bool [S, 2N].
      num_hits: int16 [S, 2N], tiles of the placement that were hit.
      hits_needed: the number of tiles hit.
    """
    num_shots, num_tiles = len(shots), tables.covers.shape[2]
    first_shot = np.full(num_tiles, num_shots)
    for index in reversed(range(num_shots)):
        first_shot[shots[index]] = index
    # The shot that sinks the ship; num_shots if it is still afloat.
    sinking_shot = np.where(tables.covers, first_shot, -1).max(axis=2)
    possible = tables.fits.copy()
    for index, (tile, outcome) in enumerate(zip(shots, outcomes, strict=True)):
        expected = np.where(sinking_shot <= index, SUNK, HIT)
        possible &= ~tables.covers[:, :, tile] | (expected == outcome)
    is_hit = np.zeros(num_tiles, dtype=bool)
    is_hit[shots[outcomes != MISS]] = True
    return possible, (tables.covers & is_hit).sum(axis=2, dtype=np.int16), int(is_hit.sum())


def _covers(width: int, height: int, size: int) -> np.ndarray:
    """The tiles of each placement of one ship: bool [2N, N]."""
    board = np.arange(width * height).reshape(height, width)
    covers = np.zeros((2, height, width, width * height), dtype=bool)
    for row in range(height):
        for column in range(width - size + 1):
            covers[0, row, column, board[row, column : column + size]] = True
    for row in range(height - size + 1 if size > 1 else 0):
        for column in range(width):
            covers[1, row, column, board[row : row + size, column]] = True
    return covers.reshape(2 * width * height, width * height)


def _masks(covers: np.ndarray) -> list[int]:
    """The placements that fit as sets of tiles, bit by bit, by placement."""
    return [sum(1 << int(tile) for tile in line.nonzero()[0]) for line in covers if line.any()]


def _never_stuck(covers: np.ndarray, excludes: np.ndarray) -> bool:
    """Whether every ship has a placement left, whatever the placements of the ships before it.

    A ship excludes at most so many placements of a later one; if all ships before that one together
    exclude fewer than it has, one is left. Where this does not settle it, all placements of the
    next ship are tried. False: a ship may be left without a placement, or there are too many
    arrangements to decide.
    """
    masks = [_masks(lines) for lines in covers]
    excluded = excludes.sum(axis=3).max(axis=1)  # at most, [earlier ship, later ship]
    occupied = {0}
    for ship, placements in enumerate(masks):
        open_cases = []
        for tiles in occupied:
            num_free = [sum(not mask & tiles for mask in later) for later in masks[ship:]]
            if not num_free[0]:
                return False
            spare = [n - excluded[ship : ship + i, ship + i].sum() for i, n in enumerate(num_free)]
            if min(spare) <= 0:
                open_cases.append(tiles)
        occupied = {tiles | mask for tiles in open_cases for mask in placements if not tiles & mask}
        if len(occupied) > _MAX_OCCUPANCIES:
            return False
    return True
