"""Perceptrons of inputs met in play: forwards and backwards by hand, on one core."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from spiel_dl.policies import perceptron_kernels
from spiel_dl.policies.growing_inputs import EvaluatedInputs, GrowingInputs
from spiel_dl.policies.matrix_products import num_padded


class Layers(NamedTuple):
    """The parameters of one network, layer by layer.

    Attributes:
      weight: float32 [D, units], that of the first layer, a view.
      bias: float32 [units], the same.
      packed: the weights of the others, with `matrix_products.pack`; padded to `num_padded` units.
      biases: the biases of the others, padded likewise.
    """

    weight: torch.Tensor
    bias: torch.Tensor
    packed: list[torch.Tensor]
    biases: list[torch.Tensor]

    @staticmethod
    def of(parameters: torch.Tensor, sizes: Sequence[int]) -> Layers:
        """Those in a vector, float32 [P], as `Perceptron` arranges them.

        Args:
          parameters: the vector.
          sizes: the numbers of inputs, of each hidden layer's units, and of outputs.
        """
        (inputs, units, first), *others = _pieces(parameters, sizes)
        layers = Layers(first[:-units].view(inputs, units), first[-units:], [], [])
        for inputs, units, piece in others:
            bias = torch.empty(num_padded(units))
            packed = torch.empty(num_padded(inputs) * len(bias))
            arrays = (packed.numpy(), bias.numpy())
            perceptron_kernels.pack_layer(piece.numpy(), inputs, units, *arrays)
            layers.packed.append(packed)
            layers.biases.append(bias)
        return layers

    def after_first(self, units: Sequence[torch.Tensor]) -> None:
        """Writes what comes out of all layers but the first.

        Args:
          units: per layer, float32 [N, units], padded; the first one's are given.
        """
        before = units[0].numpy()
        for layer, (packed, bias) in enumerate(zip(self.packed, self.biases, strict=True), 1):
            after = units[layer].numpy()
            perceptron_kernels.apply_layer(before, packed.numpy(), bias.numpy(), after)
            if layer < len(units) - 1:
                perceptron_kernels.rectify(after)
            before = after


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
        parameters = parameters.detach()
        if inputs.evaluation is not None and inputs.evaluation.holds(parameters):
            units = inputs.evaluation.units
        else:
            layers = Layers.of(parameters, sizes)
            first = inputs.first_layer(layers.weight, layers.bias)
            units = [first, *(first.new_empty((len(first), len(b))) for b in layers.biases)]
            layers.after_first(units)
        context.inputs, context.parameters, context.units, context.sizes = (
            inputs, parameters, units, sizes
        )  # fmt: skip
        return units[-1][:, : sizes[-1]]

    @staticmethod
    def backward(  # type: ignore[no-untyped-def]
        context, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        units, sizes = context.units, context.sizes
        whole = torch.zeros_like(context.parameters)
        by_units = torch.nn.functional.pad(gradient, (0, num_padded(sizes[-1]) - sizes[-1]))
        pieces = [list(_pieces(vector, sizes)) for vector in (context.parameters, whole)]
        for layer in range(len(units) - 1, 0, -1):
            (inputs, size, piece), (_, _, of_piece) = (each[layer] for each in pieces)
            before = torch.empty_like(units[layer - 1])
            perceptron_kernels.go_back_a_layer(
                piece.numpy(), inputs, size, units[layer - 1].numpy(), by_units.numpy(),
                of_piece.numpy(), before.numpy(),
            )  # fmt: skip
            by_units = before
        inputs, size, of_piece = pieces[1][0]
        context.inputs.first_layer_back(by_units, of_piece[:-size].view(inputs, size))
        perceptron_kernels.add_up(by_units.numpy(), of_piece[-size:].numpy())
        return whole, None, None


def _pieces(
    parameters: torch.Tensor, sizes: Sequence[int]
) -> Iterator[tuple[int, int, torch.Tensor]]:
    """Of all layers: the numbers of inputs and units, and a view of the weights and biases."""
    start = 0
    for inputs, units in itertools.pairwise(sizes):
        end = start + inputs * units + units
        yield inputs, units, parameters[start:end]
        start = end
