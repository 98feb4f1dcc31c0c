"""Self-play of small batches by the compiled form of a game's rules."""

from __future__ import annotations

from typing import Any

import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER
from spiel_dl.learning import kernels
from spiel_dl.learning.self_play import (
    ActingNetwork,
    ActingPolicy,
    Distinct,
    ListedTrajectories,
    SelfPlay,
    Trajectories,
)
from spiel_dl.policies.growing_inputs import Evaluation, GrowingInputs
from spiel_dl.policies.growing_perceptron import Layers
from spiel_dl.policies.matrix_products import num_padded
from spiel_dl.policies.policy_network import PolicyNetwork


class CompiledSelfPlay(SelfPlay):
    """`SelfPlay` in a `CompiledEnvironment`, several times as fast if a network acts.

    Then what players know is recorded as lists of ones, with what the network says of it.

    Attributes:
      environment: where.
    """

    environment: CompiledEnvironment

    def __init__(self, environment: CompiledEnvironment, num_steps: int):
        """As `SelfPlay`."""
        super().__init__(environment, num_steps)
        shape = self._trajectories.action.shape
        size = shape.numel()
        self._place = torch.zeros(shape, dtype=torch.int64)
        rows = torch.zeros((3, size), dtype=torch.int32)
        self._sequence, self._begin, self._end = rows.unbind()
        self._sums = torch.zeros(0)
        self._known = torch.zeros(2 * shape[1], dtype=torch.int32)
        self._units: list[torch.Tensor] = []
        self._sizes: tuple[int, ...] = ()  # of the network that they are for

    @torch.no_grad()
    def play(self, policy: ActingPolicy | torch.Tensor) -> Trajectories:
        """As `SelfPlay.play`; fastest with an `ActingNetwork`."""
        if not isinstance(policy, ActingNetwork):
            return super().play(policy)
        thresholds = self._start()
        self._make_room(policy.network)
        num_moves = self._play_by_kernels(policy, thresholds)
        return self._finish(policy, num_moves)

    def _make_room(self, network: PolicyNetwork) -> None:
        widths = [num_padded(size) for size in network.sizes[1:]]
        if self._sizes != network.sizes:
            self._sizes = network.sizes
            size = self._place.numel()
            self._units = [torch.zeros((size, width)) for width in widths]
            self._sums = torch.zeros((len(self._known), network.sizes[1]))

    def _play_by_kernels(self, policy: ActingNetwork, thresholds: torch.Tensor) -> int:
        """Plays all moves; returns how many there were."""
        environment, record, games = self.environment, self._trajectories, self.environment.games
        layers = Layers.of(policy.parameters, policy.network.sizes)
        numbers = environment.random_numbers(self.num_steps)
        self._known.zero_()
        recorded = [x.numpy() for x in (record.player, record.legal, self._place)]
        rows = [x.numpy() for x in (self._sequence, self._begin, self._end)]
        first = (layers.weight, layers.bias, self._sums, self._known, self._units[0])
        first_layer = [x.numpy() for x in first]
        outputs = self._units[-1].numpy()
        threshold, *acts = (x.numpy() for x in (thresholds, record.behaviour, record.action))
        start = end = 0
        for t in range(self.num_steps):
            known = (games.player, games.legal, games.bits, games.num_bits)
            arrays: list[Any] = [t, *known, *recorded, *rows, *first_layer, end]
            start, end = end, kernels.meet(*arrays)
            layers.after_first([units[start:end] for units in self._units])
            kernels.act(t, outputs, threshold, *recorded, *acts)
            if record.history.shape[-1]:
                environment.history_tensor(out=record.history[t])
            environment.move(record.action[t], numbers[t])
        return end

    def _finish(self, policy: ActingNetwork, num_moves: int) -> Trajectories:
        """Writes all that is known once the games are over."""
        record, environment = self._trajectories, self.environment
        last_player = environment.current_player()
        made = record.player >= 0
        self._check_movers(made | (record.player == CHANCE_PLAYER), last_player != TERMINAL_PLAYER)
        torch.logical_and(made, last_player == TERMINAL_PLAYER, out=record.valid)
        last = record.valid.sum(dim=0, keepdim=True) - 1
        returns = torch.from_numpy(environment.games.returns).to(record.reward.dtype)
        record.reward.zero_()
        record.reward.scatter_(0, last.clamp(min=0), (returns * (last[0] >= 0)).unsqueeze(0))
        inputs = GrowingInputs(
            torch.from_numpy(environment.games.bits).flatten(0, 1),
            self._sequence[:num_moves],
            self._begin[:num_moves],
            self._end[:num_moves],
            policy.network.num_inputs,
            Evaluation(policy.parameters.clone(), [units[:num_moves] for units in self._units]),
        )
        moves = None if bool(made.all()) else made.flatten().nonzero()[:, 0]
        played = ListedTrajectories(*record._replace(observation=record.observation[..., :0]))
        played.listed = Distinct(inputs, self._place, made.shape, moves)
        return played
