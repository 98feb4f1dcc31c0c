"""Sparse matrices of 0, 1 and -1 whose blocks repeat, kept without what repeats.

A block has entries of its own and blocks within, each at so many rows and columns behind its own
first ones. Blocks of the same *key* are the same, so they are kept once. Those some levels below
the whole matrix are small and few: of them all entries are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import merged_kernels

# Of all blocks of a level together, at 8 bytes each.
_MOST_ENTRIES = 12_000_000
# Levels of blocks that are not listed whole, because threads share out what is within.
_LEAST_LEVELS = 2


class Level(NamedTuple):
    """The different blocks of a level.

    Attributes:
      first_edge: int64 [N + 1].
      edges: int32 [E, 4], the blocks within: number in the next level, rows and columns behind
        the first ones, a label.
      first_entry: int64 [N + 1].
      entries: int32 [K, 2], the blocks' own entries: rows and columns behind the first ones.
      is_plus: whether they are 1; otherwise -1.
    """

    first_edge: np.ndarray
    edges: np.ndarray
    first_entry: np.ndarray
    entries: np.ndarray
    is_plus: bool


class Expansion(NamedTuple):
    """What is in the blocks of some keys, see `Level`; `edges` lead to keys.

    Attributes:
      keys: int64 [E], of the blocks within.
    """

    keys: np.ndarray
    first_edge: np.ndarray
    edges: np.ndarray
    first_entry: np.ndarray
    entries: np.ndarray
    is_plus: bool


class MergedMatrix(NamedTuple):
    """A matrix, for compiled code. Block 0 is the whole of it.

    Attributes:
      first_edge: int64 [N + 1].
      edges: int32 [E, 4], as a level's, numbers of blocks of all levels.
      first_entry, middle: int64 [N + 1] and [N], where a block's entries begin, and its negative
        ones.
      entries: int32 [K, 2], as a level's; blocks without blocks within have all.
    """

    first_edge: np.ndarray
    edges: np.ndarray
    first_entry: np.ndarray
    middle: np.ndarray
    entries: np.ndarray


def build(root: int, expand: Callable[[np.ndarray, int], Expansion]) -> MergedMatrix:
    """A matrix from the key of the whole.

    Args:
      root: the key.
      expand: what is in the blocks of some keys, int64 [N], of a level.
    """
    keys = np.array([root])
    levels: list[Level] = []
    while len(keys):
        found = expand(keys, len(levels))
        keys, child = np.unique(found.keys, return_inverse=True)
        found.edges[:, 0] = child
        levels.append(Level(*found[1:]))
    nothing = np.empty((0, 2), np.int32), np.zeros(1, np.int64), np.empty(0, np.int64)
    below = nothing
    while len(levels) > _LEAST_LEVELS:
        listed = merged_kernels.list_whole(*levels[-1], *below)
        if len(listed[0]) > _MOST_ENTRIES:
            break
        below = listed
        levels.pop()
    return _join(levels, *below)


def _join(
    levels: list[Level], entries: np.ndarray, first: np.ndarray, middle: np.ndarray
) -> MergedMatrix:
    """Levels, and behind them the blocks whose entries are all listed."""
    num_blocks = np.cumsum([0, *(len(level.first_edge) - 1 for level in levels)])
    all_edges, first_edges, middles, all_entries, first_entries = [], [], [], [], []
    num_edges, num_entries = 0, 0
    for level, after in zip(levels, num_blocks[1:], strict=True):
        edges = level.edges.copy()
        edges[:, 0] += after
        all_edges.append(edges)
        first_edges.append(level.first_edge[:-1] + num_edges)
        all_entries.append(level.entries)
        first_entries.append(level.first_entry[:-1] + num_entries)
        shift = num_entries + level.first_entry[1:] if level.is_plus else first_entries[-1]
        middles.append(shift)
        num_edges += len(edges)
        num_entries += len(level.entries)
    first_edges.append(np.full(len(first), num_edges))
    first_entries.append(first + num_entries)
    return MergedMatrix(
        np.concatenate(first_edges).astype(np.int64),
        np.concatenate([*all_edges, np.empty((0, 4), np.int32)]),
        np.concatenate(first_entries).astype(np.int64),
        np.concatenate([*middles, middle + num_entries]).astype(np.int64),
        np.concatenate([*all_entries, entries]),
    )
