"""Numbers of samples, and the masses of the player who is not asked."""

import numpy as np
import pytest
import torch

from spiel_dl.value_functions.samples import Samples
from tests.value_functions.datasets import KUHN, make


class PlainSamples(Samples):
    """A sample is a strategy and a leaf public state."""

    def batch(self, samples):
        strategies, states = self._split(samples)
        return torch.stack([strategies, states]), strategies, states

    def opponent_masses(self, samples):
        return self._masses[self._split(samples)]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    return make(tmp_path_factory.mktemp("data"), KUHN)[0]


def test_samples_are_numbered_strategy_by_strategy(dataset):
    samples = PlainSamples(dataset, torch.device("cpu"))
    count = dataset.trunk.leaves.num_public_states
    assert samples.num_states == count
    assert len(samples.numbers(np.arange(3), np.arange(count))) == dataset.num_samples
    numbers = samples.numbers(np.array([2, 0]), np.array([1]))
    assert numbers.tolist() == [2 * count + 1, 1]
    assert samples.batch(numbers)[0].tolist() == [[2, 0], [1, 1]]


def test_masses_are_the_opponents(dataset):
    samples = PlainSamples(dataset, torch.device("cpu"))
    states = np.arange(samples.num_states)
    for strategy in range(3):
        found = samples.opponent_masses(samples.numbers(np.array([strategy]), states))
        np.testing.assert_array_equal(found[:, 0], dataset.masses[1][strategy])
        np.testing.assert_array_equal(found[:, 1], dataset.masses[0][strategy])
