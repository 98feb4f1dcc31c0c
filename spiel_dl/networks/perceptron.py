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
        if parameters.dim() == 1:
            return evaluate(self.padded_layers(parameters), inputs)[:, : self.sizes[-1]]
        networks = [self.padded_layers(row) for row in parameters]
        found = parameters.new_empty((len(networks), len(inputs), len(networks[0][-1].bias[0])))
        for layers, place in zip(networks, found, strict=True):
            evaluate(layers, inputs, [*[None] * (len(layers) - 1), place])
        return found[..., : self.sizes[-1]]

    def answer(self, parameters: torch.Tensor, inputs: Inputs) -> Answer:
        """The same with what a gradient depends on.

        Args:
          parameters: float32 [P], not to be changed until the gradient is asked for.
          inputs: float32 [N, inputs]; they are listed if that saves time.
        """
        parameters = parameters.detach()
        inputs = listed(inputs) if isinstance(inputs, torch.Tensor) else inputs
        layers = self.padded_layers(parameters)
        *units, outputs = room = room_for(layers, len(inputs))
        evaluate(layers, inputs, room)
        return Answer(outputs[:, : self.sizes[-1]], self, layers, inputs, units)

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


def room_for(layers: Sequence[Layer], num_rows: int) -> list[torch.Tensor]:
    """Room for what comes out of each layer: float32 [num_rows, units]."""
    return [layer.bias.new_empty((num_rows, layer.bias.shape[1])) for layer in layers]


def evaluate(
    layers: Sequence[Layer], inputs: Inputs, room: Sequence[torch.Tensor | None] = ()
) -> torch.Tensor:
    """What the last of some layers says.

    Args:
      layers: the layers.
      inputs: float32 [N, inputs], as they are or listed.
      room: where to write what comes out of each layer, float32 [N, units], of hidden ones after
        their ReLU; None: it is forgotten. Default: the last one alone is kept.

    Returns:
      Float32 [N, outputs].
    """
    hidden = [None] * (len(layers) - 1)
    *others, outputs = room or [*hidden, *room_for(layers[-1:], len(inputs))]
    assert outputs is not None
    blocks, end = _blocks(inputs), 0
    for rows in blocks:
        begin, end = end, end + len(rows)
        for index, (layer, place) in enumerate(zip(layers, [*others, outputs], strict=True)):
            # What is not kept is in the cache still when the next block needs room.
            here = place if place is None or len(blocks) == 1 else place[begin:end]
            if not isinstance(rows, SparseRows):
                before = rows.relu_() if index else rows
                rows = torch.addmm(layer.bias, before, layer.weight, out=here)
            elif here is None:
                rows = rows.times(layer.both)
            else:
                rows = here.copy_(rows.times(layer.both))
    return outputs


def _blocks(rows: Inputs) -> Sequence[Inputs]:
    return rows.blocks if isinstance(rows, SparseRows) else _split(rows)


def _split(rows: torch.Tensor) -> Sequence[torch.Tensor]:
    size = CPU_BLOCK if rows.is_cpu else _BLOCK
    # Torch takes its time to split what is in one piece.
    blocks: Sequence[torch.Tensor] = rows.split(size) if rows.shape[0] > size else [rows]
    return blocks
