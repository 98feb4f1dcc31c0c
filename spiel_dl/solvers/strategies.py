"""Behaviour strategies on a treeplex: from realization plans, and checks of them."""

from __future__ import annotations

import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.tree.sequence_form import Treeplex


def behaviour_strategy(treeplex: Treeplex, plan: np.ndarray) -> np.ndarray:
    """The behaviour strategy of a realization plan, or of a sum of them.

    Args:
      treeplex: the player's strategy space.
      plan: float64 [S], nonnegative.

    Returns:
      float64 [S], 1 at root sequences, uniform in infosets without weight.
    """
    strategy = np.ones(treeplex.num_sequences)
    kernels.behaviour_strategy(treeplex.arrays, np.ascontiguousarray(plan, np.float64), strategy)
    return strategy


def check_strategy(treeplex: Treeplex, strategy: np.ndarray, infosets: np.ndarray) -> None:
    """Checks the probabilities of a behaviour strategy (float64 [S]) at infosets (bool [I]).

    Raises:
      ValueError: if the shape is wrong, or probabilities are negative or do not sum to 1.
    """
    if strategy.shape != (treeplex.num_sequences,):
        raise ValueError(
            f"a strategy must have one number per sequence, {treeplex.num_sequences}; got the "
            f"shape {strategy.shape}"
        )
    numbers = np.ascontiguousarray(strategy, np.float64)
    infoset = int(kernels.first_wrong_infoset(treeplex.arrays, numbers, infosets))
    if infoset >= 0:
        raise ValueError(
            f"the probabilities of infoset {infoset}, {strategy[treeplex.sequences(infoset)]}, are "
            "not a distribution"
        )
