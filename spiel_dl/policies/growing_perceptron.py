"""Perceptrons of inputs met in play: forwards and backwards by hand, on one core."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import torch

from spiel_dl.policies.growing_inputs import EvaluatedInputs, GrowingInputs

# Matrix products of a few columns take as long as those of this many.
_LEAST_OUTPUTS = 16


class Layers(NamedTuple):
    """The parameters of one network, layer by layer.

    Attributes:
      weights: float32 [inputs, units] each; those of the last one padded with zeros to
        `num_padded` units.
      biases: float32 [units] each, padded likewise.
    """

    weights: list[torch.Tensor]
    biases: list[torch.Tensor]

    @staticmethod
    def of(parameters: torch.Tensor, sizes: Sequence[int]) -> Layers:
        """Those in a vector, float32 [P], as `Perceptron` arranges them; only the last are copies.

        Args:
          parameters: the vector.
          sizes: the numbers of inputs, of each hidden layer's units, and of outputs.
        """
        weights, biases = [], []
        for weight, bias in _pieces(parameters, sizes):
            weights.append(weight)
            biases.append(bias)
        missing = num_padded(sizes[-1]) - sizes[-1]
        weights[-1] = torch.nn.functional.pad(weights[-1], (0, missing))
        biases[-1] = torch.nn.functional.pad(biases[-1], (0, missing))
        return Layers(weights, biases)

    def after_first(self, units: Sequence[torch.Tensor]) -> None:
        """Writes what comes out of all layers but the first.

        Args:
          units: per layer, float32 [N, units]; the first one's are given.
        """
        last = len(units) - 1
        for layer in range(1, len(units)):
            weight, bias = self.weights[layer], self.biases[layer]
            torch.addmm(bias, units[layer - 1], weight, out=units[layer])
            if layer < last:
                units[layer].relu_()


def num_padded(num_outputs: int) -> int:
    """How many outputs are computed so that this many are computed fast."""
    return -(-num_outputs // _LEAST_OUTPUTS) * _LEAST_OUTPUTS


def outputs(
    parameters: torch.Tensor, inputs: GrowingInputs | EvaluatedInputs, sizes: Sequence[int]
) -> torch.Tensor:
    """As `Perceptron.outputs`.

    Args:
      parameters: float32 [P], or [M, P] of M networks.
      inputs: N rows.
      sizes: the numbers of inputs, of each hidden layer's units, and of outputs.

    Returns:
      Float32 [N, outputs], or [M, N, outputs].
    """
    if parameters.dim() == 2:
        return torch.stack([outputs(row, inputs, sizes) for row in parameters])
    found: torch.Tensor = _Evaluate.apply(parameters, inputs, tuple(sizes))
    return found


class _Evaluate(torch.autograd.Function):
    """`outputs` of one network."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        context,
        parameters: torch.Tensor,
        inputs: GrowingInputs | EvaluatedInputs,
        sizes: tuple[int, ...],
    ) -> torch.Tensor:
        layers = Layers.of(parameters.detach(), sizes)
        if inputs.evaluation is not None and inputs.evaluation.holds(parameters):
            units = inputs.evaluation.units
        else:
            units = [inputs.first_layer(layers.weights[0], layers.biases[0])]
            units += [units[0].new_empty((len(units[0]), len(b))) for b in layers.biases[1:]]
            layers.after_first(units)
        context.inputs, context.layers, context.units, context.sizes = inputs, layers, units, sizes
        return units[-1][:, : sizes[-1]]

    @staticmethod
    def backward(  # type: ignore[no-untyped-def]
        context, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        inputs, layers, units, sizes = (
            context.inputs, context.layers, context.units, context.sizes
        )  # fmt: skip
        lengths = [a * b + b for a, b in itertools.pairwise(sizes)]
        whole = gradient.new_zeros(sum(lengths))
        pieces = list(_pieces(whole, sizes))
        by_units = torch.nn.functional.pad(gradient, (0, num_padded(sizes[-1]) - sizes[-1]))
        for layer in range(len(pieces) - 1, 0, -1):
            of_weight, of_bias = pieces[layer]
            before = units[layer - 1]
            size = len(of_bias)
            of_weight.copy_(torch.mm(before.t(), by_units)[:, :size])
            of_bias.copy_(by_units.sum(dim=0)[:size])
            by_units = torch.mm(by_units, layers.weights[layer].t())
            by_units = torch.ops.aten.threshold_backward(by_units, before, 0)
        of_weight, of_bias = pieces[0]
        inputs.first_layer_back(by_units, of_weight)
        torch.sum(by_units, dim=0, out=of_bias)
        return whole, None, None


def _pieces(
    parameters: torch.Tensor, sizes: Sequence[int]
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Views of the weights and biases of all layers."""
    found, start = [], 0
    for inputs, units in itertools.pairwise(sizes):
        middle, end = start + inputs * units, start + inputs * units + units
        found.append((parameters[start:middle].view(inputs, units), parameters[middle:end]))
        start = end
    return found
