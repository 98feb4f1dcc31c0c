"""Multilayer perceptrons whose parameters are one flat vector.

So an optimizer step, an average, a copy or a checkpoint takes one operation.
"""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from spiel_dl.networks.sparse_rows import CPU_BLOCK, Inputs, SparseRows, to_sparse

# With it, untrained policies are nearly uniform, and untrained values small.
_OUTPUT_SCALE = 0.1
# Rows per product on a GPU: with more, its library may allocate memory, which must not happen while
# a CUDA graph is captured.
_BLOCK = 2**16
# Products with a multiple of so many columns are several times as fast as with a few less.
_COLUMNS = 16


class Layer(NamedTuple):
    """A layer's parameters.

    Attributes:
      bias: float32 [1, outputs].
      weight: float32 [inputs, outputs].
      weight_and_bias: the weights, and below them the biases: float32 [inputs + 1, outputs].
    """

    bias: torch.Tensor
    weight: torch.Tensor
    weight_and_bias: torch.Tensor

    @staticmethod
    def of(weight_and_bias: torch.Tensor) -> Layer:
        """The layer with these weights and biases."""
        return Layer(weight_and_bias[-1:], weight_and_bias[:-1], weight_and_bias)


class Perceptron(abc.ABC):
    """A multilayer perceptron with ReLU between its layers; it holds no parameters."""

    def __post_init__(self) -> None:
        if min(self.sizes) < 1:
            raise ValueError(f"{self} has an empty layer; all must be positive")

    @property
    @abc.abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs, of each hidden layer's units, and of outputs."""

    @property
    def num_parameters(self) -> int:
        """P, the length of the vector of parameters."""
        return sum(self._lengths())

    def initial_parameters(self, seed: int) -> torch.Tensor:
        """Initial parameters: float32 [P], the same for every device.

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
        """The outputs, without what a gradient needs; see `forward_pass`.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          inputs: float32 [N, inputs], dense or sparse.

        Returns:
          Float32 [N, outputs], or [K, N, outputs].
        """
        parameters = parameters.detach()
        if parameters.dim() == 1:
            return evaluate(self.padded_layers(parameters), inputs)[:, : self.sizes[-1]]
        networks = [self.padded_layers(row) for row in parameters]
        outputs = parameters.new_empty((len(networks), len(inputs), len(networks[0][-1].bias[0])))
        for layers, buffer in zip(networks, outputs, strict=True):
            evaluate(layers, inputs, [*[None] * (len(layers) - 1), buffer])
        return outputs[..., : self.sizes[-1]]

    def forward_pass(self, parameters: torch.Tensor, inputs: Inputs) -> ForwardPass:
        """The outputs, and all that their gradient needs.

        Args:
          parameters: float32 [P], not to be changed until the gradient is computed.
          inputs: float32 [N, inputs]; made sparse if that saves time.
        """
        parameters = parameters.detach()
        inputs = to_sparse(inputs) if isinstance(inputs, torch.Tensor) else inputs
        layers = self.padded_layers(parameters)
        *activations, outputs = buffers = output_buffers(layers, len(inputs))
        evaluate(layers, inputs, buffers)
        return ForwardPass(outputs[:, : self.sizes[-1]], self, layers, inputs, activations)

    def padded_layers(self, parameters: torch.Tensor) -> list[Layer]:
        """Layers for `evaluate`; the last has outputs of 0 added, so that its product is fast."""
        *layers, last = self.split_layers(parameters)
        missing = -self.sizes[-1] % _COLUMNS
        return [*layers, Layer.of(torch.nn.functional.pad(last.weight_and_bias, (0, missing)))]

    def split_layers(self, parameters: torch.Tensor) -> list[Layer]:
        """Splits parameters, float32 [P], into layers, which are views of them."""
        pieces = zip(parameters.split(self._lengths()), self.sizes[1:], strict=True)
        return [Layer.of(piece.view(-1, outputs)) for piece, outputs in pieces]

    def _lengths(self) -> list[int]:
        """The number of parameters of each layer; its biases follow its weights."""
        pairs = itertools.pairwise(self.sizes)
        return [(inputs + 1) * outputs for inputs, outputs in pairs]


class ForwardPass(NamedTuple):
    """The outputs of a network, and all that their gradient needs.

    Attributes:
      outputs: float32 [N, outputs].
      network: the network.
      layers: its `padded_layers`.
      inputs: float32 [N, inputs], dense or sparse.
      activations: the output of each hidden layer, float32 [N, units].
    """

    outputs: torch.Tensor
    network: Perceptron
    layers: Sequence[Layer]
    inputs: Inputs
    activations: list[torch.Tensor]

    def gradient(self, output_gradient: torch.Tensor) -> torch.Tensor:
        """Backpropagates: float32 [P], from the gradient by the outputs, float32 [N, outputs]."""
        parameter_gradient = output_gradient.new_zeros(self.network.num_parameters)
        layer_gradients = self.network.split_layers(parameter_gradient)
        blocks = zip(*map(_blocks, [self.inputs, *self.activations]), strict=True)
        last = len(layer_gradients) - 1
        for gradient, layer_inputs in zip(_split(output_gradient), blocks, strict=True):
            for index in range(last, -1, -1):
                of_layer, inputs = layer_gradients[index], layer_inputs[index]
                if isinstance(inputs, SparseRows):
                    of_layer.weight_and_bias.add_(inputs.transposed_times(gradient))
                    break
                of_layer.bias.add_(gradient.sum(dim=0))
                if index == last:
                    # Without the transposition, a few columns too many or too few would cost much.
                    of_layer.weight.add_((gradient.t() @ inputs).t())
                else:
                    of_layer.weight.addmm_(inputs.t(), gradient)
                if index:
                    weight = self.layers[index].weight[:, : gradient.shape[1]]
                    gradient = gradient @ weight.t()
                    gradient = torch.ops.aten.threshold_backward(gradient, inputs, 0)
        return parameter_gradient


def output_buffers(layers: Sequence[Layer], num_rows: int) -> list[torch.Tensor]:
    """Uninitialised tensors for the outputs of each layer: float32 [num_rows, units]."""
    return [layer.bias.new_empty((num_rows, layer.bias.shape[1])) for layer in layers]


def evaluate(
    layers: Sequence[Layer], inputs: Inputs, buffers: Sequence[torch.Tensor | None] = ()
) -> torch.Tensor:
    """Evaluates layers, with ReLU between them.

    Args:
      layers: the layers.
      inputs: float32 [N, inputs], dense or sparse.
      buffers: where to write each layer's outputs, float32 [N, units], those of hidden layers after
        their ReLU; None: nowhere. Default: a new tensor for the last layer alone.

    Returns:
      The last layer's outputs, float32 [N, outputs].
    """
    hidden = [None] * (len(layers) - 1)
    *others, outputs = buffers or [*hidden, *output_buffers(layers[-1:], len(inputs))]
    assert outputs is not None
    blocks, end = _blocks(inputs), 0
    for rows in blocks:
        begin, end = end, end + len(rows)
        for index, (layer, buffer) in enumerate(zip(layers, [*others, outputs], strict=True)):
            # Without a buffer, a block's outputs get memory that is still in the cache.
            out = buffer if buffer is None or len(blocks) == 1 else buffer[begin:end]
            if not isinstance(rows, SparseRows):
                before = rows.relu_() if index else rows
                rows = torch.addmm(layer.bias, before, layer.weight, out=out)
            elif out is None:
                rows = rows.times(layer.weight_and_bias)
            else:
                rows = out.copy_(rows.times(layer.weight_and_bias))
    return outputs


def _blocks(rows: Inputs) -> Sequence[Inputs]:
    return rows.blocks if isinstance(rows, SparseRows) else _split(rows)


def _split(rows: torch.Tensor) -> Sequence[torch.Tensor]:
    size = CPU_BLOCK if rows.is_cpu else _BLOCK
    # Splitting takes time even where there is one block.
    blocks: Sequence[torch.Tensor] = rows.split(size) if rows.shape[0] > size else [rows]
    return blocks
