"""What a policy plays in the infosets of a trunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.trunk import Trunk


def fixed_to(
    policy: PolicyRows, trunk: Trunk[Any], player: int, infosets: np.ndarray | None = None
) -> FixedStrategy:
    """A player who is bound to a policy in some infosets of a trunk, and is free elsewhere.

    In a trunk with choices at its leaves, these come behind the infosets, and are free.

    Args:
      policy: is asked in the first state of each infoset; its answers are made to sum to 1.
      trunk: of a tree whose states are known.
      player: whose policy it is.
      infosets: bool [I], of the trunk; None: all.
    """
    treeplex, tree = trunk.sequence_form.treeplexes[player], trunk.tree
    own = trunk.infosets[player]
    if infosets is None:
        infosets = np.ones(len(own), np.bool_)
    bound = np.zeros(treeplex.num_infosets, np.bool_)
    bound[: len(own)] = infosets
    strategy, sequences = treeplex.uniform_strategy(), treeplex.sequences_of(bound)
    if len(sequences):
        rows = policy(tree.states_of(tree.first_history[player][own[infosets]]), player)
        ids, _ = first_occurrence_ids(treeplex.infoset_of_sequence[sequences])
        found = rows[ids, tree.sequence_action[player][trunk.sequences[player][sequences]]]
        strategy[sequences] = found / np.bincount(ids, found)[ids]
    return FixedStrategy(bound, strategy)
