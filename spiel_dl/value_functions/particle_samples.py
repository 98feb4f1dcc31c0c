"""Samples for training a `ParticleNetwork` that come one by one as a game goes on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.value_functions.particle_module import ParticleBatch


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
) -> tuple[ParticleBatch, torch.Tensor, torch.Tensor]:
    """A batch of n samples of up to Q infosets, as a network learns that is conditional or not.

    Returns:
      The batch; targets, float32 [n, Q]; and by how much an error counts, float32 [n, Q], 0 where
      there is no infoset. For a conditional network that is the counterfactual reach, divided by
      its mean in the sample: the fewer histories an infoset's value is the mean of, the less it
      says about other histories.
    """
    sizes = np.array([len(sample.belief) for sample in samples])
    is_entry = np.arange(sizes.max()) < sizes[:, None]
    infostate = np.zeros(is_entry.shape, np.int64)
    infostate[is_entry] = np.arange(sizes.sum())
    belief, reach, targets = np.zeros((3, *is_entry.shape), np.float32)
    belief[is_entry] = np.concatenate([sample.belief for sample in samples])
    targets[is_entry] = np.concatenate([sample.cfv for sample in samples])
    weights = is_entry.astype(np.float32)
    if conditional:
        reach[is_entry] = np.concatenate([sample.reach for sample in samples])
        np.divide(targets, reach, out=targets, where=reach > 0)
        weights = reach / (reach.sum(axis=1) / sizes)[:, None]
    features = np.concatenate([sample.features for sample in samples])
    public = np.stack([sample.public for sample in samples])
    inputs = ParticleBatch(
        *(torch.from_numpy(a).to(device) for a in (features, infostate, belief, public))
    )
    return inputs, torch.from_numpy(targets).to(device), torch.from_numpy(weights).to(device)
