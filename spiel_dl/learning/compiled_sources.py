"""Sources that play games by compiled loops, on a CPU, where starting torch operations is slow."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import raise_too_long_run
from spiel_dl.learning import play_kernels
from spiel_dl.learning.play_kernels import ListedNumbers, ObservationTable
from spiel_dl.learning.sources import (
    Branches,
    MoveInputs,
    Moves,
    NewObservations,
    Source,
    Trajectories,
)
from spiel_dl.learning.tree_environment import TreeEnvironment


class _CompiledSource(Source):
    """What `CompiledSource` and `TreeSource` have in common."""

    def __init__(self, shape: tuple[int, int, int], num_inputs: int):
        """Allocates the record of T moves of A actions in each of B games: `shape` is (T, B, A)."""
        self.num_steps, self.batch_size, self.num_actions = shape
        self.num_inputs = num_inputs
        self._moves = Moves.empty(shape)
        self._arrays = self._moves.arrays()
        self._num_rows = self._num_rows_before = 0
        self._policy = np.zeros((self._moves.row_index.numel(), self.num_actions), np.float32)

    def _sample_moves(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        self._policy[self._num_rows_before : self._num_rows] = policy.numpy()
        play_kernels.sample_moves(t, self._policy, thresholds.numpy(), self._arrays)


class CompiledSource(_CompiledSource):
    """Plays a small batch of games by the compiled form of their rules.

    Attributes:
      environment: the games.
    """

    def __init__(self, environment: CompiledEnvironment, num_steps: int):
        """Allocates the record of so many moves of each game."""
        rules = environment.rules
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.games.player)
        super().__init__((num_steps, num_games, rules.num_actions), rules.num_features)
        self._table = ObservationTable.empty(len(self._policy), self.num_inputs, self.num_actions)
        # Both players' features at every move, float32 [T B, D] each, if histories are recorded.
        self._player_features: list[np.ndarray] = []

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        self._player_features = [np.zeros_like(self._table.rows) for _ in range(2)]
        return 2 * self.num_inputs

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()
        self._table.row_of_slot.fill(-1)
        self._num_rows = self._num_movers = 0

    def observe(self, t: int) -> NewObservations:
        """As `Source.observe`."""
        if not t:
            self._chance = self.environment.random_numbers(self.num_steps).numpy()
        games, table, begin = self.environment.games, self._table, self._num_rows
        by_player = self._features_by_player(games.player)
        self._num_rows = play_kernels.list_observations(
            t, games, by_player, table, begin, self._arrays
        )
        self._num_rows_before, new = begin, slice(begin, self._num_rows)
        return NewObservations(*(torch.from_numpy(x[new]) for x in (table.rows, table.legal)))

    def _features_by_player(self, mover: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each player's features where one moves, float32 [M, D]; or the mover's only."""
        if not self._player_features:
            rows = self._table.rows[self._num_rows :]
            self.environment.write_features(mover, rows)
            return rows, rows
        first, second = (features[self._num_movers :] for features in self._player_features)
        moves = mover >= 0
        for player, rows in enumerate((first, second)):
            self.environment.write_features(np.where(moves, np.int8(player), mover), rows)
        self._num_movers += int(np.count_nonzero(moves))
        return first, second

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        self._sample_moves(t, policy, thresholds)
        self.environment.move(self._arrays.action[t], self._chance[t])

    def finish(self) -> Trajectories:
        """As `Source.finish`."""
        games, moves = self.environment.games, self._moves
        if play_kernels.record_outcomes(games.player, games.returns, self._arrays):
            raise_too_long_run(self.environment.rules)
        shape, count = moves.row_index.shape, self._num_rows
        rows, legal = (torch.from_numpy(x[:count]) for x in (self._table.rows, self._table.legal))
        observations = MoveInputs(rows, moves.row_index, shape, legal)
        if not self._player_features:
            return moves.trajectories(observations, None)
        both = [torch.from_numpy(each[: self._num_movers]) for each in self._player_features]
        row_index = (moves.player >= 0).view(-1).cumsum(0).sub_(1).clamp_(min=0).view(shape)
        histories = MoveInputs(torch.cat(both, dim=1), row_index, shape)
        return moves.trajectories(observations, histories)


class TreeSource(_CompiledSource):
    """Plays games by the tables of a compiled tree.

    Attributes:
      environment: the tree's tables.
    """

    def __init__(self, environment: TreeEnvironment, num_steps: int):
        """Allocates the record of so many moves of each game."""
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.history)
        super().__init__(
            (num_steps, num_games, environment.infoset_legal.shape[1]),
            environment.infoset_features.shape[1],
        )
        shape = (num_steps + 1, num_games)
        # The history of each game before each move, and after the last one.
        self._history = torch.zeros(shape, dtype=torch.int64)
        self._infosets = torch.zeros(num_steps * num_games, dtype=torch.int64)
        index_of = np.zeros(len(environment.infoset_legal), np.int64)
        self._listed = ListedNumbers(index_of, self._infosets.numpy())
        self._uniform = torch.zeros(
            (num_steps, num_games, environment.events_after_move), dtype=torch.float64
        )
        self._tables = environment.tables()
        self._histories: ListedNumbers | None = None
        self._has_branches = False

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        _, tensors = self.environment.history_tables
        numbers = np.zeros(len(self._infosets), np.int64)
        self._histories = ListedNumbers(np.zeros(len(tensors), np.int64), numbers)
        self._history_index = torch.zeros_like(self._moves.row_index)
        return int(tensors.shape[1])

    def record_branches(self) -> None:
        """As `Source.record_branches`."""
        self._has_branches = True

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()
        self._history[0] = self.environment.history
        self._num_rows = 0

    def observe(self, t: int) -> NewObservations:
        """As `Source.observe`."""
        if not t:
            torch.rand(self._uniform.shape, generator=self.generator, out=self._uniform)
        environment, self._num_rows_before = self.environment, self._num_rows
        self._num_rows = play_kernels.list_infosets(
            t, self._history.numpy(), self._tables, self._listed, self._num_rows, self._arrays
        )
        infosets = self._infosets[self._num_rows_before : self._num_rows]
        return NewObservations(
            environment.infoset_features.index_select(0, infosets),
            environment.infoset_legal.index_select(0, infosets),
            infosets,
        )

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        self._sample_moves(t, policy, thresholds)
        play_kernels.move_in_tree(
            t,
            self._history.numpy(),
            self._uniform.numpy(),
            self._tables,
            self.environment.chance,
            self._arrays,
        )

    def finish(self) -> Trajectories:
        """As `Source.finish`."""
        environment, moves, last = self.environment, self._moves, self._history[-1]
        player = environment.player.index_select(0, last)
        utility = environment.utility.index_select(0, last)
        play_kernels.record_outcomes(player.numpy(), utility.numpy(), self._arrays)
        infosets = self._infosets[: self._num_rows]
        rows = environment.infoset_features.index_select(0, infosets)
        legal = environment.infoset_legal.index_select(0, infosets)
        observations = MoveInputs(rows, moves.row_index, moves.row_index.shape, legal, infosets)
        if self._histories is None:
            return moves.trajectories(observations, None)
        return moves.trajectories(observations, *self._history_inputs())

    def _history_inputs(self) -> tuple[MoveInputs, Branches | None]:
        """The distinct histories before the moves, and their branches if these are recorded."""
        environment, listed, index = self.environment, self._histories, self._history_index
        assert listed is not None
        rows, tensors = environment.history_tables
        at_moves = rows.index_select(0, self._history[:-1].view(-1)).view(index.shape)
        count = play_kernels.list_numbers(at_moves.numpy(), listed, index.numpy())
        table_row = torch.from_numpy(listed.numbers[:count])
        row = tensors.index_select(0, table_row)
        histories = MoveInputs(row, index, index.shape, table_row=table_row)
        if not self._has_branches:
            return histories, None
        after, utility = environment.branches(table_row)
        goes_on = after >= 0
        after_row, after[goes_on] = after[goes_on].unique(return_inverse=True)
        return histories, Branches(tensors.index_select(0, after_row), after, utility)
