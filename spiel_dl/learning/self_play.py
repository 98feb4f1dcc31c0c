"""Networks that act in self-play."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import torch

from spiel_dl.learning import play_kernels
from spiel_dl.networks.perceptron import ForwardPass, Layer, evaluate
from spiel_dl.networks.sparse_rows import to_sparse
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.policies.sight import FEATURES, Sight


@dataclasses.dataclass
class LayerOutputs:
    """The outputs of a network's layers for the observations of some games, filled move by move.

    Attributes:
      buffers: for each layer, float32 [M, units].
      num_rows: how many of the M rows are written.
    """

    buffers: list[torch.Tensor]
    num_rows: int = 0

    def reserve(self, num_rows: int) -> list[torch.Tensor]:
        """The next `num_rows` rows of each buffer, to be written."""
        begin, self.num_rows = self.num_rows, self.num_rows + num_rows
        return [buffer[begin : self.num_rows] for buffer in self.buffers]


@dataclasses.dataclass(frozen=True)
class ActingNetwork:
    """The `sources.ActingPolicy` of a network.

    Attributes:
      network: the network.
      parameters: float32 [P], not to be changed while it acts.
      exploration: share of decisions made at random, all legal actions being equally likely.
      layer_outputs: where the outputs of all layers are kept, so that `forward_pass` need not
        compute them again; None: nowhere.
      sight: what the network sees.
    """

    sight: ClassVar[Sight] = FEATURES
    network: PolicyNetwork
    parameters: torch.Tensor
    exploration: float = 0.0
    layer_outputs: LayerOutputs | None = None

    @functools.cached_property
    def _layers(self) -> list[Layer]:
        return self.network.padded_layers(self.parameters.detach())

    def __call__(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """Action probabilities, float32 [N, A]; see `sources.ActingPolicy`."""
        kept = self.layer_outputs
        buffers = () if kept is None else kept.reserve(len(observation))
        outputs = evaluate(self._layers, observation, buffers)
        if outputs.is_cpu:
            policy = torch.from_numpy(play_kernels.softmax(outputs.numpy(), legal.numpy()))
        else:
            policy = policy_of(outputs[:, : self.network.num_actions], legal)
        return with_exploration(policy, legal, self.exploration) if self.exploration else policy

    def forward_pass(self, inputs: torch.Tensor) -> ForwardPass:
        """The forward pass on all observations acted on so far, in turn: float32 [N, D]."""
        kept = self.layer_outputs
        assert kept is not None
        *activations, outputs = (buffer[: kept.num_rows] for buffer in kept.buffers)
        outputs = outputs[:, : self.network.sizes[-1]]
        return ForwardPass(outputs, self.network, self._layers, to_sparse(inputs), activations)


def with_exploration(policy: torch.Tensor, legal: torch.Tensor, exploration: float) -> torch.Tensor:
    """The policy mixed with the uniform one, whose share is `exploration`: float32 [..., A]."""
    uniform = legal / legal.sum(dim=-1, keepdim=True).clamp(min=1)
    return torch.lerp(policy, uniform, exploration)
