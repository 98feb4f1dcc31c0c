"""Perceptrons of flat parameters, against torch's own layers."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import pytest
import torch

from spiel_dl.networks.perceptron import Perceptron


@dataclass(frozen=True)
class Layers(Perceptron):
    """A perceptron of any sizes."""

    layers: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """As given."""
        return self.layers


def torch_module(perceptron: Perceptron, parameters: torch.Tensor) -> torch.nn.Sequential:
    """The same as torch's layers; weights lie in the vector from inputs to outputs."""
    modules: list[torch.nn.Module] = []
    place = 0
    for inputs, outputs in itertools.pairwise(perceptron.sizes):
        layer = torch.nn.utils.skip_init(torch.nn.Linear, inputs, outputs)
        weight = parameters[place : place + inputs * outputs].view(inputs, outputs)
        place += inputs * outputs
        with torch.no_grad():
            layer.weight.copy_(weight.T)
            layer.bias.copy_(parameters[place : place + outputs])
        place += outputs
        modules += [layer, torch.nn.ReLU()]
    assert place == len(parameters)
    return torch.nn.Sequential(*modules[:-1])


@pytest.mark.parametrize("sizes", [(3, 2), (5, 7, 4), (4, 6, 5, 3)])
@pytest.mark.parametrize("num_rows", [9, 1200])
def test_outputs_and_gradients_are_those_of_torchs_layers(
    sizes: tuple[int, ...], num_rows: int
) -> None:
    """Many rows are multiplied block by block."""
    perceptron = Layers(sizes)
    generator = torch.Generator().manual_seed(0)
    parameters = torch.randn(perceptron.num_parameters, generator=generator)
    inputs = torch.randn((num_rows, sizes[0]), generator=generator)
    module = torch_module(perceptron, parameters)
    expected, forward_pass = module(inputs), perceptron.forward_pass(parameters, inputs)
    torch.testing.assert_close(forward_pass.outputs, expected)
    torch.testing.assert_close(perceptron.outputs(parameters, inputs), expected)
    found = forward_pass.gradient(2 * forward_pass.outputs)
    layers = torch.autograd.grad(expected.square().sum(), list(module.parameters()))
    gradients = [(x.T if x.dim() == 2 else x).flatten() for x in layers]
    torch.testing.assert_close(found, torch.cat(gradients), rtol=1e-4, atol=1e-2)


def test_rows_of_a_matrix_are_networks() -> None:
    perceptron = Layers((5, 7, 4))
    parameters = torch.stack([perceptron.initial_parameters(seed) for seed in (1, 2, 3)])
    inputs = torch.randn((6, 5), generator=torch.Generator().manual_seed(1))
    together = perceptron.outputs(parameters, inputs)
    assert together.shape == (3, 6, 4)
    for row, alone in enumerate(parameters):
        torch.testing.assert_close(together[row], perceptron.outputs(alone, inputs))


def test_first_parameters_are_he_uniform_and_follow_from_the_seed() -> None:
    perceptron = Layers((200, 100, 50))
    state = torch.get_rng_state()
    parameters = perceptron.initial_parameters(seed=4)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(parameters, perceptron.initial_parameters(seed=4))
    assert not torch.equal(parameters, perceptron.initial_parameters(seed=5))
    first, bias, last, last_bias = parameters.split([200 * 100, 100, 100 * 50, 50])
    assert not bias.any()
    assert not last_bias.any()
    for weights, bound in ((first, math.sqrt(6 / 200)), (last, 0.1 * math.sqrt(6 / 100))):
        assert 0.99 * bound < weights.abs().max() <= bound
        assert weights.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)
