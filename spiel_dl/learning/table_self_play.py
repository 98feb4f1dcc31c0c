"""Self-play on a compiled tree: only the moves are played, all else is looked up afterwards."""

from __future__ import annotations

from typing import Any

import torch

from spiel_dl.games.rules import TERMINAL_PLAYER
from spiel_dl.learning import kernels, play_kernels
from spiel_dl.learning.self_play import (
    ActingNetwork,
    ActingPolicy,
    Branches,
    Distinct,
    ListedTrajectories,
    SelfPlay,
    Trajectories,
    sampled,
)
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.networks.growing_inputs import Evaluation
from spiel_dl.networks.listed_inputs import ListedInputs
from spiel_dl.networks.matrix_products import num_padded
from spiel_dl.policies.policy_network import PolicyNetwork


class TableSelfPlay(SelfPlay):
    """`SelfPlay` in a `TreeEnvironment`, several times as fast, which also takes policy tables.

    Attributes:
      environment: where.
    """

    environment: TreeEnvironment

    def __init__(self, environment: TreeEnvironment, num_steps: int):
        """As `SelfPlay`."""
        super().__init__(environment, num_steps)
        player = self._trajectories.player
        # Before each move, and after the last one.
        self._history = player.new_zeros((num_steps + 1, player.shape[1]), dtype=torch.int64)
        self._infoset = torch.zeros_like(self._history)
        self._trajectories = self._trajectories._replace(
            infoset=self._infoset[:-1], history_number=torch.zeros_like(self._infoset[:-1])
        )
        self._place = torch.zeros_like(self._infoset[:-1])
        self._met = torch.zeros(self._place.numel(), dtype=torch.int64)
        # Of `kernels.meet_infosets`.
        legal = environment.infoset_legal
        self._row_of = torch.zeros(len(legal), dtype=torch.int64)
        self._mover = torch.full((len(legal),), TERMINAL_PLAYER, dtype=player.dtype)
        acts = environment.player >= 0
        self._mover[environment.row[acts].cpu()] = environment.player[acts].cpu()
        # Of `play_kernels.list_once`.
        self._row_of_history = torch.zeros(0, dtype=torch.int64)
        self._met_histories = torch.zeros_like(self._met)
        self._place_of_history = torch.zeros_like(self._place)
        # What networks are asked about, by lists; made when the first one acts.
        self._inputs = ListedInputs.of(torch.zeros((0, 0)))
        self._histories: ListedInputs | None = None
        self._has_branches = False
        self._units: list[torch.Tensor] = []
        self._sizes: tuple[int, ...] = ()  # of the network that they are for
        self._arrays: list[Any] = []  # of `play_kernels.play_by_tables`
        events = (*player.shape, environment.events_after_move)
        self._uniform = player.new_zeros(events, dtype=torch.float64)

    @torch.no_grad()
    def play(self, policy: ActingPolicy | torch.Tensor) -> Trajectories:
        """As `SelfPlay.play`.

        Args:
          policy: as there, or a policy of all infosets: float32 [R, A], in the rows of
            `TreeEnvironment.infoset_tensors`.
        """
        self._start()
        self._history[0] = self.environment.history
        self._infoset[0] = self.environment.infoset
        is_cpu = self._history.device.type == "cpu"
        if is_cpu and isinstance(policy, ActingNetwork):
            return self._play_network(policy)
        if is_cpu:
            self._play_by_kernel(policy)
        else:
            self._play_by_torch(policy)
        self._look_up()
        record = self._trajectories
        if not (is_cpu and record.history.shape[-1]):
            return record
        played = ListedTrajectories(*record._replace(history=record.history[..., :0]))
        self._list_histories(played)
        return played

    def _play_network(self, policy: ActingNetwork) -> ListedTrajectories:
        """Plays all moves, and lists the infosets met with what the network says of them."""
        environment, record = self.environment, self._trajectories
        torch.rand(self._uniform.shape, generator=environment.generator, out=self._uniform)
        self._make_room(policy.network)
        num_met = play_kernels.play_by_tables(
            policy.parameters.numpy(), policy.network.sizes, policy.exploration, *self._arrays
        )
        last = self._history[-1]
        of_end = [x.index_select(0, last) for x in (environment.player, environment.utility)]
        of_end += [record.valid, record.reward]
        play_kernels.look_back(record.player.numpy(), *(x.numpy() for x in of_end))
        evaluation = Evaluation(policy.parameters.clone(), [x[:num_met] for x in self._units])
        met = self._inputs.first(num_met)._replace(evaluation=evaluation)
        played = ListedTrajectories(
            *record._replace(
                observation=record.observation[..., :0], history=record.history[..., :0]
            )
        )
        played.listed = Distinct(met, self._place, self._place.shape)
        if record.history.shape[-1]:
            self._list_histories(played)
        return played

    def record_branches(self) -> bool:
        """As `SelfPlay.record_branches`; on a CPU."""
        self._has_branches = self._history.device.type == "cpu"
        return self._has_branches

    def _list_histories(self, played: ListedTrajectories) -> None:
        """Lists the histories before all moves, each once, and what comes of actions there."""
        rows, tensors = self.environment.history_tables()
        if self._histories is None:
            self._histories = ListedInputs.of(tensors)
            self._row_of_history = torch.zeros(len(tensors), dtype=torch.int64)
        number = self._trajectories.history_number
        torch.index_select(rows, 0, self._history[:-1].view(-1), out=number.view(-1))
        lists = (number, self._row_of_history, self._met_histories, self._place_of_history)
        count = play_kernels.list_once(*(x.numpy() for x in lists))
        met = self._met_histories[:count]
        played.listed_histories = Distinct(
            self._histories.take(met), self._place_of_history, number.shape
        )
        if self._has_branches:
            after, utility = self.environment.branches(met)
            goes_on = after >= 0
            numbers, place = after[goes_on].unique(return_inverse=True)
            after[goes_on] = place
            played.branches = Branches(self._histories.take(numbers), after, utility)

    def _make_room(self, network: PolicyNetwork) -> None:
        """For T B inputs, and for what comes out of each layer."""
        environment, record = self.environment, self._trajectories
        if self._sizes != network.sizes:
            self._sizes = network.sizes
            table = ListedInputs.of(environment.infoset_tensors)
            self._inputs = table.take(self._met)
            widths = map(num_padded, network.sizes[1:])
            self._units = [torch.zeros((len(self._met), width)) for width in widths]
            # These tensors stay where they are.
            tensors = (
                environment.infoset_legal, self._mover, record.player, record.legal, self._place,
                self._row_of, self._met, self._thresholds, record.behaviour, self._uniform,
                record.action, self._history, self._infoset, environment.successor,
                environment.row, *environment.chance,
            )  # fmt: skip
            self._arrays = [
                table.arrays(),
                self._inputs.arrays(),
                tuple(layer.numpy() for layer in self._units),
                *(tensor.numpy() for tensor in tensors),
            ]

    def _play_by_kernel(self, policy: ActingPolicy | torch.Tensor) -> None:
        environment, record = self.environment, self._trajectories
        torch.rand(self._uniform.shape, generator=environment.generator, out=self._uniform)
        tensors = (
            record.behaviour, self._thresholds, self._uniform, record.action, self._history,
            self._infoset, environment.infoset_legal, environment.successor, environment.row,
            *environment.chance,
        )  # fmt: skip
        arrays = [tensor.numpy() for tensor in tensors]
        for t in range(self.num_steps):
            self._behave(policy, self._infoset[t], record.behaviour[t])
            kernels.play_move(t, *arrays)

    def _play_by_torch(self, policy: ActingPolicy | torch.Tensor) -> None:
        environment, record = self.environment, self._trajectories
        for t in range(self.num_steps):
            self._behave(policy, environment.infoset, record.behaviour[t])
            legal = environment.infoset_legal.index_select(0, environment.infoset)
            record.action[t] = sampled(record.behaviour[t], legal, self._thresholds[t])
            environment.move(record.action[t])
            self._history[t + 1] = environment.history
            self._infoset[t + 1] = environment.infoset

    def _behave(
        self, policy: ActingPolicy | torch.Tensor, infoset: torch.Tensor, out: torch.Tensor
    ) -> None:
        """Writes what the policy does at infosets, int64 [B], to `out`, float32 [B, A]."""
        if isinstance(policy, torch.Tensor):
            torch.index_select(policy, 0, infoset, out=out)
            return
        tensors, legal = self.environment.infoset_tensors, self.environment.infoset_legal
        if infoset.device.type != "cpu":
            out.copy_(policy(tensors.index_select(0, infoset), legal.index_select(0, infoset)))
            return
        # Early in the game, most games are at the same few infosets.
        infoset, place = infoset.unique(return_inverse=True)
        behaviour = policy(tensors.index_select(0, infoset), legal.index_select(0, infoset))
        torch.index_select(behaviour, 0, place, out=out)

    def _look_up(self) -> None:
        """Writes all that the histories tell, moves and behaviour excepted."""
        environment, record = self.environment, self._trajectories
        before, after = self._history[:-1], self._history[1:]
        record.observation.copy_(environment.infoset_tensors[record.infoset])
        record.legal.copy_(environment.infoset_legal[record.infoset])
        record.player.copy_(environment.player[before])
        is_over = environment.is_over[after]
        ends_in_time = is_over[-1]
        torch.logical_and(record.player >= 0, ends_in_time, out=record.valid)
        torch.mul(environment.utility[after], is_over & record.valid, out=record.reward)
        if record.history.shape[-1] and before.device.type != "cpu":
            environment.look_up_histories(before, record.history_number, record.history)
