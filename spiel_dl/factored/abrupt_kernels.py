"""Compiled loops over the views and skeletons of an abrupt phantom game. See `abrupt`."""

from __future__ import annotations

import numpy as np

from spiel_dl.games.compiled import kernel

# Columns of `moves`.
_AFTER, _STEP, _SLOT = 0, 1, 2
# The fields of keys of skeletons: two sets of stones, and two classes from -1 on.
_STONES_BITS, _CLASS_BITS = 10, 21


@kernel
def follow_infosets(first_choice, fail, success):
    """The infosets that follow the choices of a player's infosets.

    Args:
      first_choice, fail, success: see `AbruptClasses`.

    Returns:
      int32 [K, 2, 2], by choice and whether it succeeds: the next infoset's class, -1: there is
      none; the next infoset's first sequence relative to that of the infoset.
    """
    num_classes = first_choice.size - 1
    num_sequences = np.empty(num_classes, np.int32)
    following = np.zeros((fail.size, 2, 2), np.int32)
    for class_ in range(num_classes - 1, -1, -1):  # Following classes have larger numbers.
        step = first_choice[class_ + 1] - first_choice[class_]
        for choice in range(first_choice[class_], first_choice[class_ + 1]):
            for succeeds in range(2):
                after = success[choice] if succeeds else fail[choice]
                following[choice, succeeds, _AFTER] = after
                if after >= 0:
                    following[choice, succeeds, _STEP] = step
                    step += num_sequences[after]
        num_sequences[class_] = step
    return following


@kernel
def number_slots(first_choice, after, may_end):
    """Numbers the views that won games may end with.

    Args:
      first_choice: see `ViewTables`.
      after: int32 [K], the class after a choice, -1: impossible.
      may_end: bool [K], whether a won game may end with a choice.

    Returns:
      moves: int32 [K, 3], see `ViewTables`.
      num_slots: int64 [1], the number of slots.
    """
    num_classes = first_choice.size - 1
    size = np.zeros(num_classes, np.int64)
    moves = np.empty((after.size, 3), np.int32)
    for class_ in range(num_classes - 1, -1, -1):  # Following classes have larger numbers.
        for choice in range(first_choice[class_], first_choice[class_ + 1]):
            moves[choice, _SLOT] = size[class_] if may_end[choice] else -1
            size[class_] += may_end[choice]
        for choice in range(first_choice[class_], first_choice[class_ + 1]):
            moves[choice, _AFTER], moves[choice, _STEP] = after[choice], size[class_]
            if after[choice] >= 0:
                size[class_] += size[after[choice]]
    return moves, size[:1].copy()


@kernel
def expand_views(keys, tried, first_infoset_choice, following, views, places):
    """Expands blocks of a player's view matrix: 1 where a sequence ends with a slot's view.

    The rows of the matrix are slots, and its columns are sequences. A block belongs to a class of
    views and a class of infosets in which the view is possible.

    Args:
      keys: int64 [N], the class of the view times the number of classes of infosets, plus the class
        of the infoset.
      tried, first_infoset_choice: see `AbruptClasses`.
      following: the result of `follow_infosets`.
      views: `ViewTables`.
      places: see `BoardTables`.

    Returns:
      The fields of an `Expansion` but `is_plus`; labels are cells.
    """
    n, num_classes = places.shape[1], tried.size
    first_edge, first_entry = np.zeros(keys.size + 1, np.int64), np.zeros(keys.size + 1, np.int64)
    max_edges = 0
    for k in range(keys.size):
        view = keys[k] // num_classes
        max_edges += n * (views.first_choice[view + 1] - views.first_choice[view])
    within, edges = np.empty(max_edges, np.int64), np.empty((max_edges, 4), np.int32)
    entries = np.empty((max_edges, 2), np.int32)
    num_edges, num_entries = 0, 0
    for k in range(keys.size):
        view, infoset = keys[k] // num_classes, keys[k] % num_classes
        first = views.first_choice[view]
        for choice in range(first, views.first_choice[view + 1]):
            succeeds = 1 if choice < first + n else 0
            try_cells = 1 << (choice - first) if succeeds else views.stones[choice]
            after, step, slot = views.moves[choice]
            for cell in range(n):
                if not (try_cells & ~tried[infoset]) >> cell & 1:
                    continue
                place = places[tried[infoset], cell]
                if slot >= 0:
                    entries[num_entries, 0], entries[num_entries, 1] = slot, place
                    num_entries += 1
                next_class, column_step = following[first_infoset_choice[infoset] + place, succeeds]
                if after >= 0 and next_class >= 0:
                    within[num_edges] = np.int64(after) * num_classes + next_class
                    edges[num_edges, 1], edges[num_edges, 2] = step, column_step
                    edges[num_edges, 3] = cell
                    num_edges += 1
        first_edge[k + 1], first_entry[k + 1] = num_edges, num_entries
    return (
        within[:num_edges].copy(), first_edge, edges[:num_edges].copy(),
        first_entry, entries[:num_entries].copy(),
    )  # fmt: skip


@kernel
def key_of_skeletons(stones, classes):
    """The key of a class of skeletons: both players' stones and classes of views."""
    key = np.int64(0)
    for player in range(2):
        key = key << _CLASS_BITS | (classes[player] + 1)
        key = key << _STONES_BITS | stones[player]
    return key


@kernel
def _read_key(key, stones, classes):
    for player in range(1, -1, -1):
        stones[player] = key & ((1 << _STONES_BITS) - 1)
        key >>= _STONES_BITS
        classes[player] = (key & ((1 << _CLASS_BITS) - 1)) - 1
        key >>= _CLASS_BITS


@kernel
def expand_skeletons(keys, mover, views, opponent_views, places, winning):
    """Expands blocks of the payoffs of won games by both players' slots.

    The rows of the matrix are slots of player 0, and its columns are those of player 1. A block
    holds the continuations of a skeleton; its own entries are games won at the second next turn.

    Args:
      keys: int64 [N], see `key_of_skeletons`.
      mover: the player of the next turn.
      views, opponent_views: `ViewTables` of the mover and of the opponent.
      places, winning: see `BoardTables`.

    Returns:
      See `expand_views`; labels are the cells of the first tries.
    """
    n = places.shape[1]
    opponent = 1 - mover
    first_edge, first_entry = np.zeros(keys.size + 1, np.int64), np.zeros(keys.size + 1, np.int64)
    max_edges = keys.size * (n + 1)
    within, edges = np.empty(max_edges, np.int64), np.empty((max_edges, 4), np.int32)
    entries = np.empty((max_edges * n, 2), np.int32)
    stones, classes = np.zeros(2, np.int64), np.zeros(2, np.int64)
    num_edges, num_entries = 0, 0
    for k in range(keys.size):
        _read_key(keys[k], stones, classes)
        own_stones, opponent_stones = stones[mover], stones[opponent]
        own_class, opponent_class = classes[mover], classes[opponent]
        free = ((1 << n) - 1) & ~(own_stones | opponent_stones)
        is_last = free & (free - 1) == 0  # The last stone on a board ends the game.
        after_success = 0 if is_last else free & ~winning[mover, own_stones]
        for place in range(n + 1 if own_class >= 0 else 0):
            if place < n:
                if not after_success >> place & 1:
                    continue
                choice, label = views.first_choice[own_class] + place, place
                stones[mover] = own_stones | 1 << place
            else:
                if views.failing[own_class, opponent_stones] < 0:
                    continue
                choice = views.first_choice[own_class] + views.failing[own_class, opponent_stones]
                stones[mover], label = own_stones, 0
                while not opponent_stones >> label & 1:
                    label += 1
            classes[mover] = views.moves[choice, _AFTER]
            within[num_edges] = key_of_skeletons(stones, classes)
            edges[num_edges, 1 + mover] = views.moves[choice, _STEP]
            edges[num_edges, 1 + opponent] = 0
            edges[num_edges, 3] = label
            num_edges += 1
            won = winning[opponent, opponent_stones] & free & ~stones[mover]
            for cell in range(n if opponent_class >= 0 else 0):
                if won >> cell & 1:
                    entries[num_entries, mover] = views.moves[choice, _SLOT]
                    last = opponent_views.first_choice[opponent_class] + cell
                    entries[num_entries, opponent] = opponent_views.moves[last, _SLOT]
                    num_entries += 1
        first_edge[k + 1], first_entry[k + 1] = num_edges, num_entries
    return (
        within[:num_edges].copy(), first_edge, edges[:num_edges].copy(),
        first_entry, entries[:num_entries].copy(),
    )  # fmt: skip
