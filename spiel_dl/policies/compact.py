"""Strategies in few bytes: only where their player may come by them, in 65,535 levels.

Where a player itself does not come, what it would play there changes no value. So strategies that
seldom mix are small, however large the game: of phantom tic-tac-toe's 6.4 million sequences of
player 0, an equilibrium may have 5,000.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.sequence_form import Treeplex

_LEVELS = 65535


def pack(treeplex: Treeplex, strategy: np.ndarray, least: float = 0.0) -> np.ndarray:
    """What is played where the player comes: uint16 [n].

    Args:
      treeplex: the player's strategy space.
      strategy: float64 [S].
      least: probabilities below this become 0, but for the largest one of each infoset.
    """
    own = np.clip(strategy, 0.0, 1.0)
    largest = np.maximum.reduceat(own, treeplex.first_sequence)
    kept = own >= np.minimum(least, treeplex.per_sequence(largest))
    levels = np.rint(np.where(kept, own, 0.0) * _LEVELS).astype(np.uint16)
    parts = []
    reached = _roots(treeplex)
    while reached.any():
        sequences = treeplex.sequences_of(reached[treeplex.parent_sequence])
        parts.append(levels[sequences])
        reached = _those_of(treeplex, sequences[levels[sequences] > 0])
    return np.concatenate(parts)


def unpack(treeplex: Treeplex, packed: np.ndarray) -> np.ndarray:
    """The strategy that was packed, uniform where its player does not come: float64 [S].

    Raises:
      ValueError: if it is of another strategy space, or damaged.
    """
    strategy = treeplex.uniform_strategy()
    reached, used = _roots(treeplex), 0
    while reached.any():
        infosets = reached[treeplex.parent_sequence]
        sequences = treeplex.sequences_of(infosets)
        levels = packed[used : used + len(sequences)].astype(np.float64)
        used += len(sequences)
        own = np.zeros(treeplex.num_sequences)
        if len(levels) == len(sequences):
            own[sequences] = levels
        sums = treeplex.sum_per_infoset(own)
        if not (sums[infosets] > 0).all():
            raise ValueError("it ends too early, or nothing is played somewhere")
        strategy[sequences] = levels / treeplex.per_sequence(sums)[sequences]
        reached = _those_of(treeplex, sequences[levels > 0])
    if used != len(packed):
        raise ValueError(f"it has {len(packed)} numbers, of which {used} are used")
    return strategy


def _roots(treeplex: Treeplex) -> np.ndarray:
    """Root sequences: bool [S]."""
    return np.arange(treeplex.num_sequences) < treeplex.num_root_sequences


def _those_of(treeplex: Treeplex, sequences: np.ndarray) -> np.ndarray:
    """Some sequences: bool [S]."""
    chosen = np.zeros(treeplex.num_sequences, np.bool_)
    chosen[sequences] = True
    return chosen
