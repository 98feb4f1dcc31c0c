"""Self-play: batches of whole games as tensors of fixed shape.

Every row plays one game from the root to its end and is masked from then on. If rows started new
games until a number of steps is over, short games would be too frequent among those that end in
time. `learning.sources` plays the games, by their rules or by a compiled tree.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from spiel_dl.games.environments import keep_freed_memory
from spiel_dl.learning import play_kernels
from spiel_dl.learning.sources import Source, Trajectories
from spiel_dl.networks.perceptron import ForwardPass, Layer, evaluate
from spiel_dl.networks.sparse_rows import to_sparse
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.policies.sight import FEATURES, Sight

ActingPolicy = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Maps N movers' observations (float32 [N, D]) and legal actions (bool [N, A]) to action
probabilities, float32 [N, A]."""


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
    """The `ActingPolicy` of a network.

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
        """Action probabilities, float32 [N, A]; see `ActingPolicy`."""
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


class SelfPlay:
    """Plays batches of games, each batch into the same tensors.

    Attributes:
      source: plays the games.
    """

    def __init__(self, source: Source):
        """Allocates the random numbers of a batch; plays nothing yet."""
        self.source = source
        shape = (source.num_steps, source.batch_size)
        device = source.generator.device
        self._thresholds = torch.zeros(shape, dtype=torch.float64, device=device)
        keep_freed_memory()

    @property
    def environment(self) -> Any:
        """The games."""
        return self.source.environment

    @torch.no_grad()
    def play(self, policy: ActingPolicy | torch.Tensor) -> Trajectories:
        """Plays one game in every row.

        A sampled action is the first one whose cumulative probability exceeds a random number;
        where probabilities are NaN, the first legal one.

        Args:
          policy: both players' policy; or its table by the infosets of a compiled game, float32
            [R, A].

        Returns:
          The games, in tensors that the next call overwrites.

        Raises:
          ValueError: if the policy is a table, and the game not compiled; on a CPU, if chance has
            to act between moves in some game. On other devices, which read back no values, that
            move becomes invalid.
        """
        source = self.source
        source.start()
        self._thresholds.uniform_(generator=source.generator)
        for t in range(source.num_steps):
            observations = source.observe(t)
            if not isinstance(policy, torch.Tensor):
                probabilities = policy(observations.rows, observations.legal)
            elif observations.table_row is not None:
                probabilities = policy.index_select(0, observations.table_row)
            else:
                raise ValueError(
                    f"a policy table of shape {tuple(policy.shape)} can only be played in a "
                    "compiled game; pass a function"
                )
            source.move(t, probabilities, self._thresholds)
        return source.finish()
