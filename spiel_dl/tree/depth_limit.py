"""`DepthLimit`: where a trunk ends, in moves, plies or rounds."""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import CHANCE_PLAYER


@dataclasses.dataclass(frozen=True)
class DepthLimit:
    """A depth limit in one of three units; an infoset is in the trunk if its depth is below it.

    Attributes:
      moves: counts player actions.
      plies: counts player actions, and chance events after the first player action.
      rounds: counts a game's own rounds: one bid by each player in Goofspiel and Oshi-Zumo, one
        betting round in Leduc, one placement or shot by each player in Battleships, one joint move
        in a game converted from simultaneous moves.
    """

    moves: int | None = None
    plies: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        given = [value for value in (self.moves, self.plies, self.rounds) if value is not None]
        if len(given) != 1 or given[0] < 1:
            raise ValueError(f"{self!r}: give exactly one of moves, plies and rounds, at least 1")

    @property
    def value(self) -> int:
        """The limit, in its unit."""
        return self.moves or self.plies or self.rounds or 0

    def __str__(self) -> str:
        unit = "moves" if self.moves else "plies" if self.plies else "rounds"
        return f"{self.value} {unit}"

    def depths(self, tree: GameTree) -> np.ndarray:
        """The depth of every history in the unit of this limit: int16 [H].

        Raises:
          ValueError: if the limit is in rounds and the game has none.
        """
        if self.moves is not None:
            return tree.move_number
        if self.plies is not None:
            started = tree.move_number > 0
            return (
                tree.count_on_the_way((tree.player == CHANCE_PLAYER) & started) + tree.move_number
            )
        if tree.round_number is None:
            raise ValueError(f"{tree.game} has no rounds; give the depth limit in moves or plies")
        return tree.round_number
