"""A batch of Battleships states, and what is known of a game's boards and fleets."""

from __future__ import annotations

import dataclasses

import torch

from spiel_dl.games import rules
from spiel_dl.games.battleships_fleets import FleetTables


@dataclasses.dataclass(frozen=True)
class BattleshipsState(rules.StateBatch):
    """A batch of Battleships states. Moves are numbered in order of time, even ones player 0's.

    Attributes:
      next_move: int32 [B], the number of the move to make; 2 S + 2 T if the game is over.
      record: int16 [B, 2 S + 4 T], the placements (as actions), then the tiles of all shots, then
        their outcomes, MISS, HIT or SUNK; each in order of time, -1 for what has not happened.
      tiles_left: int8 [B, 2 S], by move of placement: tiles of the ship that were not hit.
      boards: int8 [B, 2 N], player 0's board, then player 1's: the outcome announced last of each
        tile, or NOTHING.
    """

    next_move: torch.Tensor
    record: torch.Tensor
    tiles_left: torch.Tensor
    boards: torch.Tensor


class BattleshipsBoards(rules.Rules[BattleshipsState]):
    """What the reconstruction of public states reads of the rules.

    Attributes:
      ship_sizes: tiles of each ship, in order of placement.
      num_tiles: N, tiles of a board.
      num_placements: 2 S, placements of both players.
      fleets: which tiles each placement covers, and which placements go together.
    """

    ship_sizes: tuple[int, ...]
    num_tiles: int
    num_placements: int
    fleets: FleetTables
