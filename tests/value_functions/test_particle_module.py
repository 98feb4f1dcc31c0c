"""The blocks of a particle network, by hand and by their shapes."""

import torch

from spiel_dl.value_functions.particle_module import ParticleBatch, ParticleModule, ParticleSizes


def linear_module(base):
    """One feature and one public feature; every block is a linear layer."""
    return ParticleModule(ParticleSizes(base, 1, 1, 1, 1), num_features=1, num_public=1)


def test_values_by_hand():
    """Base b = 2 f, context c = sum of beliefs * b, regressed y = 3 c + 5 g, value y b / 1."""
    module = linear_module(1)
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
