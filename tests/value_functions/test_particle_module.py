"""The blocks of a particle network by hand, and samples of sparse beliefs."""

import numpy as np
import torch

from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes
from spiel_dl.value_functions.particle_samples import SparseSample, join_samples
from tests.particle_networks import SMALL


def test_values_by_hand():
    """Base b = 2 f, context c = sum of beliefs * b, regressed y = 3 c + 5 g, value y b / 1."""
    # One feature and one public feature; every block is a linear layer.
    module = ParticleModule(ParticleSizes(1, 1, 1, 1, 1), num_features=1, num_public=1)
    with torch.no_grad():
        module.change_basis[0].weight.fill_(2)
        module.regression[0].weight.copy_(torch.tensor([[3.0, 5.0]]))
    batch = ParticleBatch(
        features=torch.tensor([[1.0], [-2.0], [4.0]]),
        infostate=torch.tensor([[0, 1], [2, 2]]),
        belief=torch.tensor([[0.5, 0.25], [1.0, 0.0]]),
        public=torch.tensor([[1.0], [-1.0]]),
    )
    # Contexts 0.5 * 2 - 0.25 * 4 = 0 and 8; regressed 5 and 19; bases (2, -4) and (8, 8).
    expected = torch.tensor([[10.0, -20.0], [152.0, 152.0]])
    torch.testing.assert_close(module(batch), expected)


def test_samples_give_back_the_features_that_they_keep():
    generator = np.random.default_rng(8)
    numbers = np.ones(6, np.float32)
    for features in (
        generator.integers(2, size=(6, 11)).astype(np.float32),
        generator.random((6, 11), np.float32),
        generator.integers(3, size=(6, 11)).astype(np.float32),
    ):
        found = SparseSample(numbers, features, numbers, numbers, numbers).features
        np.testing.assert_array_equal(found, features)
        assert found.dtype == np.float32


def test_joined_samples_do_not_see_each_other():
    module = ParticleModule(SMALL, 5, 3)
    generator = np.random.default_rng(8)
    samples = [
        SparseSample(*(generator.random(s, np.float32) for s in ((3,), (size, 5), *[(size,)] * 3)))
        for size in (4, 1, 7)
    ]
    inputs, targets, weights = join_samples(samples)
    is_entry = weights == 1
    assert is_entry.sum(dim=1).tolist() == [4, 1, 7]
    assert (weights[~is_entry] == 0).all()
    values = module(inputs)
    for row, sample in enumerate(samples):
        alone = module(join_samples([sample])[0])[0]
        torch.testing.assert_close(values[row][is_entry[row]], alone)
        np.testing.assert_array_equal(targets[row][is_entry[row]], sample.cfv)


def test_infosets_count_by_their_reach_for_a_conditional_network():
    numbers = np.ones(3, np.float32)
    reach, cfv = np.array([0.5, 0, 0.25], np.float32), np.array([0.25, 0, -0.25], np.float32)
    sample = SparseSample(numbers, numbers[:, None], numbers, reach, cfv)
    longer = SparseSample(numbers, np.ones((4, 1), np.float32), *np.ones((3, 4), np.float32))
    _, targets, weights = join_samples([sample, longer], conditional=True)
    np.testing.assert_array_equal(weights, [[2, 0, 1, 0], [1] * 4])
    np.testing.assert_array_equal(targets, [[0.5, 0, -1, 0], [1] * 4])
