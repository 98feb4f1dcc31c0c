"""`Extent`: the histories of a trunk, from where it starts down to its leaves.

They are listed from the start downwards, so the time to cut a small part of a large game depends on
the part alone.
"""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Extent:
    """The histories of a trunk.

    Attributes:
      starts: int [K], where the trunk starts, increasing: the root of the game, or histories none
        of which follows another.
      start_roots: int32 [2, K], each player's root sequence there.
      histories: int [M], all histories above the leaves, increasing.
      start_of_history: int64 [M], the position in `starts` of the start that each history follows.
      leaves: int [N], the leaves, increasing.
      start_of_leaf: int64 [N], as `start_of_history`.
    """

    starts: np.ndarray
    start_roots: np.ndarray
    histories: np.ndarray
    start_of_history: np.ndarray
    leaves: np.ndarray
    start_of_leaf: np.ndarray

    @property
    def is_whole(self) -> bool:
        """Whether it starts at the root of the game."""
        return bool(self.starts[0] == 0)

    def holds(self, history: int) -> bool:
        """Whether the trunk has this history above its leaves."""
        position = int(np.searchsorted(self.histories, history))
        return position < len(self.histories) and int(self.histories[position]) == history

    def starts_at(self, history: int) -> bool:
        """Whether this history is one where the trunk starts."""
        position = int(np.searchsorted(self.starts, history))
        return position < len(self.starts) and int(self.starts[position]) == history

    def roots_at(self, player: int, histories: np.ndarray) -> np.ndarray:
        """A player's root sequences from which histories follow: int32 [n].

        Args:
          player: the player.
          histories: int [n], each in the trunk or a leaf of it.
        """
        if self.is_whole:
            return np.zeros(len(histories), np.int32)
        start = np.full(len(histories), -1)
        for members, member_starts in (
            (self.histories, self.start_of_history),
            (self.leaves, self.start_of_leaf),
        ):
            if len(members):
                position = np.searchsorted(members, histories).clip(max=len(members) - 1)
                start = np.where(members[position] == histories, member_starts[position], start)
        assert (start >= 0).all(), "histories outside the trunk have no root sequence"
        roots: np.ndarray = self.start_roots[player, start]
        return roots
