"""Games that compiled loops play on a CPU, where starting a torch operation takes longest."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.learning import play_kernels
from spiel_dl.learning.play_kernels import Listed, SeenRows
from spiel_dl.learning.sources import (
    Branches,
    Moves,
    Seen,
    Shown,
    Source,
    Trajectories,
    refuse_chance,
)
from spiel_dl.learning.tree_environment import TreeEnvironment


class _CompiledSource(Source):
    """What the two sources have in common."""

    def __init__(self, shape: tuple[int, int, int], num_inputs: int):
        """Room for T moves of A actions in each of B games."""
        self.num_steps, self.batch_size, self.num_actions = shape
        self.num_inputs = num_inputs
        self._moves = Moves.room(shape)
        self._arrays = self._moves.arrays()
        self._num_rows = self._num_rows_before = 0
        self._policy = np.zeros((self._moves.place.numel(), self.num_actions), np.float32)

    def _choose(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        self._policy[self._num_rows_before : self._num_rows] = policy.numpy()
        play_kernels.choose(t, self._policy, thresholds.numpy(), self._arrays)


class CompiledSource(_CompiledSource):
    """A small batch of games by the compiled form of their rules.

    Attributes:
      environment: where.
    """

    def __init__(self, environment: CompiledEnvironment, num_steps: int):
        """Makes room for so many moves of each game."""
        rules = environment.rules
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.games.player)
        super().__init__((num_steps, num_games, rules.num_actions), rules.num_features)
        self._seen = self._room()
        # What both players see at every move, if histories are recorded.
        self._seen_by: list[np.ndarray] = []

    def _room(self) -> SeenRows:
        return SeenRows.room(self._moves.place.numel(), self.num_inputs, self.num_actions)

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        self._seen_by = [np.zeros_like(self._seen.rows) for _ in range(2)]
        return 2 * self.num_inputs

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()
        self._seen.row_of.fill(-1)
        self._num_rows = self._num_movers = 0

    def look(self, t: int) -> Shown:
        """As `Source.look`."""
        if not t:
            self._chance = self.environment.random_numbers(self.num_steps).numpy()
        games, seen, begin = self.environment.games, self._seen, self._num_rows
        by_player = self._look_at_all(games.player)
        self._num_rows = play_kernels.meet_movers(t, games, by_player, seen, begin, self._arrays)
        self._num_rows_before, new = begin, slice(begin, self._num_rows)
        return Shown(torch.from_numpy(seen.rows[new]), torch.from_numpy(seen.legal[new]))

    def _look_at_all(self, mover: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each player sees in the games in which one moves, as far as that is needed."""
        if not self._seen_by:
            rows = self._seen.rows[self._num_rows :]
            self.environment.write_features(mover, rows)
            return rows, rows
        first, second = (seen_by[self._num_movers :] for seen_by in self._seen_by)
        moves = mover >= 0
        for player, rows in enumerate((first, second)):
            self.environment.write_features(np.where(moves, np.int8(player), mover), rows)
        self._num_movers += int(np.count_nonzero(moves))
        return first, second

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        self._choose(t, policy, thresholds)
        self.environment.move(self._arrays.action[t], self._chance[t])

    def finish(self) -> Trajectories:
        """As `Source.finish`."""
        games, moves = self.environment.games, self._moves
        if play_kernels.look_back(games.player, games.returns, self._arrays):
            refuse_chance()
        shape, count = moves.place.shape, self._num_rows
        rows, legal = (torch.from_numpy(x[:count]) for x in (self._seen.rows, self._seen.legal))
        seen = Seen(rows, moves.place, shape, legal)
        if not self._seen_by:
            return moves.trajectories(seen, None)
        both = [torch.from_numpy(each[: self._num_movers]) for each in self._seen_by]
        place = (moves.player >= 0).view(-1).cumsum(0).sub_(1).clamp_(min=0).view(shape)
        return moves.trajectories(seen, Seen(torch.cat(both, dim=1), place, shape))


class TreeSource(_CompiledSource):
    """A compiled tree.

    Attributes:
      environment: the tree's tables.
    """

    def __init__(self, environment: TreeEnvironment, num_steps: int):
        """Makes room for so many moves of each game."""
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.history)
        super().__init__(
            (num_steps, num_games, environment.infoset_legal.shape[1]),
            environment.infoset_features.shape[1],
        )
        shape = (num_steps + 1, num_games)
        # Before each move, and after the last one.
        self._history = torch.zeros(shape, dtype=torch.int64)
        self._met = torch.zeros(num_steps * num_games, dtype=torch.int64)
        row_of = np.zeros(len(environment.infoset_legal), np.int64)
        self._listed = Listed(row_of, self._met.numpy())
        self._uniform = torch.zeros(
            (num_steps, num_games, environment.events_after_move), dtype=torch.float64
        )
        self._tables = environment.tables()
        self._histories: Listed | None = None
        self._has_branches = False

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        _, tensors = self.environment.history_tables
        met = np.zeros(len(self._met), np.int64)
        self._histories = Listed(np.zeros(len(tensors), np.int64), met)
        self._history_place = torch.zeros_like(self._moves.place)
        return int(tensors.shape[1])

    def record_branches(self) -> None:
        """As `Source.record_branches`."""
        self._has_branches = True

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()
        self._history[0] = self.environment.history
        self._num_rows = 0

    def look(self, t: int) -> Shown:
        """As `Source.look`."""
        if not t:
            torch.rand(self._uniform.shape, generator=self.generator, out=self._uniform)
        environment, self._num_rows_before = self.environment, self._num_rows
        self._num_rows = play_kernels.meet_infosets(
            t, self._history.numpy(), self._tables, self._listed, self._num_rows, self._arrays
        )
        number = self._met[self._num_rows_before : self._num_rows]
        return Shown(
            environment.infoset_features.index_select(0, number),
            environment.infoset_legal.index_select(0, number),
            number,
        )

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        self._choose(t, policy, thresholds)
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
        play_kernels.look_back(player.numpy(), utility.numpy(), self._arrays)
        number = self._met[: self._num_rows]
        rows = environment.infoset_features.index_select(0, number)
        legal = environment.infoset_legal.index_select(0, number)
        seen = Seen(rows, moves.place, moves.place.shape, legal, number)
        if self._histories is None:
            return moves.trajectories(seen, None)
        return moves.trajectories(seen, *self._look_back())

    def _look_back(self) -> tuple[Seen, Branches | None]:
        """The histories before all moves, each once, and what comes of actions there."""
        assert self._histories is not None
        environment, place = self.environment, self._history_place
        numbers, tensors = environment.history_tables
        of_moves = numbers.index_select(0, self._history[:-1].view(-1)).view(place.shape)
        count = play_kernels.list_once(of_moves.numpy(), self._histories, place.numpy())
        met = torch.from_numpy(self._histories.met[:count])
        seen = Seen(tensors.index_select(0, met), place, place.shape, number=met)
        if not self._has_branches:
            return seen, None
        after, utility = environment.branches(met)
        goes_on = after >= 0
        found, of_action = after[goes_on].unique(return_inverse=True)
        after[goes_on] = of_action
        return seen, Branches(tensors.index_select(0, found), after, utility)
