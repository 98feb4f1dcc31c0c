"""Gifts: what an opponent gave away by mistakes, which `gadgets.reach_max_margin` may give back."""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex


def gifts_at_leaves(
    treeplex: Treeplex,
    cfv: np.ndarray,
    root_gifts: np.ndarray,
    leaf_sequences: np.ndarray,
    leaf_weights: np.ndarray,
) -> np.ndarray:
    """By how much an opponent's cfvs may rise at leaf infosets without lifting those at the roots.

    An action whose cfv is below the best one's of its infoset may gain the difference before it
    matters. That, and what its infoset may gain itself, is handed down along the action and split
    among the infosets that can come next, in proportion to their weights: they come together, so
    only the sum of their rises is bounded. Brown and Sandholm (2017) bound gifts by what is left
    after other subgames change too. Here nothing in other subgames can shrink a gift, because it is
    measured against the cfvs given for this trunk, not against those after resolving.

    Args:
      treeplex: the opponent's strategy space in the trunk.
      cfv: float64 [S], its best-response cfv of each sequence, what follows included.
      root_gifts: float64 [num_root_sequences], by how much cfvs may rise at the roots.
      leaf_sequences: int32 [L], the sequence from which each leaf infoset hangs.
      leaf_weights: float64 [L], nonnegative: chance's and the player's reach of each leaf infoset.

    Returns:
      float64 [L], nonnegative.
    """
    weight = np.bincount(leaf_sequences, leaf_weights, minlength=treeplex.num_sequences)
    infoset_weight = np.zeros(treeplex.num_infosets)
    for infoset in reversed(range(treeplex.num_infosets)):
        infoset_weight[infoset] = weight[treeplex.sequences(infoset)].max()
        weight[treeplex.parent_sequence[infoset]] += infoset_weight[infoset]
    # Per unit of weight; a sequence without weight leads to no leaf infoset that could use a gift.
    rate = np.zeros(treeplex.num_sequences)
    roots = slice(0, treeplex.num_root_sequences)
    np.divide(root_gifts, weight[roots], out=rate[roots], where=weight[roots] > 0)
    for infoset in range(treeplex.num_infosets):
        own = treeplex.sequences(infoset)
        rise = rate[treeplex.parent_sequence[infoset]] * infoset_weight[infoset]
        gifts = rise + cfv[own].max() - cfv[own]
        np.divide(gifts, weight[own], out=rate[own], where=weight[own] > 0)
    return rate[leaf_sequences] * leaf_weights
