"""Multilayer perceptrons whose parameters are one flat vector.

An optimizer, an average, a copy or a checkpoint then takes one operation.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

# Untrained policies are then nearly uniform, untrained values small.
_OUTPUT_SCALE = 0.1
# So many rows are multiplied at a time: on a GPU because products over more rows may ask its
# library for memory, which must not happen while a CUDA graph is captured; on a CPU what comes out
# of all layers then stays in the cache.
_BLOCK, _CPU_BLOCK = 2**16, 512
# Products of so many columns at a time are several times as fast as those of a few less.
_COLUMNS = 16

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Each layer's biases, float32 [1, outputs], and weights, [inputs, outputs]."""


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

    def outputs(self, parameters: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        """What the last layer says; its derivatives are those of `answer`.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          inputs: float32 [N, inputs].

        Returns:
          Float32 [N, outputs], or [K, N, outputs].
        """
        parameters = parameters.detach()
        if parameters.dim() == 2:
            return torch.stack([self.outputs(row, inputs) for row in parameters])
        return evaluate(self.padded_layers(parameters), inputs)[:, : self.sizes[-1]]

    def answer(self, parameters: torch.Tensor, inputs: torch.Tensor) -> Answer:
        """The same with what a gradient depends on.

        Args:
          parameters: float32 [P]; the gradient is that of what they are when it is asked for.
          inputs: float32 [N, inputs].
        """
        parameters = parameters.detach()
        units: list[torch.Tensor] = []
        outputs = evaluate(self.padded_layers(parameters), inputs, units)[:, : self.sizes[-1]]
        return Answer(outputs, self, parameters, inputs, units)

    def padded_layers(self, parameters: torch.Tensor) -> Layers:
        """The layers to `evaluate`: the last one says zeros, too, so that it is multiplied fast."""
        *layers, last = self.split_layers(parameters)
        missing = -self.sizes[-1] % _COLUMNS
        bias, weight = (torch.nn.functional.pad(x, (0, missing)) for x in last)
        return [*layers, (bias, weight)]

    def split_layers(self, parameters: torch.Tensor) -> Layers:
        """The layers of parameters, float32 [P]."""
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


class Answer(NamedTuple):
    """What a network says, and what its gradient depends on.

    Attributes:
      outputs: float32 [N, outputs].
      network: the network.
      parameters: float32 [P], its parameters.
      inputs: float32 [N, inputs].
      units: what came out of each hidden layer, float32 [N, units].
    """

    outputs: torch.Tensor
    network: Perceptron
    parameters: torch.Tensor
    inputs: torch.Tensor
    units: list[torch.Tensor]

    def gradient(self, of_outputs: torch.Tensor) -> torch.Tensor:
        """The gradient of the parameters, float32 [P], of that of the outputs."""
        whole = torch.zeros_like(self.parameters)
        layers, places = (self.network.split_layers(x) for x in (self.parameters, whole))
        before, last = [self.inputs, *self.units], len(layers) - 1
        for rows in _blocks(of_outputs):
            gradient = of_outputs[rows]
            for index in range(last, -1, -1):
                (of_bias, of_weight), units = places[index], before[index][rows]
                of_bias += gradient.sum(dim=0)
                if index == last:
                    # The other way round, a few columns too many or too few would cost much.
                    of_weight += (gradient.t() @ units).t()
                else:
                    of_weight.addmm_(units.t(), gradient)
                if index:
                    gradient = gradient @ layers[index][1].t()
                    gradient = torch.ops.aten.threshold_backward(gradient, units, 0)
        return whole


def evaluate(
    layers: Layers, inputs: torch.Tensor, units: list[torch.Tensor] | None = None
) -> torch.Tensor:
    """What the last of some layers says.

    Args:
      layers: the layers.
      inputs: float32 [N, inputs].
      units: to it is added what comes out of each hidden layer, float32 [N, units].

    Returns:
      Float32 [N, outputs].
    """
    blocks = _blocks(inputs)
    if len(blocks) == 1:
        *hidden, outputs = _evaluate_block(layers, inputs, [None] * len(layers))
    else:
        wholes = [inputs.new_empty((len(inputs), weight.shape[1])) for _, weight in layers]
        *hidden, outputs = wholes
        for rows in blocks:
            # What is not to be kept is in the cache still when the next block needs room.
            places = [
                None if units is None and whole is not outputs else whole[rows] for whole in wholes
            ]
            _evaluate_block(layers, inputs[rows], places)
    if units is not None:
        units += hidden
    return outputs


def _evaluate_block(
    layers: Layers, shown: torch.Tensor, places: Sequence[torch.Tensor | None]
) -> list[torch.Tensor]:
    """What comes out of each layer, written to its place if it has one."""
    found: list[torch.Tensor] = []
    for (bias, weight), place in zip(layers, places, strict=True):
        if found:
            shown.relu_()
        shown = torch.addmm(bias, shown, weight, out=place)
        found.append(shown)
    return found


def _blocks(rows: torch.Tensor) -> list[slice]:
    size = _CPU_BLOCK if rows.is_cpu else _BLOCK
    return [slice(begin, begin + size) for begin in range(0, max(len(rows), 1), size)]
