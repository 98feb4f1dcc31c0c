"""`LeafSet`: the leaves of a trunk by public states and infosets, for value functions."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Generic

import numpy as np
import scipy.sparse

from spiel_dl.tree.compiled_tree import Tree
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.extent import Extent
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.restricted_form import form_of_part
from spiel_dl.tree.sequence_form import SequenceForm


@dataclasses.dataclass(frozen=True, eq=False)
class LeafSet(Generic[Tree]):
    """The N leaves of a trunk, in P leaf public states, with L_p leaf infosets of player p.

    All arrays are ordered by leaf public state. Ranges and counterfactual values are flat over the
    leaf infosets. The trunk refers to its leaf set, but not the reverse, so that large trunks that
    are cut one after the other in play are freed at once.

    Attributes:
      tree: the whole game.
      depth_limit: the trunk's depth limit, counted from where the trunk starts.
      extent: the trunk's extent.
      public_states: int32 [P], in the tree's partition.
      histories: int32 [N], the leaves, as histories of the tree.
      history_offsets: int64 [P + 1], where each leaf public state's histories start.
      infosets: for each player, int32 [L_p], as augmented infosets of the tree.
      first_histories: for each player, int32 [L_p], the first leaf of each infoset.
      infoset_offsets: for each player, int64 [P + 1], where each public state's infosets start.
      infoset_of_history: int32 [2, N], positions in `infosets`.
      sequences: for each player, int32 [L_p], the trunk's sequence from which an infoset hangs.
      chance_reach: float64 [N].
    """

    tree: Tree
    depth_limit: DepthLimit
    extent: Extent
    public_states: np.ndarray
    histories: np.ndarray
    history_offsets: np.ndarray
    infosets: tuple[np.ndarray, np.ndarray]
    first_histories: tuple[np.ndarray, np.ndarray]
    infoset_offsets: tuple[np.ndarray, np.ndarray]
    infoset_of_history: np.ndarray
    sequences: tuple[np.ndarray, np.ndarray]
    chance_reach: np.ndarray

    @property
    def num_public_states(self) -> int:
        """P, the number of leaf public states."""
        return len(self.public_states)

    def num_infosets(self, player: int) -> int:
        """L_p, the number of a player's leaf infosets; ValueError if it is neither 0 nor 1."""
        check_player(player)
        return len(self.infosets[player])

    def public_state_of_infoset(self, player: int) -> np.ndarray:
        """Int64 [L_p], positions in `public_states`."""
        return self._public_state_of_infoset[player]

    @functools.cached_property
    def _public_state_of_infoset(self) -> tuple[np.ndarray, np.ndarray]:
        positions = np.arange(self.num_public_states)
        states_0, states_1 = (np.repeat(positions, np.diff(o)) for o in self.infoset_offsets)
        return states_0, states_1

    def counterfactual_reach(
        self, range_0: np.ndarray, range_1: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The reach of each infoset by chance and the opponent, summed over its leaves.

        Args:
          range_0: float [..., L_0], player 0's.
          range_1: float [..., L_1], player 1's.

        Returns:
          For each player, float64 [..., L_p].
        """
        of_player_0, of_player_1 = self._joint_chance
        if range_0.ndim == 1:
            return of_player_0 @ range_1, of_player_1 @ range_0
        # Sizes are given, since a trunk without leaves has ranges without entries.
        size = math.prod(range_0.shape[:-1])
        rows_0, rows_1 = (r.reshape(size, r.shape[-1]) for r in (range_0, range_1))
        reach_0, reach_1 = (of_player_0 @ rows_1.T).T, (of_player_1 @ rows_0.T).T
        return reach_0.reshape(range_0.shape), reach_1.reshape(range_1.shape)

    @functools.cached_property
    def _joint_chance(self) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
        """Chance's reach of pairs of infosets: float64 [L_0, L_1], sparse; and its transpose."""
        shape = (self.num_infosets(0), self.num_infosets(1))
        table = scipy.sparse.csr_array((self.chance_reach, tuple(self.infoset_of_history)), shape)
        return table, table.T.tocsr()

    def sum_by_public_state(self, player: int, values: np.ndarray) -> np.ndarray:
        """Sums values (float64 [..., L_p]) over each public state's infosets: float64 [..., P]."""
        if not self.num_public_states:
            return np.zeros((*values.shape[:-1], 0))
        return np.add.reduceat(values, self.infoset_offsets[player][:-1], axis=-1)

    @functools.cached_property
    def subgames(self) -> SequenceForm:
        """All subgames below the leaves in one sequence form.

        Its root sequences are the leaf infosets, in the order of `infosets`: their realizations are
        the ranges, and the values at them are the counterfactual values.

        Raises:
          ValueError: if the tree ends at the leaves, as sparse trees do.
        """
        return self._subgames[0]

    @property
    def subgame_sequences(self) -> tuple[np.ndarray, np.ndarray]:
        """For each player, int32 [S_p], the tree's sequences of `subgames`; 0 for roots."""
        return self._subgames[1]

    @functools.cached_property
    def _subgames(self) -> tuple[SequenceForm, tuple[np.ndarray, np.ndarray]]:
        tree = self.tree
        if (tree.num_children[self.histories] == 0).any():
            raise ValueError(
                f"this tree of {tree.game} ends at the depth limit of {self.depth_limit}, so it "
                "has no subgames; cut a tree of the whole game, or value the leaves by a network"
            )
        order = np.argsort(self.histories)
        below, leaf = tree.following(self.histories[order])
        of_leaf = self.infoset_of_history[:, order]

        def roots_at(player: int, histories: np.ndarray) -> np.ndarray:
            roots: np.ndarray = of_leaf[player, leaf[np.searchsorted(below, histories)]]
            return roots

        kept, forced = [], []
        for player in (0, 1):
            # Forced moves do not change values, and iterations without them are faster.
            own = np.unique(tree.infoset[below[tree.player[below] == player]])
            is_free = tree.treeplexes[player].num_actions[own] > 1
            kept.append(own[is_free])
            forced.append(own[~is_free])
        num_roots = (self.num_infosets(0), self.num_infosets(1))
        terminals = below[tree.is_terminal[below]]
        infosets, left_out = (kept[0], kept[1]), (forced[0], forced[1])
        return form_of_part(tree, infosets, num_roots, roots_at, terminals, left_out)
