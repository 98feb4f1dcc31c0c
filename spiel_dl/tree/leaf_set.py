"""`LeafSet`: the leaves of a trunk by public states and infosets, as value functions take them."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from spiel_dl.tree.histories import first_occurrence_ids

if TYPE_CHECKING:
    from spiel_dl.tree.trunk import Trunk


@dataclasses.dataclass(frozen=True, eq=False)
class LeafSet:
    """The N leaves of a trunk, by their P leaf public states; L_p leaf infosets of each player.

    All arrays are ordered by leaf public state. Ranges and counterfactual values are flat over the
    leaf infosets.

    Attributes:
      trunk: whose leaves these are.
      public_states: int32 [P], in the tree's partition.
      histories: int32 [N], the leaves, as histories of the tree.
      history_offsets: int64 [P + 1], where each leaf public state's histories start.
      infosets: for each player, int32 [L_p], as augmented infosets of the tree.
      infoset_offsets: for each player, int64 [P + 1], where each public state's infosets start.
      infoset_of_history: int32 [2, N], positions in `infosets`.
      sequences: for each player, int32 [L_p], the trunk's sequence from which an infoset hangs.
      chance_reach: float64 [N].
    """

    trunk: Trunk
    public_states: np.ndarray
    histories: np.ndarray
    history_offsets: np.ndarray
    infosets: tuple[np.ndarray, np.ndarray]
    infoset_offsets: tuple[np.ndarray, np.ndarray]
    infoset_of_history: np.ndarray
    sequences: tuple[np.ndarray, np.ndarray]
    chance_reach: np.ndarray

    @property
    def num_public_states(self) -> int:
        """P, the number of leaf public states."""
        return len(self.public_states)

    def num_infosets(self, player: int) -> int:
        """L_p, the number of a player's leaf infosets."""
        return len(self.infosets[player])

    def public_state_of_infoset(self, player: int) -> np.ndarray:
        """Int64 [L_p], positions in `public_states`."""
        sizes = np.diff(self.infoset_offsets[player])
        return np.repeat(np.arange(self.num_public_states), sizes)

    def counterfactual_reach(
        self, range_0: np.ndarray, range_1: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What chance and the opponent do to come to each infoset.

        Args:
          range_0: float [..., L_0], player 0's.
          range_1: float [..., L_1], player 1's.

        Returns:
          For each player, float64 [..., L_p].
        """
        of_player_0, of_player_1 = self._joint_chance
        if range_0.ndim == 1:
            return of_player_0 @ range_1, of_player_1 @ range_0
        batch = range_0.shape[:-1]
        rows_0, rows_1 = (r.reshape(-1, r.shape[-1]) for r in (range_0, range_1))
        reach_0, reach_1 = (of_player_0 @ rows_1.T).T, (of_player_1 @ rows_0.T).T
        return reach_0.reshape(*batch, -1), reach_1.reshape(*batch, -1)

    @functools.cached_property
    def _joint_chance(self) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
        """Chance's reach by both players' infosets, [L_0, L_1]; the same transposed."""
        shape = (self.num_infosets(0), self.num_infosets(1))
        table = scipy.sparse.csr_array((self.chance_reach, tuple(self.infoset_of_history)), shape)
        return table, table.T.tocsr()

    def sum_by_public_state(self, player: int, values: np.ndarray) -> np.ndarray:
        """Sums values (float64 [..., L_p]) over each public state's infosets: float64 [..., P]."""
        if not self.num_public_states:
            return np.zeros((*values.shape[:-1], 0))
        return np.add.reduceat(values, self.infoset_offsets[player][:-1], axis=-1)


def of_trunk(trunk: Trunk) -> LeafSet:
    """The leaves of a trunk.

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
    infosets, offsets, of_history, sequences = [], [], [], []
    for player in (0, 1):
        augmented = partition.augmented_infoset[player, leaves]
        ids, first = first_occurrence_ids(augmented)
        infosets.append(augmented[first].astype(np.int32))
        offsets.append(np.searchsorted(position[first], np.arange(len(states) + 1)))
        of_history.append(ids)
        sequences.append(_trunk_sequences(trunk, player, leaves[first]))
    return LeafSet(
        trunk=trunk,
        public_states=states.astype(np.int32),
        histories=leaves.astype(np.int32),
        history_offsets=np.concatenate([[0], np.cumsum(counts)]),
        infosets=(infosets[0], infosets[1]),
        infoset_offsets=(offsets[0], offsets[1]),
        infoset_of_history=np.stack(of_history),
        sequences=(sequences[0], sequences[1]),
        chance_reach=tree.chance_reach[leaves],
    )


def _trunk_sequences(trunk: Trunk, player: int, histories: np.ndarray) -> np.ndarray:
    """The trunk's sequences of a player at some of its histories: int32 [n]."""
    num_roots = len(trunk.root_infosets[player])
    last = trunk.tree.sequence[player, histories]
    below_roots = trunk.sequences[player][num_roots:]
    position = np.searchsorted(below_roots, last)
    # A player who has not acted in the trunk is at its root sequence.
    has_acted = np.isin(last, below_roots)
    root = trunk.root_of_history[player, histories]
    return np.where(has_acted, num_roots + position, root).astype(np.int32)
