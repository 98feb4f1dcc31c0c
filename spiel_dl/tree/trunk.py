"""A game cut at a depth limit: the trunk above it, and subgames below its leaf public states.

The leaves of a trunk are the first histories at or beyond the limit in which a player acts; chance
events at the limit (Leduc's public card) belong to the trunk. A *leaf public state* consists of
leaves, and a *leaf infoset* is a player's infoset in one, whether it acts there or not.

A subgame that starts in a public state can be cut in the same way, with a depth limit of its own.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeAlias

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree, Tree
from spiel_dl.tree.depth_limit import DepthLimit, check_depth_limit
from spiel_dl.tree.extent import Extent
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.restricted_form import form_of_part
from spiel_dl.tree.sequence_form import SequenceForm

IsBeyond: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Maps histories (int64 [n]) and the positions of the starts that they follow to whether they are
beyond a cut: bool [n]."""


@dataclasses.dataclass(frozen=True, eq=False)
class Trunk(Generic[Tree]):
    """A game, or a subgame that starts in a public state, above a depth limit; made by `cut`.

    Attributes:
      tree: the whole game.
      depth_limit: where it is cut, counted from where it starts.
      extent: its histories. Its root sequences are 0 in a whole game, positions in `root_infosets`
        in a subgame.
      root_infosets: for each player, int32 [R_p], the augmented infosets of the tree to which the
        root sequences belong, in the order of their first history.
      infosets: for each player, int32 [I_p], the trunk's infosets, as infosets of the tree.
      sequences: for each player, int32 [S_p], the trunk's sequences, as sequences of the tree; 0
        for root sequences.
      sequence_form: the trunk's treeplexes, and payoffs where the game ends in the trunk.
    """

    tree: Tree
    depth_limit: DepthLimit
    extent: Extent
    root_infosets: tuple[np.ndarray, np.ndarray]
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

    def by_root_infoset(self, player: int, histories: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Values of a player's root infosets, from values of their histories: float64 [R_p].

        Args:
          player: whose root infosets.
          histories: int [n], at which the trunk starts.
          values: [n], of each history. If they differ within an infoset, the last one counts.
        """
        root_values = np.zeros(len(self.root_infosets[player]))
        root_values[self.extent.roots_at(player, histories)] = values
        return root_values

    def root_range(self, player: int, plan: np.ndarray) -> np.ndarray:
        """A player's reach of its root infosets by a plan of the whole game: float64 [R_p]."""
        starts = self.extent.starts
        return self.by_root_infoset(player, starts, plan[self.tree.sequence[player, starts]])

    def sequences_at(self, player: int, histories: np.ndarray) -> np.ndarray:
        """The trunk's sequences of a player at some of its histories or leaves: int32 [n]."""
        num_roots = len(self.root_infosets[player])
        last = self.tree.sequence[player, histories]
        below_roots = self.sequences[player][num_roots:]
        position = np.searchsorted(below_roots, last)
        # A player who has not acted in the trunk is at its root sequence.
        has_acted = np.isin(last, below_roots)
        root = self.extent.roots_at(player, histories)
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
      ValueError: if the limit is no `DepthLimit`, or in rounds that the game does not have; if an
        infoset lies partly above and partly below it; if there is no such public state, or if one
        of its histories follows another.
    """
    check_depth_limit(depth_limit)
    if public_state is None and (depth_limit.moves or 0) > len(tree.levels_below_root()):
        return _whole_game(tree, depth_limit)
    start = _start(tree, public_state)
    depths = depth_limit.depths(tree)
    first_beyond = depths[start.histories].astype(np.int64) + depth_limit.value
    return _trunk(
        tree, depth_limit, start, lambda here, origin: depths[here] >= first_beyond[origin]
    )


def cut_beyond(tree: Tree, beyond: np.ndarray, depth_limit: DepthLimit) -> Trunk[Tree]:
    """Cuts a whole game at given histories instead of a depth limit.

    Args:
      tree: the whole game.
      beyond: bool [H], the histories that are beyond the trunk if a player acts there; all that
        follow them are, too.
      depth_limit: the limit that the trunk has for messages and value functions.

    Raises:
      ValueError: if an infoset lies partly above and partly below the cut.
    """
    return _trunk(tree, depth_limit, _start(tree, None), lambda here, _: beyond[here])


class _Start(NamedTuple):
    """Where a trunk starts.

    Attributes:
      histories: int64 [K], increasing.
      roots: int32 [2, K], as `Extent.start_roots`.
      infosets: as `Trunk.root_infosets`.
    """

    histories: np.ndarray
    roots: np.ndarray
    infosets: tuple[np.ndarray, np.ndarray]


def _start(tree: CompiledTree, public_state: int | Sequence[int] | None) -> _Start:
    """Where a trunk starts.

    Raises:
      ValueError: if there is no such public state, or if some of its histories follow others.
    """
    if public_state is None:
        empty = np.zeros(1, np.int32)
        return _Start(np.zeros(1, np.int64), np.zeros((2, 1), np.int32), (empty, empty))
    partition = tree.public_states
    states = np.atleast_1d(public_state).tolist()
    if not states or not all(0 <= state < partition.num_public_states for state in states):
        raise ValueError(
            f"public_state={public_state} must be one of the {partition.num_public_states} of "
            f"{tree.game}"
        )
    histories = np.sort(np.concatenate([partition.histories(state) for state in states]))
    if _follow_one_another(tree, histories):
        raise ValueError(
            f"{tree.game}: histories of public state {public_state} follow one another, so no "
            "subgame starts there"
        )
    roots, infosets = [], []
    for player in (0, 1):
        augmented = partition.augmented_infoset[player, histories]
        ids, occurrence = first_occurrence_ids(augmented)
        roots.append(ids)
        infosets.append(augmented[occurrence])
    return _Start(histories, np.stack(roots), (infosets[0], infosets[1]))


def _follow_one_another(tree: CompiledTree, histories: np.ndarray) -> bool:
    """Whether some of these histories (int [K], increasing) follow others."""
    least, above = tree.depth[histories[0]], histories
    while len(above := above[tree.depth[above] > least]):
        above = np.unique(tree.parent[above])
        if np.isin(above, histories).any():
            return True
    return False


def _trunk(tree: Tree, depth_limit: DepthLimit, start: _Start, is_beyond: IsBeyond) -> Trunk[Tree]:
    """The trunk from a start down to the first histories beyond a cut in which a player acts."""

    def is_leaf(histories: np.ndarray, origin: np.ndarray) -> np.ndarray:
        is_end: np.ndarray = is_beyond(histories, origin) & (tree.player[histories] >= 0)
        return is_end

    histories, origin = tree.following(start.histories, is_leaf)
    leaf = is_leaf(histories, origin)
    parts = (histories[~leaf], origin[~leaf], histories[leaf], origin[leaf])
    extent = Extent(start.histories, start.roots, *parts)
    kept = [_infosets_above(tree, depth_limit, player, extent.histories) for player in (0, 1)]
    num_roots = (len(start.infosets[0]), len(start.infosets[1]))
    terminals = extent.histories[tree.is_terminal[extent.histories]]
    infosets = (kept[0], kept[1])
    form, sequences = form_of_part(tree, infosets, num_roots, extent.roots_at, terminals)
    return Trunk(tree, depth_limit, extent, start.infosets, infosets, sequences, form)


def _whole_game(tree: Tree, depth_limit: DepthLimit) -> Trunk[Tree]:
    """The trunk of a game that ends above the depth limit; it has the tree's sequence form."""
    start, none = _start(tree, None), np.zeros(0, np.int64)
    histories = np.arange(tree.num_histories)
    first, second = tree.treeplexes
    return Trunk(
        tree,
        depth_limit,
        Extent(start.histories, start.roots, histories, np.zeros_like(histories), none, none),
        start.infosets,
        (_numbers(first.num_infosets), _numbers(second.num_infosets)),
        (_numbers(first.num_sequences), _numbers(second.num_sequences)),
        tree.sequence_form,
    )


def _numbers(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.int32)


def _infosets_above(
    tree: CompiledTree, depth_limit: DepthLimit, player: int, histories: np.ndarray
) -> np.ndarray:
    """A player's infosets above the cut, from all histories there: int32 [I_p].

    Raises:
      ValueError: if an infoset lies on both sides.
    """
    infosets = tree.infoset[histories[tree.player[histories] == player]]
    distinct, count = np.unique(infosets, return_counts=True)
    split = distinct[count < tree.infoset_sizes[player][distinct]]
    if len(split):
        raise ValueError(
            f"{tree.game}: player {player}'s infoset "
            f"{tree.infoset_string(player, int(split[0]))!r} lies partly above and partly below "
            f"{depth_limit}; {depth_limit.remedy}"
        )
    return distinct.astype(np.int32)


def _leaves(trunk: Trunk[Tree]) -> LeafSet[Tree]:
    """The leaves of a trunk, by public states.

    Raises:
      ValueError: if a public state lies partly above and partly below the limit.
    """
    tree, partition = trunk.tree, trunk.tree.public_states
    leaves = trunk.extent.leaves
    leaves = leaves[np.argsort(partition.of_history[leaves], kind="stable")]
    states, counts = np.unique(partition.of_history[leaves], return_counts=True)
    is_whole = partition.sizes[states] == counts
    if not is_whole.all():
        state = int(states[is_whole.argmin()])
        raise ValueError(
            f"{tree.game}: public state {state} is only partly below the depth limit of "
            f"{trunk.depth_limit}; {trunk.depth_limit.remedy}"
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
        extent=trunk.extent,
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
