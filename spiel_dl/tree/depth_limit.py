"""`DepthLimit`: where a trunk ends, in moves, plies or rounds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyspiel

from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.counts import is_count
from spiel_dl.tree.histories import is_converted

_MAX_LIMIT = 1_000_000  # More than the depth of any game.


@dataclasses.dataclass(frozen=True, kw_only=True)
class DepthLimit:
    """A depth limit in one of three units; an infoset is in the trunk if its depth is below it.

    Attributes:
      moves: counts player actions.
      plies: counts player actions, and chance events after the first player action.
      rounds: counts a game's own rounds: one bid by each player in Goofspiel and Oshi-Zumo, one
        betting round in Leduc, one placement or shot by each player in Battleships, one joint move
        in a game converted from simultaneous moves, if both players act in all of them.
    """

    moves: int | None = None
    plies: int | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        units = ("moves", "plies", "rounds")
        given = [(unit, getattr(self, unit)) for unit in units if getattr(self, unit) is not None]
        if len(given) != 1 or not is_count(given[0][1]) or not 1 <= given[0][1] <= _MAX_LIMIT:
            raise ValueError(
                f"{self!r}: give exactly one of moves, plies and rounds, an integer from 1 to "
                f"{_MAX_LIMIT:,}"
            )
        unit, value = given[0]
        object.__setattr__(self, unit, int(value))

    @classmethod
    def parse(cls, text: str) -> DepthLimit:
        """The inverse of `str`, for texts such as "2 rounds".

        Raises:
          ValueError: if the text is no limit.
        """
        number, _, unit = text.strip().partition(" ")
        if unit not in ("moves", "plies", "rounds") or not number.isdecimal():
            raise ValueError(f"{text!r} must be a depth limit such as '2 rounds'")
        return cls(**{unit: int(number)})

    @property
    def value(self) -> int:
        """The limit, in its unit."""
        return self.moves or self.plies or self.rounds or 0

    @property
    def unit(self) -> str:
        """ "moves", "plies" or "rounds"."""
        return "moves" if self.moves else "plies" if self.plies else "rounds"

    @property
    def remedy(self) -> str:
        """The advice in errors about infosets or public states that the limit divides."""
        if self.plies is None:
            return "give the limit in plies, which serve in every game with a public clock"
        return (
            "without a public clock plies do not serve; give the limit in moves or rounds, or "
            "solve the game as a whole"
        )

    def with_value(self, value: int) -> DepthLimit:
        """Another limit in the same unit; the largest one, if it would be larger."""
        return DepthLimit(**{self.unit: min(value, _MAX_LIMIT)})

    def __str__(self) -> str:
        return f"{self.value} {self.unit}"

    def depths(self, tree: CompiledTree) -> np.ndarray:
        """The depth of every history in the unit of this limit: int16 [H].

        Raises:
          ValueError: if the limit is in rounds and the game has none.
        """
        if self.moves is not None:
            return tree.move_number
        if self.plies is not None:
            return tree.ply_number
        if tree.round_number is None:
            raise ValueError(f"{tree.game} has no rounds; give the depth limit in moves or plies")
        return tree.round_number


BEYOND_THE_GAME = DepthLimit(moves=_MAX_LIMIT)
"""A limit that no game reaches: the trunk is the whole game."""


def check_depth_limit(depth_limit: object) -> None:
    """Raises a ValueError if `depth_limit` is no `DepthLimit`."""
    if not isinstance(depth_limit, DepthLimit):
        raise ValueError(
            f"depth_limit={depth_limit!r} must be a DepthLimit, such as DepthLimit(moves=2)"
        )


def has_rounds(game: pyspiel.Game) -> bool:
    """Whether depth limits of a turn-based game may be in rounds.

    They may if the game has `Rules`, or if it was converted from simultaneous moves; not where a
    player moves alone, which is refused when histories are listed (`Histories.round_number`).
    """
    return is_converted(game) or hasattr(game, "rules")


def default_depth_limit(game: pyspiel.Game) -> DepthLimit:
    """One round, or one move if a game's `Rules` say so; two moves in games without rounds."""
    if hasattr(game, "rules") and game.rules.searches_by_moves:
        return DepthLimit(moves=1)
    return DepthLimit(rounds=1) if has_rounds(game) else DepthLimit(moves=2)
