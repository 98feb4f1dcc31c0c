"""The order in which many iterations go through a treeplex at full speed.

Infosets are taken in *levels*: what lies behind an infoset is in a later level. Those of a level
that have the same number of actions form a *group*, and a group's sequences stand action by action:
the first actions of all its infosets, then the second ones, and so on. So all that happens in an
infoset happens in many at once, as vector instructions without branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.solvers.kernels import SlicedPayoffs
from spiel_dl.tree.sequence_form import Treeplex

# With fewer infosets per group, on average, preparing for a group takes longer than it gains.
_WORTHWHILE = 32


class Arrangement(NamedTuple):
    """Where each sequence of a treeplex stands, and its infosets in groups and levels.

    Attributes:
      place: uint32 [S], the place of each sequence; root sequences keep theirs.
      parents: uint32 [I], the place of each infoset's parent sequence, group after group.
      groups: int64 [G, 4], level after level: number of actions, place of the first sequence, index
        of the first infoset, number of infosets.
      levels: int64 [L + 1, 2], each level's first group and first of `rounds`, and their total
        numbers.
      children, targets: uint32 [I], whose value is added to which place, round after round.
      rounds: int64 [R + 1], the first addition of each round. In a round, all places are different,
        so that no sum has to wait for another one. The infosets of a level are added in as many
        rounds as there are behind one sequence, of which the last one comes first.
    """

    place: np.ndarray
    parents: np.ndarray
    groups: np.ndarray
    levels: np.ndarray
    children: np.ndarray
    targets: np.ndarray
    rounds: np.ndarray


class ArrangedGame(NamedTuple):
    """What `arranged_kernels.run_iterations` takes: a pair for the two players each.

    Attributes:
      arrangements: of their treeplexes.
      payoffs: rows and columns by places.
      constants: float64 [S_p], by places.
    """

    arrangements: tuple[Arrangement, Arrangement]
    payoffs: tuple[SlicedPayoffs, SlicedPayoffs]
    constants: tuple[np.ndarray, np.ndarray]


def arrange(treeplex: Treeplex) -> Arrangement:
    """The arrangement of a treeplex."""
    size, num_infosets = treeplex.num_actions.astype(np.int64), treeplex.num_infosets
    level_starts = _level_starts(treeplex)
    level = np.searchsorted(level_starts, np.arange(num_infosets), "right") - 1
    order = np.lexsort((size, level))
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
    """A game by the places of both players' sequences.

    Args:
      treeplexes: both players' strategy spaces.
      payoffs: each player's payoffs; their values are shared, not copied.
      constants: float64 [S_p], each player's constants.

    Returns:
      None if groups are so small that iterations would not be faster.
    """
    first, second = arrange(treeplexes[0]), arrange(treeplexes[1])
    if any(len(x.parents) < _WORTHWHILE * len(x.groups) for x in (first, second)):
        return None
    return ArrangedGame(
        (first, second),
        (_by_places(payoffs[0], first, second), _by_places(payoffs[1], second, first)),
        (_constants_by_places(constants[0], first), _constants_by_places(constants[1], second)),
    )


def _by_places(payoffs: SlicedPayoffs, own: Arrangement, others: Arrangement) -> SlicedPayoffs:
    return payoffs._replace(rows=own.place[payoffs.rows], columns=others.place[payoffs.columns])


def _constants_by_places(constants: np.ndarray, arrangement: Arrangement) -> np.ndarray:
    by_places = np.empty_like(constants)
    by_places[arrangement.place] = constants
    return by_places


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
    """How many later infosets of the same level have the same parent sequence: int64 [I]."""
    backwards = np.arange(len(parent))[::-1]
    by_parent = backwards[np.argsort(parent[backwards], kind="stable")]
    is_last = _changes(parent[by_parent]) | _changes(level[by_parent])
    position = np.arange(len(parent))
    rank = np.empty(len(parent), np.int64)
    rank[by_parent] = position - np.maximum.accumulate(np.where(is_last, position, 0))
    return rank


def _changes(numbers: np.ndarray) -> np.ndarray:
    """Where a number, none of them negative, is not the one before: bool [n]."""
    found: np.ndarray = np.diff(numbers, prepend=-1) != 0
    return found
