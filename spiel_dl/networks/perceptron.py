"""Multilayer perceptrons whose parameters are one flat vector.

An optimizer, an average, a copy or a checkpoint then takes one operation.
"""

from __future__ import annotations

import abc
import itertools
import math

import torch

from spiel_dl.networks.growing_inputs import GrowingInputs

Inputs = torch.Tensor | GrowingInputs
"""Rows of inputs: float32 [N, inputs], or the same as lists of ones."""

# Untrained policies are then nearly uniform, untrained values small.
_OUTPUT_SCALE = 0.1
# So many rows are multiplied at a time. A product over more rows may ask a GPU's library for a
# workspace, which must not happen while a CUDA graph is captured.
_BLOCK = 2**16


class Perceptron(abc.ABC):
    """A multilayer perceptron with ReLU between its layers; it holds no parameters."""

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs, of each hidden layer's units, and of outputs."""

    @property
    def num_parameters(self) -> int:
        """P, the length of the vector of parameters."""
        return sum(self._lengths())

    def initial_parameters(self, seed: int) -> torch.Tensor:
        """Parameters to start from: float32 [P], the same for every device.

        Weights are He-uniform, those of the last layer a tenth of it; biases are 0.
        """
        generator = torch.Generator().manual_seed(seed)
        pieces = []
        for inputs, outputs in itertools.pairwise(self.sizes):
            bound = math.sqrt(6.0 / inputs)
            weights = torch.empty(inputs * outputs).uniform_(-bound, bound, generator=generator)
            pieces += [weights, torch.zeros(outputs)]
        pieces[-2] *= _OUTPUT_SCALE
        return torch.cat(pieces)

    def outputs(self, parameters: torch.Tensor, inputs: Inputs) -> torch.Tensor:
        """What the last layer says.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          inputs: N rows.

        Returns:
          Float32 [N, outputs], or [K, N, outputs].
        """
        if parameters.dim() == 2:
            return torch.stack([self.outputs(row, inputs) for row in parameters])
        layers = self.split_layers(parameters)
        if isinstance(inputs, GrowingInputs):
            (bias, weight), *later = layers
            return _later_layers(inputs.first_layer(weight, bias), later)
        if len(inputs) <= _BLOCK:
            return _all_layers(inputs, layers)
        return torch.cat([_all_layers(block, layers) for block in inputs.split(_BLOCK)])

    def split_layers(self, parameters: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Each layer's biases, float32 [1, outputs], and weights, [inputs, outputs]."""
        pieces = parameters.split(self._lengths())
        shapes = itertools.pairwise(self.sizes)
        return [
            (bias.unsqueeze(0), weight.view(shape))
            for weight, bias, shape in zip(pieces[::2], pieces[1::2], shapes, strict=True)
        ]

    def _lengths(self) -> list[int]:
        """The lengths of the weights and biases of all layers, in turn."""
        pairs = itertools.pairwise(self.sizes)
        return [length for inputs, outputs in pairs for length in (inputs * outputs, outputs)]


def _all_layers(
    inputs: torch.Tensor, layers: list[tuple[torch.Tensor, torch.Tensor]]
) -> torch.Tensor:
    (bias, weight), *later = layers
    return _later_layers(torch.addmm(bias, inputs, weight), later)


def _later_layers(
    units: torch.Tensor, layers: list[tuple[torch.Tensor, torch.Tensor]]
) -> torch.Tensor:
    for bias, weight in layers:
        units = torch.addmm(bias, units.relu(), weight)
    return units
