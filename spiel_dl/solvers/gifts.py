"""Gifts: an opponent's losses by mistakes, which `gadgets.reach_max_margin` may give back."""

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
    """How much an opponent's cfvs may rise at leaf infosets without raising those at the roots.

    The cfv of an action may rise to the best one of its infoset, plus the infoset's own possible
    rise, without an effect above. This rise is split among the infosets that may follow the action,
    in proportion to their weights, because only the sum of their rises is bounded. Brown and
    Sandholm (2017) reduce gifts when other subgames change. Here they do not depend on other
    subgames, because they are relative to the cfvs given for this trunk, not to those after
    resolving.

    Args:
      treeplex: the opponent's strategy space in the trunk.
      cfv: float64 [S], its best-response cfv of each sequence, the infosets behind it included.
      root_gifts: float64 [num_root_sequences], how much cfvs may rise at the roots.
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
    # Gifts per unit of weight; those of sequences without weight are not used.
    rate = np.zeros(treeplex.num_sequences)
    roots = slice(0, treeplex.num_root_sequences)
    np.divide(root_gifts, weight[roots], out=rate[roots], where=weight[roots] > 0)
    for infoset in range(treeplex.num_infosets):
        sequences = treeplex.sequences(infoset)
        rise = rate[treeplex.parent_sequence[infoset]] * infoset_weight[infoset]
        gifts = rise + cfv[sequences].max() - cfv[sequences]
        np.divide(gifts, weight[sequences], out=rate[sequences], where=weight[sequences] > 0)
    return rate[leaf_sequences] * leaf_weights
