"""Samples for training a `ParticleNetwork` that come one by one as a game goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.value_functions.particle_module import ParticleBatch
from spiel_dl.value_functions.samples import Batch


class SparseSample(NamedTuple):
    """A sparse belief in one public state, and the values there.

    Attributes:
      public: float32 [G], public features.
      features: float32 [K, F], features of both players' infostates.
      belief: float32 [K], summing to 1 for each player.
      cfv: float32 [K], values at this belief, each in its player's utility.
    """

    public: np.ndarray
    features: np.ndarray
    belief: np.ndarray
    cfv: np.ndarray


def join_samples(samples: Sequence[SparseSample], device: torch.device | str = "cpu") -> Batch:
    """A batch of samples of any sizes."""
    sizes = np.array([len(sample.belief) for sample in samples])
    is_entry = np.arange(sizes.max()) < sizes[:, None]
    infostate = np.zeros(is_entry.shape, np.int64)
    infostate[is_entry] = np.arange(sizes.sum())
    belief, cfv = np.zeros((2, *is_entry.shape), np.float32)
    belief[is_entry] = np.concatenate([sample.belief for sample in samples])
    cfv[is_entry] = np.concatenate([sample.cfv for sample in samples])
    features = np.concatenate([sample.features for sample in samples])
    public = np.stack([sample.public for sample in samples])
    inputs = ParticleBatch(
        *(torch.from_numpy(a).to(device) for a in (features, infostate, belief, public))
    )
    return inputs, torch.from_numpy(cfv).to(device), torch.from_numpy(is_entry).to(device)
