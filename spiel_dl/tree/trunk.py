"""A game cut in two at a depth limit: the trunk above, the subgames below its leaf public states.

The leaves of a trunk are the first histories at or beyond the limit in which a player acts; chance
events at the limit (Leduc's public card) are the trunk's. A *leaf public state* consists of leaves,
and a *leaf infoset* is what a player knows in one, whether it acts there or not.

A subgame that starts in a public state can be cut in the same way, with a depth limit of its own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Generic

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree, Tree
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.restricted_form import form_of_part
from spiel_dl.tree.sequence_form import SequenceForm


@dataclasses.dataclass(frozen=True, eq=False)
class Trunk(Generic[Tree]):
    """A game, or a subgame that starts in a public state, above a depth limit; made by `cut`.

    Attributes:
      tree: the whole game.
      depth_limit: where it is cut, counted from where it starts.
      root_of_history: int64 [2, H], each player's root sequence from which a history follows:
        0 in a whole game, a position in `root_infosets` in a subgame, -1 outside it.
      root_infosets: for each player, int32 [R_p], the augmented infosets of the tree to which the
        root sequences belong, in the order of their first history.
      leaf_of_history: int32 [H], for histories at or below a leaf that leaf; -1 elsewhere.
      infosets: for each player, int32 [I_p], the trunk's infosets, as infosets of the tree.
      sequences: for each player, int32 [S_p], the trunk's sequences, as sequences of the tree; 0
        for root sequences.
      sequence_form: the trunk's treeplexes, and payoffs where the game ends in the trunk.
    """

    tree: Tree
    depth_limit: DepthLimit
    root_of_history: np.ndarray
    root_infosets: tuple[np.ndarray, np.ndarray]
    leaf_of_history: np.ndarray
    infosets: tuple[np.ndarray, np.ndarray]
    sequences: tuple[np.ndarray, np.ndarray]
    sequence_form: SequenceForm

    @functools.cached_property
    def leaves(self) -> LeafSet[Tree]:
        """The leaves, by public states.

        Raises:
          ValueError: if a public state lies partly above and partly below the limit.
        """
        return _leaves(self)

    def sequences_at(self, player: int, histories: np.ndarray) -> np.ndarray:
        """The trunk's sequences of a player at some of its histories: int32 [n]."""
        num_roots = len(self.root_infosets[player])
        last = self.tree.sequence[player, histories]
        below_roots = self.sequences[player][num_roots:]
        position = np.searchsorted(below_roots, last)
        # A player who has not acted in the trunk is at its root sequence.
        has_acted = np.isin(last, below_roots)
        root = self.root_of_history[player, histories]
        return np.where(has_acted, num_roots + position, root).astype(np.int32)


def cut(
    tree: Tree, depth_limit: DepthLimit, public_state: int | Sequence[int] | None = None
) -> Trunk[Tree]:
    """Cuts a game at a depth limit; a limit beyond the game leaves a trunk without leaves.

    Args:
      tree: the whole game.
      depth_limit: where to cut.
      public_state: cut the subgame that starts in this public state, or the subgames that start in
        these ones, and count the depth limit from there. Root sequences are the public states'
        augmented infosets. None: the whole game.

    Raises:
      ValueError: if the limit is no `DepthLimit`, or in rounds that the game does not have, if an
        infoset lies partly above and partly below it, if there is no such public state, or if one
        of its histories follows another.
    """
    check_depth_limit(depth_limit)
    if public_state is None and (depth_limit.moves or 0) > len(tree.levels_below_root()):
        return _whole_game(tree, depth_limit)
    top, root, root_infosets = _roots(tree, public_state)
    depths = depth_limit.depths(tree)
    beyond = (top >= 0) & (depths - depths[top] >= depth_limit.value)
    return _trunk(tree, depth_limit, top >= 0, beyond, root, root_infosets)


def cut_beyond(tree: Tree, beyond: np.ndarray, depth_limit: DepthLimit) -> Trunk[Tree]:
    """Cuts a whole game at given histories, which need not be those at a depth limit.

    Args:
      tree: the whole game.
      beyond: bool [H], which histories are beyond the trunk if a player acts there; what follows
        them is beyond it as well.
      depth_limit: what messages and value functions call the cut.

    Raises:
      ValueError: if an infoset lies partly above and partly below the cut.
    """
    _, root, root_infosets = _roots(tree, None)
    everywhere = np.ones(tree.num_histories, np.bool_)
    return _trunk(tree, depth_limit, everywhere, beyond, root, root_infosets)


def _trunk(
    tree: Tree,
    depth_limit: DepthLimit,
    inside: np.ndarray,
    beyond: np.ndarray,
    root: np.ndarray,
    root_infosets: tuple[np.ndarray, np.ndarray],
) -> Trunk[Tree]:
    """The trunk of the histories that are inside a subgame, or the game, and not beyond a cut."""
    starts = beyond & (tree.player >= 0)
    leaf = np.where(starts, np.arange(tree.num_histories), -1).astype(np.int32)
    for start, end in tree.levels_below_root():
        above = leaf[tree.parent[start:end]]
        leaf[start:end] = np.where(above >= 0, above, leaf[start:end])
    is_above = inside & (leaf < 0)
    kept = [_infosets_above(tree, player, is_above) for player in (0, 1)]
    num_roots = (len(root_infosets[0]), len(root_infosets[1]))
    terminals = np.flatnonzero(tree.is_terminal & is_above)
    form, sequences = form_of_part(tree, (kept[0], kept[1]), num_roots, root, terminals)
    infosets = (kept[0], kept[1])
    return Trunk(tree, depth_limit, root, root_infosets, leaf, infosets, sequences, form)


def _whole_game(tree: Tree, depth_limit: DepthLimit) -> Trunk[Tree]:
    """The trunk of a game that ends above the depth limit: its sequence form is there already."""
    _, root, root_infosets = _roots(tree, None)
    first, second = tree.treeplexes
    return Trunk(
        tree,
        depth_limit,
        root,
        root_infosets,
        np.full(tree.num_histories, -1, np.int32),
        (_numbers(first.num_infosets), _numbers(second.num_infosets)),
        (_numbers(first.num_sequences), _numbers(second.num_sequences)),
        tree.sequence_form,
    )


def _numbers(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def _roots(
    tree: CompiledTree, public_state: int | Sequence[int] | None
) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Where a trunk starts.

    Returns:
      int64 [H], the first history of the trunk on the way to each history, -1 outside the trunk;
      and `Trunk.root_of_history` and `Trunk.root_infosets`.

    Raises:
      ValueError: if there is no such public state, or if some of its histories follow others.
    """
    if public_state is None:
        start = np.zeros(1, np.int32)
        in_whole_game = np.zeros((2, tree.num_histories), np.int64)
        return in_whole_game[0], in_whole_game, (start, start)
    partition = tree.public_states
    states = np.atleast_1d(public_state).tolist()
    if not states or not all(0 <= state < partition.num_public_states for state in states):
        raise ValueError(
            f"public_state={public_state} must be one of the {partition.num_public_states} of "
            f"{tree.game}"
        )
    first = np.sort(np.concatenate([partition.histories(state) for state in states]))
    top = np.full(tree.num_histories, -1)
    top[first] = first
    for begin, end in tree.levels_below_root():
        above = top[tree.parent[begin:end]]
        top[begin:end] = np.where(above >= 0, above, top[begin:end])
    if (top[first] != first).any():
        raise ValueError(
            f"{tree.game}: histories of public state {public_state} follow one another, so no "
            "subgame starts there"
        )
    root, root_infosets = np.full((2, tree.num_histories), -1), []
    inside = np.flatnonzero(top >= 0)
    position = np.searchsorted(first, top[inside])
    for player in (0, 1):
        augmented = partition.augmented_infoset[player, first]
        ids, occurrence = first_occurrence_ids(augmented)
        root[player, inside] = ids[position]
        root_infosets.append(augmented[occurrence])
    return top, root, (root_infosets[0], root_infosets[1])


def _infosets_above(tree: CompiledTree, player: int, is_above: np.ndarray) -> np.ndarray:
    """A player's infosets above the cut: int32 [I_p].

    Raises:
      ValueError: if an infoset lies on both sides.
    """
    acting = np.flatnonzero(tree.player == player)
    infoset, above = tree.infoset[acting], is_above[acting]
    count = np.bincount(infoset, minlength=tree.num_infosets(player))
    count_above = np.bincount(infoset, weights=above, minlength=len(count))
    split = np.flatnonzero((count_above > 0) & (count_above < count))
    if len(split):
        raise ValueError(
            f"{tree.game}: player {player}'s infoset "
            f"{tree.infoset_string(player, int(split[0]))!r} lies partly above and partly below "
            "the depth limit; give the limit in another unit (plies never split an infoset of a "
            "game with a public clock)"
        )
    return np.flatnonzero(count_above > 0).astype(np.int32)


def _leaves(trunk: Trunk[Tree]) -> LeafSet[Tree]:
    """The leaves of a trunk, by public states.

    Raises:
      ValueError: if a public state lies partly above and partly below the limit.
    """
    tree, partition = trunk.tree, trunk.tree.public_states
    is_leaf = trunk.leaf_of_history == np.arange(tree.num_histories)
    leaves = np.flatnonzero(is_leaf)
    leaves = leaves[np.argsort(partition.of_history[leaves], kind="stable")]
    states, counts = np.unique(partition.of_history[leaves], return_counts=True)
    members = np.bincount(partition.of_history[~tree.is_terminal])
    if (members[states] != counts).any():
        state = int(states[(members[states] != counts).argmax()])
        raise ValueError(
            f"{tree.game}: public state {state} is only partly below the depth limit of "
            f"{trunk.depth_limit}; give the limit in another unit"
        )
    position = np.repeat(np.arange(len(states)), counts)
    infosets, firsts, offsets, of_history, sequences = [], [], [], [], []
    for player in (0, 1):
        augmented = partition.augmented_infoset[player, leaves]
        ids, first = first_occurrence_ids(augmented)
        infosets.append(augmented[first].astype(np.int32))
        firsts.append(leaves[first].astype(np.int32))
        offsets.append(np.searchsorted(position[first], np.arange(len(states) + 1)))
        of_history.append(ids)
        sequences.append(trunk.sequences_at(player, leaves[first]))
    return LeafSet(
        tree=tree,
        depth_limit=trunk.depth_limit,
        root_of_history=trunk.root_of_history,
        leaf_of_history=trunk.leaf_of_history,
        public_states=states.astype(np.int32),
        histories=leaves.astype(np.int32),
        history_offsets=np.concatenate([[0], np.cumsum(counts)]),
        infosets=(infosets[0], infosets[1]),
        first_histories=(firsts[0], firsts[1]),
        infoset_offsets=(offsets[0], offsets[1]),
        infoset_of_history=np.stack(of_history),
        sequences=(sequences[0], sequences[1]),
        chance_reach=tree.chance_reach[leaves],
    )
