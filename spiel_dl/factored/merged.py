"""Sparse matrices of 0, 1 and -1 with repeated blocks, each of which is stored once.

A block has entries of its own and inner blocks, at row and column offsets from its first row and
column. Blocks of the same *key* are equal, so they are stored once. Blocks some levels below the
whole matrix are small and few: all of their entries are listed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import merged_kernels

# Listed entries of all blocks of a level together, at 8 bytes each.
_MOST_ENTRIES = 12_000_000
# The first levels are not listed whole, because threads divide their inner blocks.
_LEAST_LEVELS = 2


class Expansion(NamedTuple):
    """The contents of the blocks of some keys, the different ones of a level.

    Attributes:
      keys: int64 [E], the keys of the inner blocks.
      first_edge: int64 [N + 1].
      edges: int32 [E, 4], the inner blocks: number in the next level (`build` sets it), row offset,
        column offset, and a label.
      first_entry: int64 [N + 1].
      entries: int32 [K, 2], the blocks' own entries: row offset and column offset.
      is_plus: whether these entries are 1; otherwise -1.
    """

    keys: np.ndarray
    first_edge: np.ndarray
    edges: np.ndarray
    first_entry: np.ndarray
    entries: np.ndarray
    is_plus: bool


class MergedMatrix(NamedTuple):
    """A matrix, for compiled code. Block 0 is the whole matrix.

    Attributes:
      first_edge: int64 [N + 1].
      edges: int32 [E, 4], as a level's, but with block numbers of all levels.
      first_entry, middle: int64 [N + 1] and [N], a block's first entry, and its first negative one.
      entries: int32 [K, 2], as a level's; blocks without inner blocks list all of their entries.
    """

    first_edge: np.ndarray
    edges: np.ndarray
    first_entry: np.ndarray
    middle: np.ndarray
    entries: np.ndarray


def build(root: int, expand: Callable[[np.ndarray, int], Expansion]) -> MergedMatrix:
    """Builds a matrix by expanding keys, from that of the whole matrix.

    Args:
      root: the key of the whole matrix.
      expand: maps keys (int64 [N]) of a level, and the level, to the contents of their blocks.
    """
    keys = np.array([root])
    levels: list[Expansion] = []
    while len(keys):
        expansion = expand(keys, len(levels))
        keys, child = np.unique(expansion.keys, return_inverse=True)
        expansion.edges[:, 0] = child
        levels.append(expansion)
    empty = np.empty((0, 2), np.int32), np.zeros(1, np.int64), np.empty(0, np.int64)
    inner_entries = empty
    while len(levels) > _LEAST_LEVELS:
        listed = merged_kernels.list_all(*levels[-1][1:], *inner_entries)
        if len(listed[0]) > _MOST_ENTRIES:
            break
        inner_entries = listed
        levels.pop()
    return _join(levels, *inner_entries)


def _join(
    levels: list[Expansion], entries: np.ndarray, first: np.ndarray, middle: np.ndarray
) -> MergedMatrix:
    """Joins levels, and after them the blocks whose entries are all listed."""
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
