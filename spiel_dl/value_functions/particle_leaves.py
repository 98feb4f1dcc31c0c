"""A trunk's leaves as a particle network takes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.tree.histories import counts_before, first_occurrence_ids
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.row_hash import RowHash
from spiel_dl.value_functions.particle_features import LeafFeatures


class LeafTensors(NamedTuple):
    """A trunk's leaves as the module takes them, on the network's device.

    U leaf infosets, or some that stand for all that look alike. A row of ranges or values holds
    a number of each, and a 0. Q is the largest number of them in a leaf public state.

    Attributes:
      features: float32 [U, F].
      public: float32 [P, G], features of the leaf public states.
      entry: int64 [P, Q], the place in a row of each infoset of a public state, in order; U, where
        the row is 0, for entries without infoset.
      place: int64 [U], the place of each infoset among the P * Q entries.
    """

    features: torch.Tensor
    public: torch.Tensor
    entry: torch.Tensor
    place: torch.Tensor

    @staticmethod
    def of_infosets(state: np.ndarray, found: LeafFeatures, device: torch.device) -> LeafTensors:
        """Lays out infosets in public states, int64 [U], by their features."""
        within = counts_before(state)
        entry = np.full((len(found.public), within.max() + 1), len(state))
        entry[state, within] = np.arange(len(state))
        place = state * entry.shape[1] + within
        arrays = (found.infostates, found.public, entry, place)
        return LeafTensors(*(torch.from_numpy(array).to(device) for array in arrays))

    @property
    def infostate(self) -> torch.Tensor:
        """As in `ParticleBatch`: int64 [P, Q]."""
        return self.entry.clamp(max=len(self.features) - 1)


class Alike:
    """Leaf infosets that have the same features in the same public state, so that one will do.

    There are many of them with imperfect recall, because features do not show what was forgotten.
    Their beliefs are added up, and their values are the same.

    Attributes:
      first: int64 [U], one of each kind, the first.
    """

    def __init__(self, features: np.ndarray, state: np.ndarray):
        """Compares features (float32 [L, F]) and public states (int64 [L])."""
        bits = np.ascontiguousarray(features).view(np.int32)
        seen = first_occurrence_ids(RowHash(bits.shape[1], seed=0)(bits))[0]
        pairs = seen * (state.max() + 1) + state
        self._kind, self.first = first_occurrence_ids(pairs)

    def sum(self, rows: np.ndarray) -> np.ndarray:
        """Sums rows (float64 [n, L]) over each kind, and puts a 0 behind: float32 [n, U + 1]."""
        size = len(self.first)
        sums = np.zeros((len(rows), size + 1), np.float32)
        if size == rows.shape[1]:
            sums[:, :size] = rows
        else:
            for row, out in zip(rows, sums, strict=True):
                out[:size] = np.bincount(self._kind, row, size)
        return sums

    def spread(self, values: np.ndarray) -> np.ndarray:
        """From values of each kind ([n, U]) to those of all infosets: [n, L]."""
        return values if len(self.first) == len(self._kind) else values.take(self._kind, axis=1)


def public_state_of_infoset(leaves: LeafSet) -> np.ndarray:
    """The leaf public states of both players' infosets: int64 [L_0 + L_1]."""
    return np.concatenate([leaves.public_state_of_infoset(player) for player in (0, 1)])
