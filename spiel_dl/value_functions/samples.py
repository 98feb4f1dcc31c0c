"""`Samples`: a dataset as a value network's training batches."""

from __future__ import annotations

import abc

import numpy as np
import torch

from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.particle_module import ParticleBatch

Batch = tuple[torch.Tensor | ParticleBatch, torch.Tensor, torch.Tensor]
"""Inputs of a module; targets, float32 [b, Q]; and a mask of those that count, bool [b, Q]."""


class Samples(abc.ABC):
    """A dataset's samples on a network's device, numbered strategy by strategy.

    Sample i is leaf public state i mod P of trunk strategy i div P. Each kind of network has its
    own inputs, see `ValueNetwork.samples`.

    Attributes:
      num_states: P, the number of leaf public states.
    """

    def __init__(self, dataset: Dataset, device: torch.device):
        """Puts the samples of a dataset on a device."""
        self.num_states = dataset.trunk.leaves.num_public_states
        # Each player's values are multiplied by the opponent's mass.
        masses = np.stack([dataset.masses[1], dataset.masses[0]], axis=-1)
        self._masses = torch.from_numpy(masses).to(device)

    def numbers(self, strategies: np.ndarray, states: np.ndarray) -> np.ndarray:
        """The samples of all pairs of these strategies and leaf public states: int64 [n * m].

        Args:
          strategies: int64 [n], rows of the dataset.
          states: int64 [m], positions of leaf public states.
        """
        return np.add.outer(strategies * self.num_states, states).reshape(-1)

    @abc.abstractmethod
    def batch(self, samples: np.ndarray) -> Batch:
        """The batch of samples (int64 [b])."""

    @abc.abstractmethod
    def opponent_masses(self, samples: np.ndarray) -> torch.Tensor:
        """Factors that turn outputs into unnormalised values: float32 [b, Q]."""

    def _split(self, samples: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """The samples' strategies and leaf public states, int64 [b] each."""
        strategies, states = np.divmod(samples, self.num_states)
        device = self._masses.device
        return torch.from_numpy(strategies).to(device), torch.from_numpy(states).to(device)
