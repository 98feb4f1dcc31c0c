"""Multilayer perceptrons whose parameters are one flat vector.

An optimizer, an average, a copy or a checkpoint then takes one operation, and several networks of
one architecture are the rows of a matrix, evaluated together.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable

import torch

from spiel_dl.networks import growing_perceptron
from spiel_dl.networks.growing_perceptron import Answer, Inputs
from spiel_dl.networks.listed_inputs import ListedInputs

# Untrained policies are then nearly uniform, untrained values small.
_OUTPUT_SCALE = 0.1


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

    def outputs(self, parameters: torch.Tensor, inputs: torch.Tensor | Inputs) -> torch.Tensor:
        """What the last layer says.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          inputs: float32 [N, inputs], or the same as lists.

        Returns:
          Float32 [N, outputs], or [K, N, outputs].
        """
        if isinstance(inputs, torch.Tensor):
            return self.with_parameters(parameters)(inputs)
        return growing_perceptron.outputs(parameters, inputs, self.sizes)

    def answer(self, parameters: torch.Tensor, inputs: torch.Tensor | Inputs) -> Answer:
        """The same with what a gradient needs, without autograd; on a CPU.

        Args:
          parameters: float32 [P].
          inputs: as above.
        """
        if isinstance(inputs, torch.Tensor):
            inputs = ListedInputs.of(inputs)
        return growing_perceptron.answer(parameters.detach(), inputs, self.sizes)

    def with_parameters(self, parameters: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        """`outputs` of these parameters, for many calls on few rows each."""
        is_stacked = parameters.dim() == 2
        multiply = torch.baddbmm if is_stacked else torch.addmm
        layers = self.split_layers(parameters)

        def outputs(inputs: torch.Tensor) -> torch.Tensor:
            units = inputs.expand(len(parameters), -1, -1) if is_stacked else inputs
            units = multiply(layers[0][0], units, layers[0][1])
            for bias, weight in layers[1:]:
                units = multiply(bias, units.relu(), weight)
            return units

        return outputs

    def split_layers(self, parameters: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Each layer's biases, float32 [..., 1, outputs], and weights, [..., inputs, outputs]."""
        pieces = parameters.split(self._lengths(), dim=-1)
        shapes = itertools.pairwise(self.sizes)
        return [
            (bias.unsqueeze(-2), weight.view(*weight.shape[:-1], *shape))
            for weight, bias, shape in zip(pieces[::2], pieces[1::2], shapes, strict=True)
        ]

    def _lengths(self) -> list[int]:
        """The lengths of the weights and biases of all layers, in turn."""
        pairs = itertools.pairwise(self.sizes)
        return [length for inputs, outputs in pairs for length in (inputs * outputs, outputs)]
