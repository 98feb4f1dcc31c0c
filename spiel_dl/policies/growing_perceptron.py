"""Perceptrons of inputs met in play: forwards and backwards by hand, on one core."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from spiel_dl.policies import perceptron_kernels
from spiel_dl.policies.growing_inputs import EvaluatedInputs, GrowingInputs


def outputs(
    parameters: torch.Tensor, inputs: GrowingInputs | EvaluatedInputs, sizes: Sequence[int]
) -> torch.Tensor:
    """As `Perceptron.outputs`.

    Args:
      parameters: float32 [P], or [M, P] of M networks, which have no gradient.
      inputs: N rows.
      sizes: the numbers of inputs, of each hidden layer's units, and of outputs.

    Returns:
      Float32 [N, outputs], or [M, N, outputs].
    """
    sizes = tuple(sizes)
    if parameters.dim() == 1:
        found: torch.Tensor = _Evaluate.apply(parameters, inputs, sizes)
        return found
    return inputs.evaluate(parameters, sizes)[..., : sizes[-1]]


class _Evaluate(torch.autograd.Function):
    """`outputs` of one network."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        context,
        parameters: torch.Tensor,
        inputs: GrowingInputs | EvaluatedInputs,
        sizes: tuple[int, ...],
    ) -> torch.Tensor:
        known, parameters = inputs.evaluation, parameters.detach()
        if known is not None and known.holds(parameters):
            units = known.units
        elif context.needs_input_grad[0]:
            units = inputs.units(parameters, sizes)
        else:
            return inputs.evaluate(parameters.unsqueeze(0), sizes)[0, :, : sizes[-1]]
        context.parameters, context.inputs, context.units, context.sizes = (
            parameters, inputs, units, sizes
        )  # fmt: skip
        return units[-1][:, : sizes[-1]]

    @staticmethod
    def backward(  # type: ignore[no-untyped-def]
        context, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        sizes, parameters = context.sizes, context.parameters
        whole = torch.zeros_like(parameters)
        by_first = perceptron_kernels.go_back(
            parameters.numpy(),
            sizes,
            tuple(units.numpy() for units in context.units),
            gradient.contiguous().numpy(),
            whole.numpy(),
        )
        of_weight = whole[: sizes[0] * sizes[1]].view(sizes[0], sizes[1])
        context.inputs.first_layer_back(torch.from_numpy(by_first), of_weight)
        return whole, None, None
