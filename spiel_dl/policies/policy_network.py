"""Policy networks: logits of all actions and one value, by one perceptron."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import torch

from spiel_dl.networks.perceptron import Layer, Perceptron, evaluate
from spiel_dl.networks.sparse_rows import Inputs

ILLEGAL_LOGIT = -1e30
"""Adds up to nothing in a softmax, and stays finite where no action is legal."""


@dataclasses.dataclass(frozen=True)
class PolicyNetwork(Perceptron):
    """A perceptron whose outputs are logits and, in the last column, the value.

    Attributes:
      num_inputs: D.
      num_actions: A.
      hidden_sizes: units of each hidden layer, of which there is one or more.
    """

    num_inputs: int
    num_actions: int
    hidden_sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.hidden_sizes:
            raise ValueError("hidden_sizes=() has no layer, and there must be one; pass (16,), say")
        super().__post_init__()

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of inputs, of units of each hidden layer, and of outputs."""
        return (self.num_inputs, *self.hidden_sizes, self.num_actions + 1)

    def values(self, parameters: torch.Tensor, observation: Inputs) -> torch.Tensor:
        """The values alone, float32 [N], of parameters, float32 [P]."""
        *layers, last = self.split_layers(parameters.detach())
        of_value = Layer.of(last.weight_and_bias[:, -1:].contiguous())
        return evaluate([*layers, of_value], observation)[:, 0]


def log_policy(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of the softmax over legal actions: [..., A]; -1e30 for illegal ones.

    Finite everywhere; where no action is legal, all are the same.
    """
    return torch.where(legal, logits, ILLEGAL_LOGIT).log_softmax(dim=-1)


def policy_of(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """The softmax over legal actions: [..., A]; 0 for illegal ones, unless no action is legal."""
    return torch.where(legal, logits, ILLEGAL_LOGIT).softmax(dim=-1)


class MaskedPolicy(NamedTuple):
    """The softmax over legal actions, 0 for illegal ones; all 0 where nothing is legal.

    Attributes:
      policy: float32 [..., A].
      log_policy: its logarithm, float32 [..., A].
    """

    policy: torch.Tensor
    log_policy: torch.Tensor

    @staticmethod
    def of(logits: torch.Tensor, mask: torch.Tensor) -> MaskedPolicy:
        """The policy of logits, float32 [..., A]; `mask` is 1 for legal actions and 0 for others.

        On a CPU several times as fast as `log_policy`, which computes exponentials of -1e30.
        """
        shifted = torch.lerp(logits.new_full((), ILLEGAL_LOGIT), logits, mask)
        largest = shifted.amax(dim=-1, keepdim=True)
        shifted -= largest
        # exp2 takes a third of the time of exp, and is not slower where the result is 0.
        weights = (shifted * math.log2(math.e)).exp2_()
        total = weights.sum(dim=-1, keepdim=True)
        share = (largest > ILLEGAL_LOGIT) / total
        return MaskedPolicy(weights.mul_(share), shifted.sub_(total.log()).mul_(mask))


def as_mask(legal: torch.Tensor) -> torch.Tensor:
    """Float32, 1 where a bool tensor is true and 0 elsewhere, of its shape."""
    # On a CPU, int8 is converted to float32 many times as fast as bool.
    return legal.view(torch.int8).to(torch.float32)
