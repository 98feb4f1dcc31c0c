"""Self-play of small batches by the compiled form of a game's rules."""

from __future__ import annotations

import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.learning import play_kernels
from spiel_dl.learning.deciding import Layers, Moves, Room, decide
from spiel_dl.learning.self_play import (
    ActingNetwork,
    ActingPolicy,
    Distinct,
    ListedTrajectories,
    SelfPlay,
    Trajectories,
)
from spiel_dl.networks.growing_inputs import Evaluation, GrowingInputs
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
        # Of histories: the ones of each game, how much of what players know is among them, and
        # for each move where in the list its own begin and end.
        width = 2 * environment.games.bits.shape[2]
        self._ones = torch.zeros((shape[1], width), dtype=torch.int32)
        self._read = torch.zeros((shape[1], 3), dtype=torch.int32)
        self._rows_of_histories = torch.zeros((3, size), dtype=torch.int32)
        self._sizes: tuple[int, ...] = ()  # of the network that there is room for
        self._room = Room((0, 0), 0, 0)

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
            self._room = Room(network.sizes, self._place.shape[1], self._place.numel())

    def _play_by_kernels(self, policy: ActingNetwork, thresholds: torch.Tensor) -> int:
        """Plays all moves; returns how many there were."""
        environment, record, games = self.environment, self._trajectories, self.environment.games
        numbers = environment.random_numbers(self.num_steps)
        self._room.known.fill(0)
        layers = Layers.of(policy)
        moves = Moves(
            player=record.player.numpy(),
            legal=record.legal.numpy(),
            place=self._place.numpy(),
            sequence=self._sequence.numpy(),
            begin=self._begin.numpy(),
            end=self._end.numpy(),
            threshold=thresholds.numpy(),
            behaviour=record.behaviour.numpy(),
            action=record.action.numpy(),
        )
        is_recorded = record.history.shape[-1] > 0
        self._read.zero_()
        sizes_of_history = (
            environment.rules.public_size(True),
            environment.rules.private_size(True),
        )
        lists = [x.numpy() for x in (self._read, self._ones, *self._rows_of_histories)]
        num_rows = 0
        for t in range(self.num_steps):
            if is_recorded:
                shown = (games.player, games.bits, games.num_bits)
                play_kernels.meet_histories(num_rows, *shown, *sizes_of_history, *lists)
            num_rows = decide(t, games, layers, self._room, moves, policy.exploration, num_rows)
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
            Evaluation(
                policy.parameters.clone(),
                [torch.from_numpy(units[:num_moves]) for units in self._room.units],
            ),
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
