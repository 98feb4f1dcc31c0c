"""How a continual solver takes a game apart: where it starts anew, how far it looks, what it keeps.

Two schemes, with a depth limit of k levels (moves, plies or rounds, as its unit says):

  * `block`: it starts anew every k levels, looks k levels ahead and keeps all of them.
  * `sliding`: it starts anew at every level, looks k levels ahead and keeps the first one.

Levels are counted from the root of the game. A *piece* begins in a public state whose histories are
the first ones at or beyond a level where the solver starts anew in which a player acts; the first
piece begins at the root.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Generic

import numpy as np

from spiel_dl.tree.compiled_tree import Tree
from spiel_dl.tree.depth_limit import DepthLimit

SCHEMES = ("sliding", "block")
ROOT = -1
"""The piece that begins at the root, in the place of a public state."""


@dataclasses.dataclass(frozen=True, eq=False)
class Pieces(Generic[Tree]):
    """A game in the pieces of a continual solver.

    Attributes:
      tree: the game.
      depth_limit: how many levels to look ahead.
      scheme: "sliding" or "block".
    """

    tree: Tree
    depth_limit: DepthLimit
    scheme: str

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ValueError(f"scheme={self.scheme!r} must be one of {SCHEMES}")
        _ = self.depths  # A limit that is not for this game is refused before anything is solved.

    @property
    def num_kept(self) -> int:
        """How many levels a piece keeps."""
        return 1 if self.scheme == "sliding" else self.depth_limit.value

    @functools.cached_property
    def depths(self) -> np.ndarray:
        """The depth of every history in levels: int64 [H].

        Raises:
          ValueError: if the limit is in rounds and the game has none.
        """
        return self.depth_limit.depths(self.tree).astype(np.int64)

    @functools.cached_property
    def infoset_depths(self) -> tuple[np.ndarray, np.ndarray]:
        """The depth of each player's decision infosets: int64 [I_p].

        Raises:
          ValueError: if an infoset lies at several depths.
        """
        found = []
        for player in (0, 1):
            depths = self.depths[self.tree.first_history[player]]
            acting = np.flatnonzero(self.tree.player == player)
            infosets = self.tree.infoset[acting]
            apart = infosets[self.depths[acting] != depths[infosets]]
            if len(apart):
                name = self.tree.infoset_string(player, int(apart[0]))
                raise ValueError(
                    f"{self.tree.game}: player {player}'s infoset {name!r} lies at several depths, "
                    "so continual solving cannot say when it is reached; give the depth limit in "
                    "another unit (plies are the same in an infoset of a game with a public clock)"
                )
            found.append(depths)
        return found[0], found[1]

    def first_kept(self, depth: int) -> int:
        """The first level that the piece which keeps this level (or a later start) keeps."""
        return depth // self.num_kept * self.num_kept

    def horizon(self, depth: int) -> int:
        """The level down to which that piece looks: it is the first one below."""
        return self.first_kept(depth) + self.depth_limit.value

    @functools.cached_property
    def of_history(self) -> np.ndarray:
        """Int32 [H], the public state where a history's piece begins; `ROOT` in the first one."""
        tree, block = self.tree, self.depths // self.num_kept
        start = np.full(tree.num_histories, ROOT)
        for begin, end in tree.levels_below_root():
            above = start[tree.parent[begin:end]]
            block_above = np.where(above >= 0, block[above], 0)
            begins = (tree.player[begin:end] >= 0) & (block[begin:end] > block_above)
            start[begin:end] = np.where(begins, np.arange(begin, end), above)
        return np.where(start >= 0, tree.public_states.of_history[start], ROOT)

    def of_infosets(self, player: int) -> np.ndarray:
        """The public state where the piece of each decision infoset begins: int32 [I_p]."""
        return self.of_history[self.tree.first_history[player]]

    def path(self, piece: int) -> list[int]:
        """The pieces on the way to a piece, `ROOT` first, the piece itself last."""
        path = [piece]
        while path[-1] != ROOT:
            first = self.tree.public_states.histories(path[-1])[0]
            path.append(int(self.of_history[self.tree.parent[first]]))
        return path[::-1]

    def below(self, piece: int) -> np.ndarray:
        """The histories at and below which a piece begins: bool [H]."""
        if piece == ROOT:
            return np.ones(self.tree.num_histories, np.bool_)
        below = self.tree.public_states.of_history == piece
        for begin, end in self.tree.levels_below_root():
            below[begin:end] |= below[self.tree.parent[begin:end]]
        return below

    def start(self, piece: int) -> int:
        """The depth at which a piece begins."""
        if piece == ROOT:
            return 0
        return int(self.depths[self.tree.public_states.histories(piece)[0]])

    def limit(self, levels: int) -> DepthLimit:
        """A depth limit of so many levels, in the same unit."""
        return self.depth_limit.with_value(levels)
