"""What self-play plays: games by their rules or states, and compiled trees.

Here, and nowhere else, it is said what networks see of games: `Source.look` shows it move by move,
and `Trajectories` have it of whole games.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from spiel_dl.games.compiled import Games
from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import EpisodeEnds
from spiel_dl.learning import play_kernels
from spiel_dl.learning.play_kernels import GrowingArrays, Listed, MoveArrays
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.networks.growing_inputs import GrowingInputs
from spiel_dl.networks.perceptron import Inputs


class Seen(NamedTuple):
    """Observations, or histories, of T moves in each of B games, of which networks are asked.

    On a CPU, each is there once: players of small games meet few infosets, again and again.

    Attributes:
      rows: N rows.
      place: the row of each move, int64 [T, B], any row for moves that have none; None: the rows
        are those of the moves, in turn.
      shape: (T, B).
      number: int64 [N], the rows' numbers in the tables of a compiled game; None elsewhere.
    """

    rows: Inputs
    place: torch.Tensor | None
    shape: torch.Size
    number: torch.Tensor | None = None

    def at_moves(self, outputs: torch.Tensor) -> torch.Tensor:
        """What is known of the rows, [N, ...], for each move: [T, B, ...]."""
        if self.place is not None:
            outputs = outputs.index_select(0, self.place.view(-1))
        return outputs.unflatten(0, self.shape)

    def add_up(self, gradient: torch.Tensor) -> torch.Tensor:
        """The gradient of what is known of the rows, [N, C], of that of all moves, [T, B, C]."""
        gradient = gradient.flatten(0, 1)
        if self.place is None:
            return gradient
        num_rows = len(self.rows) if isinstance(self.rows, torch.Tensor) else len(self.rows.end)
        whole = gradient.new_zeros((num_rows, gradient.shape[1]))
        return whole.index_add_(0, self.place.view(-1), gradient)

    def dense(self) -> torch.Tensor:
        """The rows as a matrix: float32 [N, D]."""
        return self.rows if isinstance(self.rows, torch.Tensor) else self.rows.dense()


class Branches(NamedTuple):
    """What comes of each action in some histories, one sampled chance event after the other.

    Attributes:
      rows: float32 [M, E], histories in which a player acts.
      place: int64 [N, A], for each history and action the row of what comes of it; -1 where the
        game is over then, or the action is not legal.
      utility: float32 [N, A], player 0's where the game is over.
    """

    rows: torch.Tensor
    place: torch.Tensor
    utility: torch.Tensor


class Trajectories(NamedTuple):
    """B games of at most T moves, move by move; tensors are valid where `valid` says so.

    Attributes:
      seen: what movers know.
      legal: bool [T, B, A].
      player: int8 [T, B], who moves.
      action: int64 [T, B].
      behaviour: float32 [T, B, A], the probabilities the action was sampled from.
      reward: float32 [T, B], what player 0 gets for the move: its return, at a game's last move.
      valid: bool [T, B], whether the move is one of the game. A row's moves are its first ones.
      histories: the whole histories before the moves; None unless they are recorded.
      branches: of the histories' rows; None unless they are known.
    """

    seen: Seen
    legal: torch.Tensor
    player: torch.Tensor
    action: torch.Tensor
    behaviour: torch.Tensor
    reward: torch.Tensor
    valid: torch.Tensor
    histories: Seen | None = None
    branches: Branches | None = None


class Moves(NamedTuple):
    """What is written of T moves in each of B games; `Trajectories` has most of it.

    Attributes:
      place: int64 [T, B], the row of each move among all that were shown.
    """

    player: torch.Tensor
    legal: torch.Tensor
    place: torch.Tensor
    behaviour: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    valid: torch.Tensor

    @staticmethod
    def room(shape: tuple[int, int, int], device: torch.device | str = "cpu") -> Moves:
        """Room for T moves of A actions in each of B games."""
        of_moves: Any = {"size": shape[:2], "device": device}
        return Moves(
            player=torch.zeros(**of_moves, dtype=torch.int8),
            legal=torch.zeros(shape, dtype=torch.bool, device=device),
            place=torch.zeros(**of_moves, dtype=torch.int64),
            behaviour=torch.zeros(shape, device=device),
            action=torch.zeros(**of_moves, dtype=torch.int64),
            reward=torch.zeros(**of_moves),
            valid=torch.zeros(**of_moves, dtype=torch.bool),
        )

    def arrays(self) -> MoveArrays:
        """The same for compiled loops."""
        return MoveArrays(*(tensor.numpy() for tensor in self))

    def trajectories(
        self, seen: Seen, histories: Seen | None, branches: Branches | None = None
    ) -> Trajectories:
        """Whole games."""
        return Trajectories(
            seen,
            self.legal,
            self.player,
            self.action,
            self.behaviour,
            self.reward,
            self.valid,
            histories,
            branches,
        )


class Shown(NamedTuple):
    """What is shown of a move to who acts: each thing once, and nothing that was shown before.

    Attributes:
      rows: what movers know, N rows.
      legal: bool [N, A], their legal actions.
      number: int64 [N], their numbers in the tables of a compiled game; None elsewhere.
    """

    rows: Inputs
    legal: torch.Tensor
    number: torch.Tensor | None = None


class Source(abc.ABC):
    """B games of at most T moves.

    Attributes:
      environment: the games.
      generator: the source of all chance.
      num_steps: T.
      batch_size: B.
      num_actions: A.
      num_inputs: how much movers are shown.
      is_capturable: whether a CUDA graph can play them.
    """

    environment: Any
    generator: torch.Generator
    num_steps: int
    batch_size: int
    num_actions: int
    num_inputs: int
    is_capturable: bool = False

    @abc.abstractmethod
    def record_histories(self) -> int:
        """Makes trajectories hold whole histories from now on; returns E, their length."""

    def record_branches(self) -> bool:
        """Makes trajectories show what would come of all actions, if they can; whether they do."""
        return False

    @abc.abstractmethod
    def start(self) -> None:
        """Starts new games."""

    @abc.abstractmethod
    def look(self, t: int) -> Shown:
        """Shows what movers know before move t."""

    @abc.abstractmethod
    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """Samples move t from the policy of what was shown, float32 [N, A], and makes it.

        Args:
          t: which move.
          policy: float32 [N, A].
          thresholds: float64 [T, B], random numbers in [0, 1).
        """

    @abc.abstractmethod
    def finish(self) -> Trajectories:
        """The games, once all moves are made."""


class Environment(Protocol):
    """B games played at once by tensors, as `spiel_dl.games.environments` plays them.

    Attributes:
      generator: the source of all chance, on the environment's device.
    """

    generator: torch.Generator

    def restart(self) -> None:
        """Starts a new game in every row."""

    def current_player(self) -> torch.Tensor:
        """Who moves: int8 [B]; negative in a row that has nothing to decide."""

    def legal_actions(self) -> torch.Tensor:
        """Legal actions of whoever moves: bool [B, A]."""

    def information_state_tensor(
        self, player: int | None = None, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """What whoever moves knows (`player=None`): float32 [B, D]."""

    def history_tensor(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The whole history, hidden parts included: float32 [B, E]."""

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move (int64 [B]) in every game, and plays the chance events after it."""


class TensorSource(Source):
    """Games of any environment, on any device; nothing looks at values, but on a CPU.

    Attributes:
      environment: where.
    """

    def __init__(self, environment: Environment, num_steps: int):
        """Makes room for the trajectories.

        Args:
          environment: the games.
          num_steps: T, the largest number of moves of a game. Games that take longer are masked
            from their first move.
        """
        self.environment, self.generator, self.num_steps = (
            environment,
            environment.generator,
            num_steps,
        )
        self.is_capturable = not isinstance(environment, StateEnvironment)
        observation = environment.information_state_tensor()
        self.batch_size, self.num_inputs = observation.shape
        self.num_actions = environment.legal_actions().shape[1]
        shape = (num_steps, self.batch_size, self.num_actions)
        self._moves = Moves.room(shape, observation.device)
        self._finished = torch.zeros_like(self._moves.valid)
        self._observation = observation.new_zeros((num_steps, *observation.shape))
        self._history: torch.Tensor | None = None
        self._number: torch.Tensor | None = None
        if isinstance(environment, TreeEnvironment):
            self._number = torch.zeros_like(self._moves.action)

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        history = self.environment.history_tensor()
        self._history = history.new_zeros((self.num_steps, *history.shape))
        return int(history.shape[1])

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()

    def look(self, t: int) -> Shown:
        """As `Source.look`."""
        environment, moves = self.environment, self._moves
        observation = environment.information_state_tensor(out=self._observation[t])
        moves.legal[t] = environment.legal_actions()
        moves.player[t] = environment.current_player()
        if self._history is not None:
            environment.history_tensor(out=self._history[t])
        if self._number is None or not isinstance(environment, TreeEnvironment):
            return Shown(observation, moves.legal[t])
        self._number[t] = environment.infoset
        return Shown(observation, moves.legal[t], environment.infoset)

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        moves = self._moves
        moves.behaviour[t] = policy
        moves.action[t] = sampled(policy, moves.legal[t], thresholds[t])
        self._finished[t], moves.reward[t] = self.environment.step(moves.action[t])

    def finish(self) -> Trajectories:
        """As `Source.finish`."""
        moves = self._moves
        num_finished = self._finished.cumsum(dim=0)
        is_first_game = num_finished - self._finished.long() == 0
        if moves.player.device.type == "cpu":
            self._check_movers(is_first_game, num_finished[-1] == 0)
        moves.reward.mul_(is_first_game)
        torch.logical_and(is_first_game, num_finished[-1] > 0, out=moves.valid)
        moves.valid.logical_and_(moves.player >= 0)
        number = None if self._number is None else self._number.view(-1)
        shape = moves.player.shape
        seen = Seen(self._observation.flatten(0, 1), None, shape, number)
        if self._history is None:
            return moves.trajectories(seen, None)
        return moves.trajectories(seen, Seen(self._history.flatten(0, 1), None, shape))

    def _check_movers(self, is_first_game: torch.Tensor, goes_on: torch.Tensor) -> None:
        waits = (is_first_game & (self._moves.player < 0)).any()
        if waits or (goes_on & (self.environment.current_player() < 0)).any():
            _refuse_chance()


def sampled(
    probabilities: torch.Tensor, legal: torch.Tensor, threshold: torch.Tensor
) -> torch.Tensor:
    """Actions: int64 [B], none of them of probability 0.

    Args:
      probabilities: float32 [B, A], some of them positive in every row. Where one is NaN or
        infinite, the action is the first legal one, and the learner's losses show it.
      legal: bool [B, A].
      threshold: float64 [B], random numbers in [0, 1).
    """
    total = probabilities.cumsum(dim=1, dtype=torch.float64) * (probabilities > 0)
    bound = threshold.unsqueeze(1) * total.amax(dim=1, keepdim=True)
    return ((total > bound) | (legal & ~bound.isfinite())).int().argmax(dim=1)


def _refuse_chance() -> None:
    raise ValueError(
        "between two moves there were more chance events than in the games that "
        "BatchedEnvironment played to count them, so a move was lost; set the rules' "
        "longest_chance_run"
    )


class _CompiledSource(Source):
    """What the two sources that are stepped by compiled loops have in common."""

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


class PlayerLists:
    """What movers know in compiled games, as rows of `GrowingInputs`."""

    def __init__(self, num_games: int, num_rows: int, num_inputs: int):
        """Room for so many rows of as many games; players know nothing yet.

        Args:
          num_games: B.
          num_rows: N, how many at most.
          num_inputs: D.
        """
        self._num_inputs = num_inputs
        sequence, begin, end = np.zeros((3, num_rows), np.int32)
        known = np.zeros((2 * num_games, 3), np.int32)
        self._arrays = GrowingArrays(sequence, begin, end, known)
        self._running: dict[int, np.ndarray] = {}

    def restart(self) -> None:
        """Players know nothing any more."""
        self._arrays.known.fill(0)

    def meet(self, t: int, games: Games, num_rows: int, moves: MoveArrays) -> int:
        """As `play_kernels.meet_players`."""
        return int(play_kernels.meet_players(t, games, self._arrays, num_rows, moves))

    def shown(self, games: Games, begin: int, end: int) -> GrowingInputs:
        """Some rows; the network that is asked must have been asked of those before, too."""
        return self.rows(games, begin, end, self._running)

    def rows(
        self, games: Games, begin: int, end: int, running: dict[int, np.ndarray] | None = None
    ) -> GrowingInputs:
        """Some rows, the first ones to be asked of a network begin at 0."""
        ones = games.bits.reshape(-1, games.bits.shape[2])
        sequence, begins, ends = (x[begin:end] for x in self._arrays[:3])
        return GrowingInputs(ones, sequence, begins, ends, self._num_inputs, running)


class CompiledSource(_CompiledSource):
    """A small batch of games by the compiled form of their rules, on a CPU.

    Attributes:
      environment: where.
    """

    def __init__(self, environment: CompiledEnvironment, num_steps: int):
        """Makes room for so many moves of each game."""
        rules = environment.rules
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.games.player)
        num_inputs = 2 + rules.public_size(True) + rules.private_size(True)
        super().__init__((num_steps, num_games, rules.num_actions), num_inputs)
        self._lists = PlayerLists(num_games, num_steps * num_games, num_inputs)
        # Of histories: the ones of each game, and the rows.
        self._ones = np.zeros((num_games, 2 * environment.games.bits.shape[2]), np.int32)
        sequence, begin, end = np.zeros((3, num_steps * num_games), np.int32)
        known = np.zeros((num_games, 3), np.int32)
        self._history_lists = GrowingArrays(sequence, begin, end, known)
        self._history_size = 0

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        rules = self.environment.rules
        self._history_size = rules.public_size(True) + 2 * rules.private_size(True)
        return self._history_size

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()
        self._lists.restart()
        self._history_lists.known.fill(0)
        self._num_rows = 0

    def look(self, t: int) -> Shown:
        """As `Source.look`."""
        if not t:
            self._chance = self.environment.random_numbers(self.num_steps)
        games, begin = self.environment.games, self._num_rows
        if self._history_size:
            rules = self.environment.rules
            sizes = (rules.public_size(True), rules.private_size(True))
            play_kernels.meet_histories(games, sizes, self._ones, self._history_lists, begin)
        self._num_rows_before = begin
        self._num_rows = self._lists.meet(t, games, begin, self._arrays)
        legal = torch.from_numpy(games.legal[games.player >= 0])
        return Shown(self._lists.shown(games, begin, self._num_rows), legal)

    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """As `Source.move`."""
        self._choose(t, policy, thresholds)
        self.environment.move(self._moves.action[t], self._chance[t])

    def finish(self) -> Trajectories:
        """As `Source.finish`."""
        games, moves = self.environment.games, self._moves
        if play_kernels.look_back(games.player, games.returns, self._arrays):
            _refuse_chance()
        shape = moves.place.shape
        seen = Seen(self._lists.rows(games, 0, self._num_rows), moves.place, shape)
        if not self._history_size:
            return moves.trajectories(seen, None)
        sequence, begin, end = (x[: self._num_rows] for x in self._history_lists[:3])
        histories = GrowingInputs(self._ones, sequence, begin, end, self._history_size)
        return moves.trajectories(seen, Seen(histories, moves.place, shape))


class TreeSource(_CompiledSource):
    """A compiled tree on a CPU, in compiled loops.

    Attributes:
      environment: the tree's tables.
    """

    def __init__(self, environment: TreeEnvironment, num_steps: int):
        """Makes room for so many moves of each game."""
        self.environment, self.generator = environment, environment.generator
        num_games = len(environment.history)
        super().__init__(
            (num_steps, num_games, environment.infoset_legal.shape[1]),
            environment.infoset_tensors.shape[1],
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
        _, tensors = self.environment.history_tables()
        met = np.zeros(len(self._met), np.int64)
        self._histories = Listed(np.zeros(len(tensors), np.int64), met)
        self._history_place = torch.zeros_like(self._moves.place)
        return int(tensors.shape[1])

    def record_branches(self) -> bool:
        """As `Source.record_branches`."""
        self._has_branches = True
        return True

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
            environment.infoset_tensors.index_select(0, number),
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
        rows = environment.infoset_tensors.index_select(0, number)
        seen = Seen(rows, moves.place, moves.place.shape, number)
        if self._histories is None:
            return moves.trajectories(seen, None)
        return moves.trajectories(seen, *self._look_back())

    def _look_back(self) -> tuple[Seen, Branches | None]:
        """The histories before all moves, each once, and what comes of actions there."""
        assert self._histories is not None
        environment, place = self.environment, self._history_place
        numbers, tensors = environment.history_tables()
        of_moves = numbers.index_select(0, self._history[:-1].view(-1)).view(place.shape)
        count = play_kernels.list_once(of_moves.numpy(), self._histories, place.numpy())
        met = torch.from_numpy(self._histories.met[:count])
        seen = Seen(tensors.index_select(0, met), place, place.shape, met)
        if not self._has_branches:
            return seen, None
        after, utility = environment.branches(met)
        goes_on = after >= 0
        found, of_action = after[goes_on].unique(return_inverse=True)
        after[goes_on] = of_action
        return seen, Branches(tensors.index_select(0, found), after, utility)
