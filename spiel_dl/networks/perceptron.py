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

from spiel_dl.networks.sparse_rows import CPU_BLOCK, Inputs, SparseRows, listed

# Untrained policies are then nearly uniform, untrained values small.
_OUTPUT_SCALE = 0.1
# So many rows are multiplied at a time on a GPU: products over more rows may ask its library for
# memory, which must not happen while a CUDA graph is captured.
_BLOCK = 2**16
# Products of so many columns at a time are several times as fast as those of a few less.
_COLUMNS = 16


class Layer(NamedTuple):
    """A layer's parameters.

    Attributes:
      bias: float32 [1, outputs].
      weight: float32 [inputs, outputs].
      both: the weights, and below them the biases: float32 [inputs + 1, outputs].
    """

    bias: torch.Tensor
    weight: torch.Tensor
    both: torch.Tensor

    @staticmethod
    def of(both: torch.Tensor) -> Layer:
        """The layer of its weights and biases."""
        return Layer(both[-1:], both[:-1], both)


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
        """What the last layer says; its derivatives are those of `answer`.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          inputs: float32 [N, inputs], as they are or listed.

        Returns:
          Float32 [N, outputs], or [K, N, outputs].
        """
        parameters = parameters.detach()
        if parameters.dim() == 2:
            return torch.stack([self.outputs(row, inputs) for row in parameters])
        return evaluate(self.padded_layers(parameters), inputs)[:, : self.sizes[-1]]

    def answer(self, parameters: torch.Tensor, inputs: Inputs) -> Answer:
        """The same with what a gradient depends on.

        Args:
          parameters: float32 [P], not to be changed until the gradient is asked for.
          inputs: float32 [N, inputs]; they are listed if that saves time.
        """
        parameters = parameters.detach()
        inputs = listed(inputs) if isinstance(inputs, torch.Tensor) else inputs
        layers, units = self.padded_layers(parameters), list[torch.Tensor]()
        outputs = evaluate(layers, inputs, units)[:, : self.sizes[-1]]
        return Answer(outputs, self, layers, inputs, units)

    def padded_layers(self, parameters: torch.Tensor) -> list[Layer]:
        """The layers to `evaluate`: the last one says zeros, too, so that it is multiplied fast."""
        *layers, last = self.split_layers(parameters)
        missing = -self.sizes[-1] % _COLUMNS
        return [*layers, Layer.of(torch.nn.functional.pad(last.both, (0, missing)))]

    def split_layers(self, parameters: torch.Tensor) -> list[Layer]:
        """The layers of parameters, float32 [P]."""
        pieces = zip(parameters.split(self._lengths()), self.sizes[1:], strict=True)
        return [Layer.of(piece.view(-1, outputs)) for piece, outputs in pieces]

    def _lengths(self) -> list[int]:
        """The lengths of the layers, each with its biases behind its weights."""
        pairs = itertools.pairwise(self.sizes)
        return [(inputs + 1) * outputs for inputs, outputs in pairs]


class Answer(NamedTuple):
    """What a network says, and what its gradient depends on.

    Attributes:
      outputs: float32 [N, outputs].
      network: the network.
      layers: its layers, as `padded_layers` has them.
      inputs: float32 [N, inputs], as they are or listed.
      units: what came out of each hidden layer, float32 [N, units].
    """

    outputs: torch.Tensor
    network: Perceptron
    layers: Sequence[Layer]
    inputs: Inputs
    units: list[torch.Tensor]

    def gradient(self, of_outputs: torch.Tensor) -> torch.Tensor:
        """The gradient of the parameters, float32 [P], of that of the outputs."""
        whole = of_outputs.new_zeros(self.network.num_parameters)
        places = self.network.split_layers(whole)
        before = zip(*map(_blocks, [self.inputs, *self.units]), strict=True)
        last = len(places) - 1
        for gradient, shown in zip(_split(of_outputs), before, strict=True):
            for index in range(last, -1, -1):
                place, units = places[index], shown[index]
                if isinstance(units, SparseRows):
                    place.both.add_(units.transposed_times(gradient))
                    break
                place.bias.add_(gradient.sum(dim=0))
                if index == last:
                    # The other way round, a few columns too many or too few would cost much.
                    place.weight.add_((gradient.t() @ units).t())
                else:
                    place.weight.addmm_(units.t(), gradient)
                if index:
                    weight = self.layers[index].weight[:, : gradient.shape[1]]
                    gradient = gradient @ weight.t()
                    gradient = torch.ops.aten.threshold_backward(gradient, units, 0)
        return whole


def evaluate(
    layers: Sequence[Layer], inputs: Inputs, units: list[torch.Tensor] | None = None
) -> torch.Tensor:
    """What the last of some layers says.

    Args:
      layers: the layers.
      inputs: float32 [N, inputs], as they are or listed.
      units: to it is added what comes out of each hidden layer, float32 [N, units].

    Returns:
      Float32 [N, outputs].
    """
    found = []
    for rows in _blocks(inputs):
        *hidden, outputs = _evaluate_block(layers, rows)
        # What is not kept is in the cache still when the next block needs room.
        found.append([outputs] if units is None else [*hidden, outputs])
    if len(found) > 1:
        found = [[torch.cat(pieces) for pieces in zip(*found, strict=True)]]
    *hidden, outputs = found[0]
    if units is not None:
        units += hidden
    return outputs


def _evaluate_block(layers: Sequence[Layer], rows: Inputs) -> list[torch.Tensor]:
    """What comes out of each layer."""
    found: list[torch.Tensor] = []
    for layer in layers:
        if isinstance(rows, SparseRows):
            rows = rows.times(layer.both)
        else:
            rows = torch.addmm(layer.bias, rows.relu_() if found else rows, layer.weight)
        found.append(rows)
    return found


def _blocks(rows: Inputs) -> Sequence[Inputs]:
    return rows.blocks if isinstance(rows, SparseRows) else _split(rows)


def _split(rows: torch.Tensor) -> Sequence[torch.Tensor]:
    size = CPU_BLOCK if rows.is_cpu else _BLOCK
    # Torch takes its time to split what is in one piece.
    blocks: Sequence[torch.Tensor] = rows.split(size) if len(rows) > size else [rows]
    return blocks
