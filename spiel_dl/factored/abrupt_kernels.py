"""Compiled loops over the views and skeletons of an abrupt phantom game. See `abrupt`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)

# Columns of `moves`.
_AFTER, _STEP, _SLOT = 0, 1, 2
# Of keys of skeletons: two sets of stones, and two classes from -1 on.
_STONES_BITS, _CLASS_BITS = 10, 21


@_jit
def follow_infosets(first_choice, fail, success):
    """What follows the choices of a player's infosets.

    Args:
      first_choice, fail, success: of `AbruptClasses`.

    Returns:
      int32 [K, 2, 2], by choice and whether it succeeds: the next infoset's class, -1: there is
      none; how far behind an infoset's first sequence the one of the next infoset stands.
    """
    num_classes = first_choice.size - 1
    num_sequences = np.empty(num_classes, np.int32)
    following = np.zeros((fail.size, 2, 2), np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        step = first_choice[own + 1] - first_choice[own]
        for choice in range(first_choice[own], first_choice[own + 1]):
            for succeeds in range(2):
                after = success[choice] if succeeds else fail[choice]
                following[choice, succeeds, _AFTER] = after
                if after >= 0:
                    following[choice, succeeds, _STEP] = step
                    step += num_sequences[after]
        num_sequences[own] = step
    return following


@_jit
def number_slots(first_choice, after, may_end):
    """Numbers the views that won games may end with.

    Args:
      first_choice: of `ViewTables`.
      after: int32 [K], the class after a choice, -1: none is.
      may_end: bool [K], whether a won game may end with a choice.

    Returns:
      moves: int32 [K, 3], of `ViewTables`.
      num_slots: int64 [1].
    """
    num_classes = first_choice.size - 1
    size = np.zeros(num_classes, np.int64)
    moves = np.empty((after.size, 3), np.int32)
    for own in range(num_classes - 1, -1, -1):  # What follows a class has a larger number.
        for choice in range(first_choice[own], first_choice[own + 1]):
            moves[choice, _SLOT] = size[own] if may_end[choice] else -1
            size[own] += may_end[choice]
        for choice in range(first_choice[own], first_choice[own + 1]):
            moves[choice, _AFTER], moves[choice, _STEP] = after[choice], size[own]
            if after[choice] >= 0:
                size[own] += size[after[choice]]
    return moves, size[:1].copy()


@_jit
def expand_views(keys, tried, first_infoset_choice, following, views, places):
    """What a player's sequences have to do with the slots of the views that they end with.

    The rows of the matrix are slots, and its columns are sequences. A block is a view with an
    infoset from which it is seen, by their classes.

    Args:
      keys: int64 [N], the class of a view times the number of classes of infosets, and of an
        infoset.
      tried, first_infoset_choice: of `AbruptClasses`.
      following: of `follow_infosets`.
      views: `ViewTables`.
      places: of `BoardTables`.

    Returns:
      As an `Expansion`, without whether entries are positive; labels are cells.
    """
    n, num_classes = places.shape[1], tried.size
    first_edge, first_entry = np.zeros(keys.size + 1, np.int64), np.zeros(keys.size + 1, np.int64)
    most = 0
    for k in range(keys.size):
        view = keys[k] // num_classes
        most += n * (views.first_choice[view + 1] - views.first_choice[view])
    within, edges = np.empty(most, np.int64), np.empty((most, 4), np.int32)
    entries = np.empty((most, 2), np.int32)
    num_edges, num_entries = 0, 0
    for k in range(keys.size):
        view, own = keys[k] // num_classes, keys[k] % num_classes
        first = views.first_choice[view]
        for choice in range(first, views.first_choice[view + 1]):
            succeeds = 1 if choice < first + n else 0
            cells = 1 << (choice - first) if succeeds else views.stones[choice]
            after, step, slot = views.moves[choice]
            for cell in range(n):
                if not (cells & ~tried[own]) >> cell & 1:
                    continue
                place = places[tried[own], cell]
                if slot >= 0:
                    entries[num_entries, 0], entries[num_entries, 1] = slot, place
                    num_entries += 1
                infoset, behind = following[first_infoset_choice[own] + place, succeeds]
                if after >= 0 and infoset >= 0:
                    within[num_edges] = np.int64(after) * num_classes + infoset
                    edges[num_edges, 1], edges[num_edges, 2] = step, behind
                    edges[num_edges, 3] = cell
                    num_edges += 1
        first_edge[k + 1], first_entry[k + 1] = num_edges, num_entries
    return (
        within[:num_edges].copy(), first_edge, edges[:num_edges].copy(),
        first_entry, entries[:num_entries].copy(),
    )  # fmt: skip


@_jit
def key_of_skeletons(stones, classes):
    """The key of what may follow some skeletons, by both players' stones and views' classes."""
    key = np.int64(0)
    for player in range(2):
        key = key << _CLASS_BITS | (classes[player] + 1)
        key = key << _STONES_BITS | stones[player]
    return key


@_jit
def _read_key(key, stones, classes):
    for player in range(1, -1, -1):
        stones[player] = key & ((1 << _STONES_BITS) - 1)
        key >>= _STONES_BITS
        classes[player] = (key & ((1 << _CLASS_BITS) - 1)) - 1
        key >>= _CLASS_BITS


@_jit
def expand_skeletons(keys, mover, views, others_views, places, winning):
    """What both players' slots have to do with each other: the payoffs of won games.

    The rows of the matrix are slots of player 0, and its columns are those of player 1. A block
    is what follows a skeleton; its own entries are of games that end with the second next turn.

    Args:
      keys: int64 [N], see `key_of_skeletons`.
      mover: whose turn is next.
      views, others_views: `ViewTables` of the mover and of the other player.
      places, winning: of `BoardTables`.

    Returns:
      See `expand_views`; labels are the cells of the first tries.
    """
    n = places.shape[1]
    other = 1 - mover
    first_edge, first_entry = np.zeros(keys.size + 1, np.int64), np.zeros(keys.size + 1, np.int64)
    most = keys.size * (n + 1)
    within, edges = np.empty(most, np.int64), np.empty((most, 4), np.int32)
    entries = np.empty((most * n, 2), np.int32)
    stones, classes = np.zeros(2, np.int64), np.zeros(2, np.int64)
    num_edges, num_entries = 0, 0
    for k in range(keys.size):
        _read_key(keys[k], stones, classes)
        mine, theirs, own, others = stones[mover], stones[other], classes[mover], classes[other]
        free = ((1 << n) - 1) & ~(mine | theirs)
        is_last = free & (free - 1) == 0  # The last stone on a board ends the game.
        after_success = 0 if is_last else free & ~winning[mover, mine]
        for place in range(n + 1 if own >= 0 else 0):
            if place < n:
                if not after_success >> place & 1:
                    continue
                choice, stones[mover] = views.first_choice[own] + place, mine | 1 << place
                label = place
            else:
                if views.failing[own, theirs] < 0:
                    continue
                choice, stones[mover] = views.first_choice[own] + views.failing[own, theirs], mine
                label = 0
                while not theirs >> label & 1:
                    label += 1
            classes[mover] = views.moves[choice, _AFTER]
            within[num_edges] = key_of_skeletons(stones, classes)
            edges[num_edges, 1 + mover] = views.moves[choice, _STEP]
            edges[num_edges, 1 + other] = 0
            edges[num_edges, 3] = label
            num_edges += 1
            won = winning[other, theirs] & free & ~stones[mover]
            for cell in range(n if others >= 0 else 0):
                if won >> cell & 1:
                    entries[num_entries, mover] = views.moves[choice, _SLOT]
                    last = others_views.first_choice[others] + cell
                    entries[num_entries, other] = others_views.moves[last, _SLOT]
                    num_entries += 1
        first_edge[k + 1], first_entry[k + 1] = num_edges, num_entries
    return (
        within[:num_edges].copy(), first_edge, edges[:num_edges].copy(),
        first_entry, entries[:num_entries].copy(),
    )  # fmt: skip
