"""Behaviour strategies on a treeplex: from realization plans, and held to their definition."""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex


def behaviour_strategy(treeplex: Treeplex, plan: np.ndarray) -> np.ndarray:
    """The behaviour strategy of a realization plan, or of a sum of them.

    Args:
      treeplex: the player's strategy space.
      plan: float64 [S], nonnegative.

    Returns:
      float64 [S], 1 at root sequences, uniform in infosets without weight.
    """
    strategy = treeplex.uniform_strategy()
    reach = np.repeat(treeplex.sum_per_infoset(plan), treeplex.num_actions)
    below = slice(treeplex.num_root_sequences, None)
    np.divide(plan[below], reach, out=strategy[below], where=reach > 0)
    return strategy


def check_strategy(treeplex: Treeplex, strategy: np.ndarray, infosets: np.ndarray) -> None:
    """Holds a behaviour strategy (float64 [S]) to its definition at some infosets (bool [I]).

    Raises:
      ValueError: if the shape is wrong, or probabilities are negative or do not sum to 1.
    """
    if strategy.shape != (treeplex.num_sequences,):
        raise ValueError(
            f"a strategy must have one number per sequence, {treeplex.num_sequences}; got the "
            f"shape {strategy.shape}"
        )
    sums = treeplex.sum_per_infoset(strategy)
    lowest = np.minimum.reduceat(strategy, treeplex.first_sequence) if len(sums) else sums
    wrong = infosets & ~((np.abs(sums - 1.0) < 1e-6) & (lowest >= 0.0))
    if wrong.any():
        infoset = int(wrong.argmax())
        raise ValueError(
            f"the probabilities of infoset {infoset}, {strategy[treeplex.sequences(infoset)]}, are "
            "not a distribution"
        )
