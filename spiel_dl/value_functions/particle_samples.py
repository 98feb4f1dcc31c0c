"""Samples for training a `ParticleNetwork` that come one by one as a game goes on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.value_functions.particle_module import ParticleBatch
from spiel_dl.value_functions.samples import Batch


class SparseSample:
    """A sparse belief in one public state, and the values there.

    Attributes:
      public: float32 [G], public features.
      belief: float32 [K], summing to 1 for each player.
      reach: float32 [K], counterfactual reach at this belief.
      cfv: float32 [K], values at this belief, each in its player's utility.
    """

    def __init__(
        self,
        public: np.ndarray,
        features: np.ndarray,
        belief: np.ndarray,
        reach: np.ndarray,
        cfv: np.ndarray,
    ):
        """Keeps arrays as above, and `features`, float32 [K, F], of both players' infostates."""
        self.public, self.belief, self.reach, self.cfv = public, belief, reach, cfv
        self._num_features = features.shape[1]
        # Thousands of samples are kept, of thousands of infostates with hundreds of features each;
        # those of the rules' tensors are bits.
        are_bits = bool(((features == 0) | (features == 1)).all())
        self._features = np.packbits(features != 0, axis=1) if are_bits else features

    @property
    def features(self) -> np.ndarray:
        """Features of both players' infostates: float32 [K, F]."""
        if self._features.dtype != np.uint8:
            return self._features
        bits = np.unpackbits(self._features, axis=1, count=self._num_features)
        return bits.astype(np.float32)


def join_samples(
    samples: Sequence[SparseSample],
    device: torch.device | str = "cpu",
    *,
    conditional: bool = False,
) -> Batch:
    """A batch of samples of any sizes, as a network learns that is conditional or not."""
    sizes = np.array([len(sample.belief) for sample in samples])
    is_entry = np.arange(sizes.max()) < sizes[:, None]
    infostate = np.zeros(is_entry.shape, np.int64)
    infostate[is_entry] = np.arange(sizes.sum())
    belief, reach, targets = np.zeros((3, *is_entry.shape), np.float32)
    belief[is_entry] = np.concatenate([sample.belief for sample in samples])
    targets[is_entry] = np.concatenate([sample.cfv for sample in samples])
    if conditional:
        reach[is_entry] = np.concatenate([sample.reach for sample in samples])
        is_entry = reach > 0
        targets[is_entry] /= reach[is_entry]
    features = np.concatenate([sample.features for sample in samples])
    public = np.stack([sample.public for sample in samples])
    inputs = ParticleBatch(
        *(torch.from_numpy(a).to(device) for a in (features, infostate, belief, public))
    )
    return inputs, torch.from_numpy(targets).to(device), torch.from_numpy(is_entry).to(device)
