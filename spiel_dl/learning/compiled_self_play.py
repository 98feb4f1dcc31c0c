"""Self-play of small batches by the compiled form of a game's rules."""

from __future__ import annotations

from typing import Any

import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.learning import play_kernels
from spiel_dl.learning.self_play import (
    ActingNetwork,
    ActingPolicy,
    Distinct,
    ListedTrajectories,
    SelfPlay,
    Trajectories,
)
from spiel_dl.policies import perceptron_kernels
from spiel_dl.policies.growing_inputs import Evaluation, GrowingInputs
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
        # Of histories: the ones of each game, how much of what players know is among them, and
        # for each move where in the list its own begin and end.
        width = 2 * environment.games.bits.shape[2]
        self._ones = torch.zeros((shape[1], width), dtype=torch.int32)
        self._read = torch.zeros((shape[1], 3), dtype=torch.int32)
        self._rows_of_histories = torch.zeros((3, size), dtype=torch.int32)
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
        if self._sizes != network.sizes:
            self._sizes = network.sizes
            size = self._place.numel()
            self._units = [torch.zeros((size, num_padded(width))) for width in network.sizes[1:]]
            self._sums = torch.zeros((len(self._known), network.sizes[1]))

    def _play_by_kernels(self, policy: ActingNetwork, thresholds: torch.Tensor) -> int:
        """Plays all moves; returns how many there were."""
        environment, record, games = self.environment, self._trajectories, self.environment.games
        numbers = environment.random_numbers(self.num_steps)
        self._known.zero_()
        parameters, sizes = policy.parameters.numpy(), policy.network.sizes
        end = sizes[0] * sizes[1]
        first = (parameters[:end].reshape(sizes[0], sizes[1]), parameters[end : end + sizes[1]])
        packed = perceptron_kernels.packed_layers(parameters, sizes)
        tensors = (
            record.player, record.legal, self._place, self._sequence, self._begin, self._end,
        )  # fmt: skip
        recorded = [x.numpy() for x in tensors]
        sums, known = self._sums.numpy(), self._known.numpy()
        units = tuple(layer.numpy() for layer in self._units)
        acts = [x.numpy() for x in (thresholds, record.behaviour, record.action)]
        is_recorded = record.history.shape[-1] > 0
        self._read.zero_()
        sizes_of_history = (
            environment.rules.public_size(True),
            environment.rules.private_size(True),
        )
        lists = [x.numpy() for x in (self._read, self._ones, *self._rows_of_histories)]
        num_rows = 0
        for t in range(self.num_steps):
            shown = (games.player, games.legal, games.bits, games.num_bits)
            arrays: list[Any] = [t, *shown, *recorded, *first, sums, known, units]
            arrays += [num_rows, packed, *acts, policy.exploration]
            if is_recorded:
                of_history: list[Any] = [num_rows, games.player, games.bits, games.num_bits]
                of_history += [*sizes_of_history, *lists]
                play_kernels.meet_histories(*of_history)
            num_rows = play_kernels.decide(*arrays)
            environment.move(record.action[t], numbers[t])
        return num_rows

    def _finish(self, policy: ActingNetwork, num_moves: int) -> Trajectories:
        """Writes all that is known once the games are over."""
        record, games = self._trajectories, self.environment.games
        written = (x.numpy() for x in (record.valid, record.reward))
        if play_kernels.look_back(record.player.numpy(), games.player, games.returns, *written):
            self._refuse_chance()
        inputs = GrowingInputs(
            torch.from_numpy(games.bits).flatten(0, 1),
            self._sequence[:num_moves],
            self._begin[:num_moves],
            self._end[:num_moves],
            policy.network.num_inputs,
            Evaluation(policy.parameters.clone(), [units[:num_moves] for units in self._units]),
        )
        is_full = num_moves == self._place.numel()
        moves = None if is_full else (record.player >= 0).flatten().nonzero()[:, 0]
        played = ListedTrajectories(
            *record._replace(
                observation=record.observation[..., :0], history=record.history[..., :0]
            )
        )
        played.listed = Distinct(inputs, self._place, self._place.shape, moves)
        if record.history.shape[-1]:
            sequence, begin, end = self._rows_of_histories[:, :num_moves]
            size = record.history.shape[-1]
            histories = GrowingInputs(self._ones, sequence, begin, end, size)
            played.listed_histories = Distinct(histories, self._place, self._place.shape, moves)
        return played
