"""What self-play plays: batches of games that show their movers what networks see, move by move.

`TensorSource` plays any environment; `compiled_sources` has faster ones for CPUs.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple, TypeAlias

import torch

from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.learning.play_kernels import MoveArrays
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.policy_network import as_mask


class Seen(NamedTuple):
    """Observations, or histories, of T moves in each of B games, of which networks are asked.

    On a CPU, each is there once: players of small games meet few infosets, again and again.

    Attributes:
      rows: float32 [N, D].
      place: the row of each move, int64 [T, B], any row for moves that have none; None: the rows
        are those of the moves, in turn.
      shape: (T, B).
      legal: bool [N, A], the legal actions of who observes; None for histories.
      number: int64 [N], the rows' numbers in the tables of a compiled game; None elsewhere.
    """

    rows: torch.Tensor
    place: torch.Tensor | None
    shape: torch.Size
    legal: torch.Tensor | None = None
    number: torch.Tensor | None = None

    def mask(self) -> torch.Tensor:
        """Float32 [N, A], 1 for legal actions and 0 for others."""
        assert self.legal is not None
        return as_mask(self.legal)

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
        whole = gradient.new_zeros((len(self.rows), gradient.shape[1]))
        return whole.index_add_(0, self.place.view(-1), gradient)


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
        recorded = {name: each for name, each in self._asdict().items() if name != "place"}
        return Trajectories(seen=seen, histories=histories, branches=branches, **recorded)


class Shown(NamedTuple):
    """What is shown of a move to who acts: each thing once, and nothing that was shown before.

    Attributes:
      rows: what networks see as movers, float32 [N, D].
      legal: bool [N, A], their legal actions.
      number: int64 [N], their numbers in the tables of a compiled game; None elsewhere.
    """

    rows: torch.Tensor
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
      num_inputs: D, how much networks see as movers.
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
        """Makes trajectories show whole histories from now on; returns E, how much they show."""

    def record_branches(self) -> None:  # noqa: B027 - the others cannot
        """Makes trajectories show what would come of all actions, if they can."""

    @abc.abstractmethod
    def start(self) -> None:
        """Starts new games."""

    @abc.abstractmethod
    def look(self, t: int) -> Shown:
        """Shows what networks see as movers before move t."""

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


Environment: TypeAlias = BatchedEnvironment | StateEnvironment | TreeEnvironment
"""B games played at once by tensors; `games.environments` says how."""


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
        self.environment, self.generator = environment, environment.generator
        self.num_steps = num_steps
        self.is_capturable = not isinstance(environment, StateEnvironment)
        observation = environment.features()
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
        history = self.environment.history_features()
        self._history = history.new_zeros((self.num_steps, *history.shape))
        return int(history.shape[1])

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()

    def look(self, t: int) -> Shown:
        """As `Source.look`."""
        environment, moves = self.environment, self._moves
        observation = environment.features(out=self._observation[t])
        moves.legal[t] = environment.legal_actions()
        moves.player[t] = environment.current_player()
        if self._history is not None:
            environment.history_features(out=self._history[t])
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
        seen = Seen(self._observation.flatten(0, 1), None, shape, moves.legal.flatten(0, 1), number)
        if self._history is None:
            return moves.trajectories(seen, None)
        return moves.trajectories(seen, Seen(self._history.flatten(0, 1), None, shape))

    def _check_movers(self, is_first_game: torch.Tensor, goes_on: torch.Tensor) -> None:
        waits = (is_first_game & (self._moves.player < 0)).any()
        if waits or (goes_on & (self.environment.current_player() < 0)).any():
            refuse_chance()


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


def refuse_chance() -> None:
    """Raises a ValueError, because a row waited for chance inside a game."""
    raise ValueError(
        "between two moves there were more chance events than in the games that "
        "BatchedEnvironment played to count them, so a move was lost; set the rules' "
        "longest_chance_run"
    )
