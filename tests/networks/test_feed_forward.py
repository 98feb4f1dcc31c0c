"""Feed-forward blocks: their layers and first parameters."""

import math

import pytest
import torch

from spiel_dl.networks.feed_forward import feed_forward


def make(*sizes, seed=0, **settings):
    return feed_forward(sizes, torch.Generator().manual_seed(seed), **settings)


def test_relu_stands_between_layers_and_not_behind_the_last():
    kinds = [type(module).__name__ for module in make(4, 8, 8, 2)]
    assert kinds == ["Linear", "ReLU", "Linear", "ReLU", "Linear"]
    assert [type(module).__name__ for module in make(4, 2)] == ["Linear"]
    kinds = [type(module).__name__ for module in make(4, 8, 2, layer_norm=True)]
    assert kinds == ["Linear", "ReLU", "LayerNorm", "Linear"]


def test_parameters_are_he_uniform_and_the_last_weights_scaled():
    module = make(100, 200, 50, output_scale=0.25)
    for layer, scale in ((module[0], 1.0), (module[2], 0.25)):
        bound = scale * math.sqrt(6 / layer.in_features)
        assert 0.99 * bound < layer.weight.abs().max() <= bound
        assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)
        assert not layer.bias.any()
