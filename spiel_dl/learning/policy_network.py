"""Policy networks whose parameters are one flat vector.

An optimizer, an average, a copy or a checkpoint then takes one operation, and several networks of
one architecture are the rows of a matrix, evaluated together.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import NamedTuple

import torch

# Adds up to nothing in a softmax, and stays finite where no action is legal.
_ILLEGAL_LOGIT = -1e30
# Untrained policies are then nearly uniform, untrained values small.
_OUTPUT_SCALE = 0.1


class Outputs(NamedTuple):
    """What a policy network says.

    Attributes:
      logits: float32 [..., N, A], of all actions.
      value: float32 [..., N], the expected utility of the player who is asked.
    """

    logits: torch.Tensor
    value: torch.Tensor


@dataclasses.dataclass(frozen=True)
class PolicyNetwork:
    """A multilayer perceptron with ReLU, and a last layer for logits and value.

    Attributes:
      num_inputs: D, the length of an information state tensor.
      num_actions: A.
      hidden_sizes: units of each hidden layer.
    """

    num_inputs: int
    num_actions: int
    hidden_sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self._sizes()) < 1:
            raise ValueError(
                f"a network of {self.num_inputs} inputs, hidden_sizes={self.hidden_sizes} and "
                f"{self.num_actions} actions has an empty layer; all must be positive"
            )

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
        for inputs, outputs in itertools.pairwise(self._sizes()):
            bound = math.sqrt(6.0 / inputs)
            weights = torch.empty(inputs * outputs).uniform_(-bound, bound, generator=generator)
            pieces += [weights, torch.zeros(outputs)]
        pieces[-2] *= _OUTPUT_SCALE
        return torch.cat(pieces)

    def outputs(self, parameters: torch.Tensor, observation: torch.Tensor) -> torch.Tensor:
        """Logits and, in the last column, values.

        Args:
          parameters: float32 [P], or [K, P] of K networks.
          observation: float32 [N, D].

        Returns:
          Float32 [N, A + 1], or [K, N, A + 1].
        """
        pieces = parameters.split(self._lengths(), dim=-1)
        sizes = self._sizes()
        units = observation
        if parameters.dim() == 2:
            units = observation.expand(len(parameters), -1, -1)
        for layer, (weight, bias) in enumerate(zip(pieces[::2], pieces[1::2], strict=True)):
            if layer:
                units = units.relu()
            shape = (sizes[layer], sizes[layer + 1])
            if parameters.dim() == 2:
                matrices = weight.view(-1, *shape)
                units = torch.baddbmm(bias.unsqueeze(1), units, matrices)
            else:
                units = torch.addmm(bias, units, weight.view(shape))
        return units

    def evaluate(self, parameters: torch.Tensor, observation: torch.Tensor) -> Outputs:
        """`outputs`, taken apart."""
        outputs = self.outputs(parameters, observation)
        return Outputs(outputs[..., :-1], outputs[..., -1])

    def _sizes(self) -> tuple[int, ...]:
        return (self.num_inputs, *self.hidden_sizes, self.num_actions + 1)

    def _lengths(self) -> list[int]:
        """The lengths of the weights and biases of all layers, in turn."""
        pairs = itertools.pairwise(self._sizes())
        return [length for inputs, outputs in pairs for length in (inputs * outputs, outputs)]


def log_policy(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the softmax over legal actions: [..., A]; -1e30 for illegal ones.

    Finite everywhere; where no action is legal, all have the same.
    """
    return torch.where(legal, logits, _ILLEGAL_LOGIT).log_softmax(dim=-1)


def policy_of(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """The softmax over legal actions: [..., A]; 0 for illegal ones, unless no action is legal."""
    return torch.where(legal, logits, _ILLEGAL_LOGIT).softmax(dim=-1)
