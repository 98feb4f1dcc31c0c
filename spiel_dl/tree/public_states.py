"""The partition of a game's histories into public states.

A public state is a set of histories that is closed under both players' augmented infosets, and the
public states form a tree (Kovařík et al. 2021; Burch, Johanson, Bowling 2014). Two constructions:
by common knowledge, for any game, and by public tensors, for games that have them. The first is the
finest possible partition; the second may be coarser, and both are valid.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np
import pyspiel
import scipy.sparse
from scipy.sparse import csgraph

from spiel_dl.tree.histories import check_index, first_occurrence_ids
from spiel_dl.tree.numbering import NumberedHistories

if TYPE_CHECKING:
    import torch

    from spiel_dl.games.rules import ConsistentHistories, Rules

_MAX_STORED = 64
"""The number of public states found too large that are stored."""


@dataclasses.dataclass(frozen=True, eq=False)
class PublicStates:
    """P public states, numbered top-down in the order of their first history.

    Attributes:
      of_history: int32 [H], the public state of each history; -1 at terminal ones.
      parent: int32 [P], -1 for the public state of the root.
      depth: int32 [P], the smallest depth of a public state's histories.
      augmented_infoset: int32 [2, H], each player's infoset at each history, also where it does
        not act; -1 at terminal histories. Numbered in the order of the first history.
    """

    of_history: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    augmented_infoset: np.ndarray

    @property
    def num_public_states(self) -> int:
        """P, the number of public states."""
        return len(self.parent)

    def histories(self, public_state: int) -> np.ndarray:
        """The histories of a public state, in breadth-first order: int64 [n].

        Raises:
          ValueError: if there is no such public state.
        """
        check_index("public_state", public_state, self.num_public_states)
        start, end = self._starts[public_state : public_state + 2]
        return self._by_public_state[start:end]

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """The number of histories of each public state: int64 [P]."""
        return np.diff(self._starts)

    @functools.cached_property
    def _by_public_state(self) -> np.ndarray:
        inner = np.flatnonzero(self.of_history >= 0)
        return inner[np.argsort(self.of_history[inner], kind="stable")]

    @functools.cached_property
    def _starts(self) -> np.ndarray:
        members = self.of_history[self._by_public_state]
        return np.searchsorted(members, np.arange(self.num_public_states + 1))


def consistent_histories(state: pyspiel.State, limit: int = 1_000_000) -> ConsistentHistories:
    """All histories of a state's public state, without enumerating the game.

    It uses only public information: the state's public tensor.

    Args:
      state: of a game with rules.
      limit: the most histories; if there are more, `complete` is False.

    Returns:
      The histories' states, actions and exact chance reaches.

    Raises:
      ValueError: if the game has no rules.
    """
    game = state.get_game()
    if not hasattr(game, "rules"):
        raise ValueError(
            f"{game} has no public tensors to reconstruct histories from; enumerate it with "
            "GameTree.from_game and use its public_states"
        )
    rules: Rules = game.rules
    return rules.consistent_histories(rules.public_tensor(state.batch, True)[0], limit)


class Reconstruction:
    """Lists the histories of public states of a game.

    If a public state is too large, and by the game's rules all later ones are, it does not try
    these.

    Attributes:
      rules: the game's.
      limit: the most histories of a public state that is listed.
    """

    def __init__(self, game: pyspiel.Game, limit: int):
        """Lists nothing yet."""
        self.rules: Rules = game.rules
        self.limit = limit
        self._too_large: list[tuple[np.ndarray, ConsistentHistories]] = []

    def histories(self, public_tensor: torch.Tensor) -> ConsistentHistories:
        """As `Rules.consistent_histories`."""
        bits = public_tensor.numpy() > 0
        for earlier_bits, listing in self._too_large:
            # Later public states have all bits of earlier ones.
            if bits[earlier_bits].all():
                return listing
        listing = self.rules.consistent_histories(public_tensor, self.limit)
        if listing.nor_later:
            self._too_large = [(np.flatnonzero(bits), listing), *self._too_large[: _MAX_STORED - 1]]
        return listing


def of_tree(tree: NumberedHistories) -> PublicStates:
    """Public states by public tensors where the game has them, else by common knowledge.

    Raises:
      ValueError: if the game's public tensors do not make a closed partition or a tree.
    """
    if tree.public_key is None:
        return common_knowledge(tree)
    public_states = _numbered(tree, tree.public_key, augmented_infosets(tree))
    check(tree, public_states)
    return public_states


def common_knowledge(tree: NumberedHistories) -> PublicStates:
    """The finest closed partition whose public states form a tree.

    Two histories of one depth are connected if they are the same to player 0 or to player 1, and
    public states are connected components. In a game without a public clock an infoset may lie at
    several depths. A public state then spans these depths, and public states are joined further
    until they form a tree. A game that is over at once has no public states.
    """
    augmented = augmented_infosets(tree)
    inner = np.flatnonzero(~tree.is_terminal)
    if not len(inner):
        return _numbered(tree, np.zeros(tree.num_histories, np.int64), augmented)
    histories = np.arange(len(inner))
    nodes = [augmented[0, inner], augmented[0].max() + 1 + augmented[1, inner]]
    edges = (np.concatenate([histories, histories]), len(inner) + np.concatenate(nodes))
    component = _connect(edges, len(inner) + int(nodes[1].max()) + 1)[: len(inner)]
    of_history = np.full(tree.num_histories, -1, np.int32)
    of_history[inner] = component
    return _numbered(tree, _join_to_tree(tree, of_history), augmented)


def check(tree: NumberedHistories, public_states: PublicStates) -> None:
    """Checks a partition against the definition.

    Raises:
      ValueError: if an augmented infoset lies in two public states, or if a public state has two
        parents.
    """
    inner = np.flatnonzero(~tree.is_terminal)
    for player in (0, 1):
        infoset = public_states.augmented_infoset[player, inner]
        if not _is_function(infoset, public_states.of_history[inner]):
            raise ValueError(
                f"{tree.game}: an infoset of player {player} lies in two public states, so what "
                "is called public depends on what only one player knows"
            )
    child, parent = _public_edges(tree, public_states.of_history)
    if not _is_function(child, parent) or (child == public_states.of_history[0]).any():
        raise ValueError(f"{tree.game}: the public states do not form a tree")


def augmented_infosets(tree: NumberedHistories) -> np.ndarray:
    """Each player's infosets at all histories, also where it does not act.

    These are a player's decision infosets, and at each depth the classes of histories where it does
    not act and has the same information state. If information states are invalid for a player who
    is not to move (they contradict perfect recall), its own past actions are used instead, and the
    public states may be coarser than necessary.

    Returns:
      int32 [2, H], in the order of the first history; -1 at terminal histories.
    """
    return np.stack([_augmented_infosets_of(tree, player) for player in (0, 1)])


def _augmented_infosets_of(tree: NumberedHistories, player: int) -> np.ndarray:
    if tree.idle_keys_valid:
        augmented = _join_idle_classes(tree, player, tree.infoset_key[player])
        if _has_perfect_recall(tree, player, augmented):
            return augmented
    return _join_idle_classes(tree, player, tree.sequence[player])


def _join_idle_classes(tree: NumberedHistories, player: int, idle_key: np.ndarray) -> np.ndarray:
    """Decision infosets, and the classes of (depth, idle key) where the player is idle."""
    inner = np.flatnonzero(~tree.is_terminal)
    idle = inner[tree.player[inner] != player]
    key_ids = first_occurrence_ids(idle_key[idle])[0].astype(np.int64)
    ids = tree.infoset.astype(np.int64)
    ids[idle] = tree.num_infosets(player) + key_ids * (tree.depth[-1] + 1) + tree.depth[idle]
    augmented = np.full(tree.num_histories, -1, np.int32)
    augmented[inner] = first_occurrence_ids(ids[inner])[0]
    return augmented


def _has_perfect_recall(tree: NumberedHistories, player: int, augmented: np.ndarray) -> bool:
    """Whether augmented infosets determine the player's last sequence and earlier infosets.

    The latter is checked only for infosets at one depth: without a public clock, a waiting player
    does not know for how long it waits.
    """
    inner = np.flatnonzero(~tree.is_terminal)
    if not _is_function(augmented[inner], tree.sequence[player, inner]):
        return False
    below = inner[inner > 0]
    first_depth, last_depth = np.zeros((2, augmented.max() + 1), np.int32)
    # Histories are ordered by depth, and of several writes to one entry the last one counts.
    last_depth[augmented[inner]] = tree.depth[inner]
    first_depth[augmented[inner[::-1]]] = tree.depth[inner[::-1]]
    timed = below[(first_depth == last_depth)[augmented[below]]]
    return _is_function(augmented[timed], augmented[tree.parent[timed]])


def _is_function(key: np.ndarray, value: np.ndarray) -> bool:
    """Whether equal keys (nonnegative) always come with equal values."""
    if not len(key):
        return True
    example = np.empty(int(key.max()) + 1, value.dtype)
    example[key] = value
    return bool((example[key] == value).all())


def _public_edges(tree: NumberedHistories, of_history: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(child, parent) public states of all steps between different public states."""
    below = np.flatnonzero(~tree.is_terminal)[1:]
    child, parent = of_history[below], of_history[tree.parent[below]]
    changes = child != parent
    return child[changes], parent[changes]


def _join_to_tree(tree: NumberedHistories, of_history: np.ndarray) -> np.ndarray:
    """Joins public states until each has one parent and the root's has none."""
    while True:
        child, parent = _public_edges(tree, of_history)
        example = np.full(int(of_history.max()) + 1, -1, np.int32)
        example[child] = parent
        # A parent of the root's public state must be that public state itself.
        example[of_history[0]] = of_history[0]
        is_conflict = parent != example[child]
        if not is_conflict.any():
            return of_history
        joined = _connect((parent[is_conflict], example[child[is_conflict]]), len(example))
        of_history = np.where(of_history >= 0, joined[of_history], -1)


def _connect(edges: tuple[np.ndarray, np.ndarray], num_nodes: int) -> np.ndarray:
    """The connected component of each node: int32 [num_nodes]."""
    ones = np.ones(len(edges[0]), np.int8)
    graph = scipy.sparse.coo_array((ones, edges), shape=(num_nodes, num_nodes))
    return csgraph.connected_components(graph, directed=False)[1]


def _numbered(tree: NumberedHistories, key: np.ndarray, augmented: np.ndarray) -> PublicStates:
    """Numbers public states, given by a key of each history (int [H]), by their first history."""
    inner = np.flatnonzero(~tree.is_terminal)
    ids, first = first_occurrence_ids(key[inner])
    numbered = np.full(tree.num_histories, -1, np.int32)
    numbered[inner] = ids
    parent = np.full(len(first), -1, np.int32)
    child, above = _public_edges(tree, numbered)
    parent[child] = above
    return PublicStates(numbered, parent, tree.depth[inner[first]], augmented)
