"""Perceptrons of inputs met in play: forwards and backwards by hand, on one core."""

from __future__ import annotations

from typing import NamedTuple

import torch

from spiel_dl.networks import perceptron_kernels
from spiel_dl.networks.growing_inputs import GrowingInputs
from spiel_dl.networks.listed_inputs import ListedInputs

Inputs = GrowingInputs | ListedInputs


class Answer(NamedTuple):
    """What a network says of inputs, and what its gradient depends on.

    Attributes:
      parameters: float32 [P], not copied: there is no gradient any more once they change.
      units: per layer, what comes out of it, padded: float32 [N, units].
      inputs: N rows.
      sizes: the numbers of inputs, of each hidden layer's units, and of outputs.
    """

    parameters: torch.Tensor
    units: list[torch.Tensor]
    inputs: Inputs
    sizes: tuple[int, ...]

    @property
    def outputs(self) -> torch.Tensor:
        """What the last layer says: float32 [N, outputs]."""
        return self.units[-1][:, : self.sizes[-1]]

    def gradient(self, of_outputs: torch.Tensor) -> torch.Tensor:
        """The gradient of the parameters, float32 [P], of that of the outputs, contiguous."""
        inputs, units = self.sizes[:2]
        whole = torch.zeros_like(self.parameters)
        by_first = perceptron_kernels.go_back(
            self.parameters.numpy(),
            self.sizes,
            tuple(layer.numpy() for layer in self.units),
            of_outputs.numpy(),
            whole.numpy(),
        )
        of_weight = whole[: inputs * units].view(inputs, units)
        self.inputs.first_layer_back(torch.from_numpy(by_first), of_weight)
        return whole


def answer(parameters: torch.Tensor, inputs: Inputs, sizes: tuple[int, ...]) -> Answer:
    """What one network says.

    Args:
      parameters: float32 [P], detached.
      inputs: N rows.
      sizes: as in `Answer`.
    """
    units = _known_units(parameters, inputs) or inputs.units(parameters, sizes)
    return Answer(parameters, units, inputs, sizes)


def outputs(parameters: torch.Tensor, inputs: Inputs, sizes: tuple[int, ...]) -> torch.Tensor:
    """As `Perceptron.outputs`.

    Args:
      parameters: float32 [P], or [M, P] of M networks, which have no gradient.
      inputs: N rows.
      sizes: as in `Answer`.

    Returns:
      Float32 [N, outputs], or [M, N, outputs].
    """
    if parameters.dim() == 1:
        found: torch.Tensor = _Evaluate.apply(parameters, inputs, sizes)
        return found
    return inputs.evaluate(parameters, sizes)[..., : sizes[-1]]


def _known_units(parameters: torch.Tensor, inputs: Inputs) -> list[torch.Tensor] | None:
    """What has come out of each layer already; None: another network was asked, or none."""
    known = inputs.evaluation
    return known.units if known is not None and known.holds(parameters) else None


class _Evaluate(torch.autograd.Function):
    """`outputs` of one network."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        context, parameters: torch.Tensor, inputs: Inputs, sizes: tuple[int, ...]
    ) -> torch.Tensor:
        parameters = parameters.detach()
        units = _known_units(parameters, inputs)
        if units is None and not context.needs_input_grad[0]:
            return inputs.evaluate(parameters.unsqueeze(0), sizes)[0, :, : sizes[-1]]
        units = units or inputs.units(parameters, sizes)
        context.answer = Answer(parameters, units, inputs, sizes)
        return context.answer.outputs

    @staticmethod
    def backward(  # type: ignore[no-untyped-def]
        context, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        return context.answer.gradient(gradient.contiguous()), None, None
