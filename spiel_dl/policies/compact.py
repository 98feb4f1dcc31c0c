"""Strategies in few bytes: where the player's own reach is positive only, in 65,535 levels.

Where its own reach is 0, a player's strategy changes no value. So strategies that seldom mix are
small, however large the game: of phantom tic-tac-toe's 6.4 million sequences of player 0, an
equilibrium may have 5,000.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex

_LEVELS = 65535


def pack(treeplex: Treeplex, strategy: np.ndarray, least: float = 0.0) -> np.ndarray:
    """The levels of the probabilities where the player's own reach is positive: uint16 [n].

    Args:
      treeplex: the player's strategy space.
      strategy: float64 [S].
      least: probabilities below this become 0, except the largest one of each infoset.
    """
    own = np.clip(strategy, 0.0, 1.0)
    largest = np.maximum.reduceat(own, treeplex.first_sequence)
    kept = own >= np.minimum(least, treeplex.per_sequence(largest))
    levels = np.rint(np.where(kept, own, 0.0) * _LEVELS).astype(np.uint16)
    parts = []
    reached = _root_mask(treeplex)
    while reached.any():
        sequences = treeplex.sequences_of(reached[treeplex.parent_sequence])
        parts.append(levels[sequences])
        reached = _mask(treeplex, sequences[levels[sequences] > 0])
    return np.concatenate(parts)


def unpack(treeplex: Treeplex, packed: np.ndarray) -> np.ndarray:
    """The packed strategy, uniform where its player's own reach is 0: float64 [S].

    Raises:
      ValueError: if `packed` is of another strategy space, or damaged.
    """
    strategy = treeplex.uniform_strategy()
    reached, num_used = _root_mask(treeplex), 0
    while reached.any():
        infosets = reached[treeplex.parent_sequence]
        sequences = treeplex.sequences_of(infosets)
        levels = packed[num_used : num_used + len(sequences)].astype(np.float64)
        num_used += len(sequences)
        own = np.zeros(treeplex.num_sequences)
        if len(levels) == len(sequences):
            own[sequences] = levels
        sums = treeplex.sum_per_infoset(own)
        if not (sums[infosets] > 0).all():
            raise ValueError("it ends too early, or nothing is played somewhere")
        strategy[sequences] = levels / treeplex.per_sequence(sums)[sequences]
        reached = _mask(treeplex, sequences[levels > 0])
    if num_used != len(packed):
        raise ValueError(f"it has {len(packed)} numbers, of which {num_used} are used")
    return strategy


def _root_mask(treeplex: Treeplex) -> np.ndarray:
    """The root sequences: bool [S]."""
    return np.arange(treeplex.num_sequences) < treeplex.num_root_sequences


def _mask(treeplex: Treeplex, sequences: np.ndarray) -> np.ndarray:
    """Sequences given by number: bool [S]."""
    mask = np.zeros(treeplex.num_sequences, np.bool_)
    mask[sequences] = True
    return mask
