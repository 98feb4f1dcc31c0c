"""How often decisions are come to: chance's reach of infosets, by the other player's sequence."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from spiel_dl.tree.numbering import NumberedHistories


def decision_visits(tree: NumberedHistories, player: int) -> scipy.sparse.csr_array:
    """Chance's reach summed over the histories of each pair of infoset and opponent sequence.

    Times the opponent's realization plan, that is the counterfactual reach of the infosets.

    Args:
      tree: the compiled game.
      player: whose decision infosets.

    Returns:
      Float64 [I_p, S_-p], sparse, without explicit zeros.
    """
    acting = np.flatnonzero(tree.player == player)
    coordinates = (tree.infoset[acting], tree.sequence[1 - player, acting])
    shape = (tree.num_infosets(player), tree.treeplexes[1 - player].num_sequences)
    visits = scipy.sparse.coo_array((tree.chance_reach[acting], coordinates), shape=shape).tocsr()
    visits.sum_duplicates()
    visits.eliminate_zeros()
    return visits
