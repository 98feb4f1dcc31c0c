"""Samples for training a `ParticleNetwork`: from a dataset, or one by one as a game goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.particle import ParticleNetwork
from spiel_dl.value_functions.particle_module import ParticleBatch

Batch = tuple[ParticleBatch, torch.Tensor, torch.Tensor]
"""Inputs; targets, float32 [n, Q]; and where there is one, bool [n, Q]."""


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


class ParticleSamples:
    """A dataset's samples on a network's device, numbered strategy by strategy.

    Sample i is leaf public state i mod P of trunk strategy i div P.

    Attributes:
      num_states: P.
    """

    def __init__(self, network: ParticleNetwork, dataset: Dataset):
        """Prepares a dataset for a network that is bound to the dataset's leaves."""
        self._tensors = network.tensors
        self.num_states = len(self._tensors.public)
        zeros = np.zeros((dataset.num_strategies, 1), np.float32)
        self._ranges, self._cfvs = (
            torch.from_numpy(np.concatenate([*values, zeros], axis=1)).to(network.device)
            for values in (dataset.ranges, dataset.cfvs)
        )
        self._num_of_player_0 = dataset.ranges[0].shape[1]
        self._masses = torch.from_numpy(np.stack(dataset.masses)).to(network.device)

    def numbers(self, strategies: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Some leaf public states of some trunk strategies: int64 [len(strategies) * len(states)].

        Args:
          strategies: int64 [n], rows of the dataset.
          states: int64 [m], positions of leaf public states.
        """
        return np.add.outer(strategies * self.num_states, states).reshape(-1)

    def batch(self, samples: np.ndarray) -> Batch:
        """What a network learns from, of samples int64 [b]."""
        tensors = self._tensors
        strategies, states = self._split(samples)
        entry, row = tensors.entry[states], strategies[:, None]
        belief, cfv = self._ranges[row, entry], self._cfvs[row, entry]
        inputs = ParticleBatch(
            tensors.features, tensors.infostate[states], belief, tensors.public[states]
        )
        return inputs, cfv, entry < len(tensors.features)

    def opponent_masses(self, samples: np.ndarray) -> torch.Tensor:
        """By what each value must be multiplied to be unnormalised: float32 [b, Q]."""
        strategies, states = self._split(samples)
        masses = self._masses[:, strategies, states][:, :, None]
        is_of_player_0 = self._tensors.entry[states] < self._num_of_player_0
        return torch.where(is_of_player_0, masses[1], masses[0])

    def _split(self, samples: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Strategies and leaf public states, int64 [b] each."""
        strategies, states = np.divmod(samples, self.num_states)
        device = self._ranges.device
        return torch.from_numpy(strategies).to(device), torch.from_numpy(states).to(device)
