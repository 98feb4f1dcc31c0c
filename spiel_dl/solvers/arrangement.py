"""An order of a treeplex's sequences that lets iterations use vector instructions.

Infosets are divided into *levels*: the infosets behind an infoset are in later levels. Infosets of
one level with the same number of actions form a *group*. A group's sequences are stored action by
action: the first actions of all its infosets, then the second ones, and so on. So each step of an
infoset's update is done for many infosets at once, by vector instructions without branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.solvers.kernels import LARGE, SlicedPayoffs
from spiel_dl.tree.sequence_form import Treeplex

# With fewer infosets per group on average, the cost of starting a group exceeds the gain.
_MIN_GROUP_SIZE = 32


class Arrangement(NamedTuple):
    """The place of each sequence of a treeplex in the new order, and its groups and levels.

    Attributes:
      place: uint32 [S], the place of each sequence; root sequences keep theirs.
      parents: uint32 [I], the place of each infoset's parent sequence, group after group.
      groups: int64 [G, 4], level after level: number of actions, place of the first sequence, index
        of the first infoset, number of infosets.
      levels: int64 [L + 1, 2], each level's first group and first round; in the last row, the
        total numbers.
      children, targets: uint32 [I], the infosets whose values are added to their parent sequences,
        and the places of these, round after round.
      rounds: int64 [R + 1], the first addition of each round. The targets of a round are all
        different, so its sums are independent. A level has as many rounds as there are infosets
        behind one sequence, at most; the last of them is added first.
    """

    place: np.ndarray
    parents: np.ndarray
    groups: np.ndarray
    levels: np.ndarray
    children: np.ndarray
    targets: np.ndarray
    rounds: np.ndarray


class ArrangedGame(NamedTuple):
    """A game in the order of its arrangements, as `arranged_kernels` takes it.

    Attributes:
      arrangements: of both players' treeplexes.
      payoffs: each player's; rows and columns are places.
      constants: each player's, float64 [S_p], by places.
    """

    arrangements: tuple[Arrangement, Arrangement]
    payoffs: tuple[SlicedPayoffs, SlicedPayoffs]
    constants: tuple[np.ndarray, np.ndarray]


def arrange(treeplex: Treeplex, payoffs: SlicedPayoffs | None = None) -> Arrangement:
    """The arrangement of a treeplex.

    Args:
      treeplex: a player's strategy space.
      payoffs: the player's, if they are large: infosets of a group get the order of their payoffs.
    """
    size, num_infosets = treeplex.num_actions.astype(np.int64), treeplex.num_infosets
    level_starts = _level_starts(treeplex)
    level = np.searchsorted(level_starts, np.arange(num_infosets), "right") - 1
    near = np.zeros(num_infosets) if payoffs is None else _near(treeplex, level_starts, payoffs)
    order = np.lexsort((near, size, level))
    index = np.empty(num_infosets, np.int64)
    index[order] = np.arange(num_infosets)

    is_first = _changes(level[order]) | _changes(size[order])
    first = np.flatnonzero(is_first)
    count = np.diff(first, append=num_infosets)
    length = size[order][first] * count
    start = treeplex.num_root_sequences + np.cumsum(length) - length
    groups = np.stack([size[order][first], start, first, count], axis=1)
    group = (np.cumsum(is_first) - 1)[index]

    behind_roots = slice(treeplex.num_root_sequences, None)
    infoset = treeplex.infoset_of_sequence[behind_roots]
    place = np.arange(treeplex.num_sequences)
    action = place[behind_roots] - treeplex.first_sequence[infoset]
    within = (index - first[group])[infoset]
    place[behind_roots] = start[group[infoset]] + action * count[group[infoset]] + within

    parents = place[treeplex.parent_sequence]
    rank = _rank_from_last(treeplex.parent_sequence, level)
    additions = np.lexsort((parents, rank, level))
    begins = (np.diff(rank[additions], prepend=-1) != 0) | (
        np.diff(level[additions], prepend=-1) != 0
    )
    rounds = np.append(np.flatnonzero(begins), num_infosets)
    bounds = np.append(level_starts, num_infosets)
    levels = np.stack([np.searchsorted(first, bounds), np.searchsorted(rounds, bounds)], axis=1)
    return Arrangement(
        place.astype(np.uint32),
        parents[order].astype(np.uint32),
        groups,
        levels,
        index[additions].astype(np.uint32),
        parents[additions].astype(np.uint32),
        rounds,
    )


def arrange_game(
    treeplexes: Sequence[Treeplex],
    payoffs: Sequence[SlicedPayoffs],
    constants: Sequence[np.ndarray],
) -> ArrangedGame | None:
    """A game in the order of both players' arrangements.

    Args:
      treeplexes: both players' strategy spaces.
      payoffs: each player's payoffs; their values are shared, not copied.
      constants: float64 [S_p], each player's constants.

    Returns:
      The game; None if groups are so small that iterations would not be faster.
    """
    is_large = payoffs[0].values.size >= LARGE
    first, second = (
        arrange(treeplex, rows if is_large else None)
        for treeplex, rows in zip(treeplexes, payoffs, strict=True)
    )
    if any(len(x.parents) < _MIN_GROUP_SIZE * len(x.groups) for x in (first, second)):
        return None
    return ArrangedGame(
        (first, second),
        (_by_places(payoffs[0], first, second), _by_places(payoffs[1], second, first)),
        (in_places(constants[0], first), in_places(constants[1], second)),
    )


def _near(treeplex: Treeplex, level_starts: np.ndarray, payoffs: SlicedPayoffs) -> np.ndarray:
    """For each infoset, the first payoff of its sequences and of what is behind: int64 [I]."""
    rows = payoffs.rows.ravel()
    first = np.full(treeplex.num_sequences, rows.size)
    first[rows[::-1]] = np.arange(rows.size)[::-1]
    bounds = np.append(level_starts, treeplex.num_infosets)
    for start, end in zip(bounds[-2::-1], bounds[:0:-1], strict=True):
        near = np.minimum.reduceat(first, treeplex.first_sequence)
        np.minimum.at(first, treeplex.parent_sequence[start:end], near[start:end])
    return np.minimum.reduceat(first, treeplex.first_sequence)


def _by_places(payoffs: SlicedPayoffs, own: Arrangement, opponent: Arrangement) -> SlicedPayoffs:
    return payoffs._replace(rows=own.place[payoffs.rows], columns=opponent.place[payoffs.columns])


def in_places(array: np.ndarray, arrangement: Arrangement) -> np.ndarray:
    """A copy of an array of sequences, [S], in the arranged order; an empty one stays empty."""
    arranged = np.empty_like(array)
    if array.size:
        arranged[arrangement.place] = array
    return arranged


def _level_starts(treeplex: Treeplex) -> np.ndarray:
    """The first infoset of each level: int64 [L]. No infoset has its parent in its own level."""
    parent = treeplex.infoset_of_sequence[treeplex.parent_sequence]
    latest = np.maximum.accumulate(parent) if len(parent) else parent
    starts, end = [], 0
    while end < len(parent):
        starts.append(end)
        end = int(np.searchsorted(latest, end))
    return np.array(starts, np.int64)


def _rank_from_last(parent: np.ndarray, level: np.ndarray) -> np.ndarray:
    """The number of later infosets of the same level and parent sequence: int64 [I]."""
    backwards = np.arange(len(parent))[::-1]
    by_parent = backwards[np.argsort(parent[backwards], kind="stable")]
    is_last = _changes(parent[by_parent]) | _changes(level[by_parent])
    position = np.arange(len(parent))
    rank = np.empty(len(parent), np.int64)
    rank[by_parent] = position - np.maximum.accumulate(np.where(is_last, position, 0))
    return rank


def _changes(numbers: np.ndarray) -> np.ndarray:
    """Whether each number (not negative) differs from the one before it: bool [n]."""
    changes: np.ndarray = np.diff(numbers, prepend=-1) != 0
    return changes
