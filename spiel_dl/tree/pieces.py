"""How a continual solver divides a game: where it solves anew, how far ahead, and what it keeps.

Two schemes, with a depth limit of k levels (moves, plies or rounds):

  * `block`: it solves anew every k levels, looks k levels ahead and keeps all of them.
  * `sliding`: it solves anew at every level, looks k levels ahead and keeps the first one.

Levels are counted from the root of the game. The part that the solver solves at once is a *piece*.
The first piece begins at the root. Any other one begins in a public state: the first one where a
player acts at or beyond a level where the solver solves anew.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Generic

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree, Tree
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit

SCHEMES = ("sliding", "block")
ROOT = -1
"""The piece that begins at the root, where other pieces have the number of a public state."""


def check_scheme(scheme: str) -> None:
    """Raises a ValueError unless `scheme` is one of `SCHEMES`."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme={scheme!r} must be one of {SCHEMES}")


@dataclasses.dataclass(frozen=True, eq=False)
class Pieces(Generic[Tree]):
    """The pieces of a game for a continual solver.

    Attributes:
      tree: the game.
      depth_limit: how many levels to look ahead.
      scheme: "sliding" or "block".
      first_level: the level where the solver starts; it solves nothing above.
      left_out: bool [P + 1], public states, and the root (the last entry), where no piece may
        begin; the solver tries again one level further down. None: none.
    """

    tree: Tree
    depth_limit: DepthLimit
    scheme: str
    first_level: int = 0
    left_out: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_depth_limit(self.depth_limit)
        check_scheme(self.scheme)
        _ = self.depths  # Refuses a limit that this game does not have, before anything is solved.

    @property
    def num_kept(self) -> int:
        """The number of levels that a piece keeps."""
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
        """The depth of each player's decision infosets: int64 [I_p]; 0 if there is only one piece.

        Raises:
          ValueError: if an infoset lies at several depths.
        """
        if self.scheme != "sliding" and self.depth_limit.value > self.depths.max():
            sizes = [len(self.tree.first_history[player]) for player in (0, 1)]
            return np.zeros(sizes[0], np.int64), np.zeros(sizes[1], np.int64)
        infoset_depths = []
        for player in (0, 1):
            depths = self.depths[self.tree.first_history[player]]
            acting = np.flatnonzero(self.tree.player == player)
            infosets = self.tree.infoset[acting]
            split = infosets[self.depths[acting] != depths[infosets]]
            if len(split):
                name = self.tree.infoset_string(player, int(split[0]))
                raise ValueError(
                    f"{self.tree.game}: player {player}'s infoset {name!r} lies at several depths, "
                    "so continual solving cannot say when it is reached; "
                    f"{self.depth_limit.remedy}"
                )
            infoset_depths.append(depths)
        return infoset_depths[0], infoset_depths[1]

    def first_kept(self, depth: int) -> int:
        """The first level that is kept by the piece which keeps level `depth`.

        It ignores `left_out`, below which levels of pieces are counted from elsewhere.
        """
        return depth // self.num_kept * self.num_kept

    def horizon(self, depth: int) -> int:
        """The first level beyond the look-ahead of the piece that keeps level `depth`."""
        return self.first_kept(depth) + self.depth_limit.value

    def horizons(self) -> list[int]:
        """The horizons of all pieces at or beyond which a player acts, in increasing order."""
        depths = self.depths[self.tree.player >= 0]
        if not len(depths):
            return []
        starts = np.unique(depths // self.num_kept * self.num_kept)
        first_beyond = starts + self.depth_limit.value
        horizons: list[int] = first_beyond[first_beyond <= depths.max()].tolist()
        return horizons

    @functools.cached_property
    def of_history(self) -> np.ndarray:
        """Int32 [H], the public state where the piece of each history begins.

        `ROOT` for the histories of the first piece.

        Raises:
          ValueError: if a piece would begin in only a part of a public state.
        """
        tree, kept = self.tree, self.num_kept
        left_out = np.zeros(tree.num_public_states + 1, np.bool_)
        if self.left_out is not None:
            left_out = self.left_out
        start = np.full(tree.num_histories, ROOT)
        # The level from which blocks are counted, a different one below pieces that are left out.
        origin = np.full(tree.num_histories, self.first_level or int(left_out[ROOT]))
        # The level where the piece of each history ends.
        ends = np.where(origin > 0, origin, kept)
        for begin, end in tree.levels_below_root():
            parent, depth = tree.parent[begin:end], self.depths[begin:end]
            begins = (tree.player[begin:end] >= 0) & (depth >= ends[parent])
            skipped = begins & left_out[tree.public_states.of_history[begin:end]]
            parent_origin = origin[parent]
            next_end = parent_origin + ((depth - parent_origin) // kept + 1) * kept
            origin[begin:end] = np.where(skipped, depth + 1, parent_origin)
            ends[begin:end] = np.select([skipped, begins], [depth + 1, next_end], ends[parent])
            start[begin:end] = np.where(begins, np.arange(begin, end), start[parent])
        pieces = np.where(start >= 0, tree.public_states.of_history[start], ROOT)
        self._check_starts(start)
        return pieces

    def _check_starts(self, start: np.ndarray) -> None:
        """Raises a ValueError unless pieces begin in whole public states, at one depth.

        Args:
          start: int [H], the history at which the piece of each history begins; -1: the root.
        """
        states = self.tree.public_states.of_history
        begins = np.unique(start[start >= 0])
        counts = np.bincount(states[begins], minlength=self.tree.num_public_states)
        split = np.flatnonzero((counts > 0) & (counts < self.tree.public_states.sizes))
        if not len(split):
            firsts = np.zeros(len(counts), np.int64)
            firsts[states[begins[::-1]]] = begins[::-1]
            of_first = self.depths[firsts[states[begins]]]
            split = states[begins[self.depths[begins] != of_first]]
        if len(split):
            raise ValueError(
                f"{self.tree.game}: public state {split[0]} is only partly below a depth limit of "
                f"{self.depth_limit}, counted from where a search starts; "
                f"{self.depth_limit.remedy}"
            )

    def of_infosets(self, player: int) -> np.ndarray:
        """The public state where the piece of each decision infoset begins: int32 [I_p]."""
        return self._of_infosets[player]

    @functools.cached_property
    def _of_infosets(self) -> tuple[np.ndarray, np.ndarray]:
        first, second = (self.of_history[histories] for histories in self.tree.first_history)
        return first, second

    @functools.cached_property
    def with_choices(self) -> tuple[frozenset[int], frozenset[int]]:
        """For each player, the pieces where it has an infoset with several actions."""
        first, second = (
            frozenset(np.unique(self.of_infosets(player)[treeplex.num_actions > 1]).tolist())
            for player, treeplex in enumerate(self.tree.treeplexes)
        )
        return first, second

    def path(self, piece: int) -> list[int]:
        """The pieces from the root to a piece: `ROOT` first, the piece itself last."""
        path = [piece]
        while path[-1] != ROOT:
            first = self.tree.public_states.histories(path[-1])[0]
            path.append(int(self.of_history[self.tree.parent[first]]))
        return path[::-1]

    @functools.cached_property
    def in_order(self) -> list[int]:
        """All pieces, those that begin higher up first."""
        return sorted(
            np.unique(self.of_history).tolist(), key=lambda each: (self.start(each), each)
        )

    def below(self, *pieces: int) -> np.ndarray:
        """Whether histories are in the public states where pieces begin, or below: bool [H]."""
        if ROOT in pieces:
            return np.ones(self.tree.num_histories, np.bool_)
        below = np.isin(self.tree.public_states.of_history, pieces)
        for begin, end in self.tree.levels_below_root():
            below[begin:end] |= below[self.tree.parent[begin:end]]
        return below

    def start(self, piece: int) -> int:
        """The depth at which a piece begins."""
        if piece == ROOT:
            return 0
        return int(self.depths[self.tree.public_states.histories(piece)[0]])

    def limit(self, levels: int) -> DepthLimit:
        """A depth limit of `levels`, in the same unit."""
        return self.depth_limit.with_value(levels)


def look_ahead_sizes(tree: CompiledTree, depth_limit: DepthLimit) -> np.ndarray:
    """The number of histories of a search that begins in each public state: int64 [P].

    These are the public state's histories and their descendants down to the first ones where a
    player acts at or beyond the limit. 0 for public states that begin no level.

    Raises:
      ValueError: if the limit is no `DepthLimit`, or in rounds and the game has none.
    """
    check_depth_limit(depth_limit)
    depths = depth_limit.depths(tree).astype(np.int64)
    acts, of_history = tree.player >= 0, tree.public_states.of_history
    sizes = np.zeros(tree.num_public_states, np.int64)
    for level in np.unique(depths[acts]).tolist():
        # The public state where each history's search of this level begins; -1 if there is none.
        start_state = np.full(tree.num_histories, -1)
        expands = np.ones(tree.num_histories, np.bool_)
        if acts[0] and level == 0:
            start_state[0] = of_history[0]
        for begin, end in tree.levels_below_root():
            parent = tree.parent[begin:end]
            begins = acts[begin:end] & (depths[begin:end] == level) & (start_state[parent] < 0)
            inherited = np.where(expands[parent], start_state[parent], -1)
            start_state[begin:end] = np.where(begins, of_history[begin:end], inherited)
            expands[begin:end] = ~acts[begin:end] | (depths[begin:end] < level + depth_limit.value)
        sizes += np.bincount(start_state[start_state >= 0], minlength=len(sizes))
    return sizes
