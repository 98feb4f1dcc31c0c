"""Self-play: whole games of a batch as tensors of fixed shape.

Every row plays one game from the root to its end and is masked from then on. If rows started new
games until a number of steps is over, short games would be too frequent among those that end in
time. `learning.sources` are what is played: games by their rules, or a compiled tree.
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
"""From what networks see as N movers (float32 [N, D]) and their legal actions (bool [N, A]) to
action probabilities, float32 [N, A]."""


@dataclasses.dataclass
class Said:
    """What a network says of rows, move by move.

    Attributes:
      room: what comes out of each of its layers, float32 [M, units].
      num_rows: how many of the M rows are written.
    """

    room: list[torch.Tensor]
    num_rows: int = 0

    def next(self, num_rows: int) -> list[torch.Tensor]:
        """Where the next rows are to be written."""
        begin, self.num_rows = self.num_rows, self.num_rows + num_rows
        return [rows[begin : self.num_rows] for rows in self.room]


@dataclasses.dataclass(frozen=True)
class ActingNetwork:
    """The policy of a network, as an `ActingPolicy`.

    Attributes:
      network: the network.
      parameters: float32 [P], not to be changed while it acts.
      exploration: share of decisions that are made at random instead, all legal actions being
        equally likely.
      said: keeps what the network says of all rows, which then need not be asked again, see
        `forward_pass`; None: that is forgotten.
      sight: what it sees.
    """

    sight: ClassVar[Sight] = FEATURES
    network: PolicyNetwork
    parameters: torch.Tensor
    exploration: float = 0.0
    said: Said | None = None

    @functools.cached_property
    def _layers(self) -> list[Layer]:
        return self.network.padded_layers(self.parameters.detach())

    def __call__(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """Action probabilities, float32 [N, A]; see `ActingPolicy`."""
        room = () if self.said is None else self.said.next(len(observation))
        outputs = evaluate(self._layers, observation, room)
        if outputs.is_cpu:
            policy = torch.from_numpy(play_kernels.softmax(outputs.numpy(), legal.numpy()))
        else:
            policy = policy_of(outputs[:, : self.network.num_actions], legal)
        return explored(policy, legal, self.exploration) if self.exploration else policy

    def forward_pass(self, inputs: torch.Tensor) -> ForwardPass:
        """`PolicyNetwork.forward_pass` of all rows that were shown, in turn."""
        assert self.said is not None
        *units, outputs = (rows[: self.said.num_rows] for rows in self.said.room)
        outputs = outputs[:, : self.network.sizes[-1]]
        return ForwardPass(outputs, self.network, self._layers, to_sparse(inputs), units)


def explored(policy: torch.Tensor, legal: torch.Tensor, exploration: float) -> torch.Tensor:
    """A policy that plays a share `exploration` of decisions at random: float32 [..., A]."""
    uniform = legal / legal.sum(dim=-1, keepdim=True).clamp(min=1)
    return torch.lerp(policy, uniform, exploration)


class SelfPlay:
    """Plays batches of games into the same tensors over and over.

    Attributes:
      source: what is played.
    """

    def __init__(self, source: Source):
        """Plays nothing yet."""
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

        An action is the first one at which the sum of probabilities exceeds a random number; where
        probabilities are NaN, the first legal one.

        Args:
          policy: who acts; or its table by the infosets of a compiled game, float32 [R, A].

        Returns:
          The games, in tensors that the next call overwrites.

        Raises:
          ValueError: if the policy is a table, and the game not compiled; on a CPU, if a row waits
            for chance inside a game. On other devices, where nothing looks at values, that move
            becomes invalid.
        """
        source = self.source
        source.start()
        self._thresholds.uniform_(generator=source.generator)
        for t in range(source.num_steps):
            shown = source.look(t)
            if not isinstance(policy, torch.Tensor):
                probabilities = policy(shown.rows, shown.legal)
            elif shown.number is not None:
                probabilities = policy.index_select(0, shown.number)
            else:
                raise ValueError(
                    f"a policy table of shape {tuple(policy.shape)} can only be played in a "
                    "compiled game; pass a function"
                )
            source.move(t, probabilities, self._thresholds)
        return source.finish()
