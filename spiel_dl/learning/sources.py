"""Self-play: batches of whole games as tensors of fixed shape, played by sources.

Every row plays one game from the root to its end and is masked from then on. If rows started new
games until a number of steps is over, short games would be too frequent among those that end in
time. `TensorSource` plays any environment; `compiled_sources` has faster sources for CPUs.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import torch

from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.learning.play_kernels import MoveArrays
from spiel_dl.learning.state_environment import StateEnvironment
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.policy_network import as_mask

ActingPolicy = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Maps N movers' observations (float32 [N, D]) and legal actions (bool [N, A]) to action
probabilities, float32 [N, A]."""


class MoveInputs(NamedTuple):
    """Network inputs at T moves in each of B games: the movers' observations, or whole histories.

    On a CPU, each distinct input is one row: small games have few infosets, visited often.

    Attributes:
      rows: float32 [N, D], the inputs.
      row_index: int64 [T, B], the row of each move, arbitrary where nobody moves; None: row t B + b
        is that of move t in game b.
      shape: (T, B).
      legal: bool [N, A], the legal actions at an observation; None for histories.
      table_row: int64 [N], the rows' indices in the tables of a compiled game; None elsewhere.
    """

    rows: torch.Tensor
    row_index: torch.Tensor | None
    shape: torch.Size
    legal: torch.Tensor | None = None
    table_row: torch.Tensor | None = None

    def mask(self) -> torch.Tensor:
        """Float32 [N, A], 1 for legal actions and 0 for others."""
        assert self.legal is not None
        return as_mask(self.legal)

    def at_moves(self, outputs: torch.Tensor) -> torch.Tensor:
        """Values of the rows, [N, ...], at each move: [T, B, ...]."""
        if self.row_index is not None:
            outputs = outputs.index_select(0, self.row_index.view(-1))
        return outputs.unflatten(0, self.shape)

    def sum_by_row(self, gradient: torch.Tensor) -> torch.Tensor:
        """The gradient by outputs of the rows, [N, C], from that by outputs at moves, [T, B, C]."""
        gradient = gradient.flatten(0, 1)
        if self.row_index is None:
            return gradient
        row_gradient = gradient.new_zeros((len(self.rows), gradient.shape[1]))
        return row_gradient.index_add_(0, self.row_index.view(-1), gradient)


class Branches(NamedTuple):
    """The histories after each action in each of N histories; chance after it is sampled.

    Attributes:
      rows: float32 [M, E], the distinct next histories in which a player acts.
      row_index: int64 [N, A], the row of the history after each action; -1 where the game is over
        then, or the action is not legal.
      utility: float32 [N, A], player 0's where the game is over.
    """

    rows: torch.Tensor
    row_index: torch.Tensor
    utility: torch.Tensor


class Trajectories(NamedTuple):
    """B games of at most T moves; entries are meaningful where `valid`.

    Attributes:
      observations: the movers' observations.
      legal: bool [T, B, A].
      player: int8 [T, B], who moves.
      action: int64 [T, B].
      behaviour: float32 [T, B, A], the probabilities the action was sampled from.
      reward: float32 [T, B], what player 0 gets for the move: its return, at a game's last move.
      valid: bool [T, B], whether the move is part of the game; in each column the first ones.
      histories: the whole histories before the moves; None unless they are recorded.
      branches: those of the rows of `histories`; None unless they are recorded.
    """

    observations: MoveInputs
    legal: torch.Tensor
    player: torch.Tensor
    action: torch.Tensor
    behaviour: torch.Tensor
    reward: torch.Tensor
    valid: torch.Tensor
    histories: MoveInputs | None = None
    branches: Branches | None = None

    def of_actions(self, values: torch.Tensor) -> torch.Tensor:
        """The entries, of float [T, B, A], of the actions taken: float [T, B]."""
        return values.gather(-1, self.action.unsqueeze(-1)).squeeze(-1)


class Moves(NamedTuple):
    """The record of T moves in each of B games; see `Trajectories`.

    Attributes:
      row_index: int64 [T, B], the row of each move's observation; see `MoveInputs`.
    """

    player: torch.Tensor
    legal: torch.Tensor
    row_index: torch.Tensor
    behaviour: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    valid: torch.Tensor

    @staticmethod
    def empty(shape: tuple[int, int, int], device: torch.device | str = "cpu") -> Moves:
        """A record of T moves of A actions in each of B games, all zeros."""
        of_moves: Any = {"size": shape[:2], "device": device}
        return Moves(
            player=torch.zeros(**of_moves, dtype=torch.int8),
            legal=torch.zeros(shape, dtype=torch.bool, device=device),
            row_index=torch.zeros(**of_moves, dtype=torch.int64),
            behaviour=torch.zeros(shape, device=device),
            action=torch.zeros(**of_moves, dtype=torch.int64),
            reward=torch.zeros(**of_moves),
            valid=torch.zeros(**of_moves, dtype=torch.bool),
        )

    def arrays(self) -> MoveArrays:
        """The same memory as NumPy arrays, for compiled loops."""
        return MoveArrays(*(tensor.numpy() for tensor in self))

    def trajectories(
        self,
        observations: MoveInputs,
        histories: MoveInputs | None,
        branches: Branches | None = None,
    ) -> Trajectories:
        """The games, with their observations and histories."""
        recorded = {name: each for name, each in self._asdict().items() if name != "row_index"}
        return Trajectories(observations, **recorded, histories=histories, branches=branches)


class NewObservations(NamedTuple):
    """The movers' observations before a move that need a policy: those not listed before.

    Attributes:
      rows: float32 [N, D].
      legal: bool [N, A], the legal actions there.
      table_row: int64 [N], their indices in the tables of a compiled game; None elsewhere.
    """

    rows: torch.Tensor
    legal: torch.Tensor
    table_row: torch.Tensor | None = None


class Source(abc.ABC):
    """Plays B games of at most T moves at a time, each batch into the same tensors.

    Attributes:
      environment: the games.
      generator: draws everything that is random.
      num_steps: T.
      batch_size: B.
      num_actions: A.
      num_inputs: D, the length of an observation.
      is_capturable: whether playing can be captured in a CUDA graph.
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
        """Records whole histories from now on; returns E, the length of a history's tensor."""

    def record_branches(self) -> None:  # noqa: B027 - the others cannot
        """Records the `Branches` of histories from now on, if the source can."""

    @abc.abstractmethod
    def start(self) -> None:
        """Starts new games."""

    @abc.abstractmethod
    def observe(self, t: int) -> NewObservations:
        """The movers' new observations before move t."""

    @abc.abstractmethod
    def move(self, t: int, policy: torch.Tensor, thresholds: torch.Tensor) -> None:
        """Samples and makes move t.

        Args:
          t: the index of the move.
          policy: float32 [N, A], at the observations that `observe` returned.
          thresholds: float64 [T, B], random numbers in [0, 1).
        """

    @abc.abstractmethod
    def finish(self) -> Trajectories:
        """The games, after all T moves."""

    @functools.cached_property
    def _thresholds(self) -> torch.Tensor:
        """The random numbers of a batch: float64 [T, B]."""
        shape, device = (self.num_steps, self.batch_size), self.generator.device
        return torch.zeros(shape, dtype=torch.float64, device=device)

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
        self.start()
        self._thresholds.uniform_(generator=self.generator)
        for t in range(self.num_steps):
            observations = self.observe(t)
            if not isinstance(policy, torch.Tensor):
                probabilities = policy(observations.rows, observations.legal)
            elif observations.table_row is not None:
                probabilities = policy.index_select(0, observations.table_row)
            else:
                raise ValueError(
                    f"a policy table of shape {tuple(policy.shape)} can only be played in a "
                    "compiled game; pass a function"
                )
            self.move(t, probabilities, self._thresholds)
        return self.finish()


Environment: TypeAlias = BatchedEnvironment | StateEnvironment | TreeEnvironment
"""B games stepped at once; see `games.environments`."""


class TensorSource(Source):
    """Games of any environment, on any device; values are read back on a CPU only.

    Attributes:
      environment: the games.
    """

    def __init__(self, environment: Environment, num_steps: int):
        """Allocates the trajectories.

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
        self._moves = Moves.empty(shape, observation.device)
        self._finished = torch.zeros_like(self._moves.valid)
        self._observation = observation.new_zeros((num_steps, *observation.shape))
        self._history: torch.Tensor | None = None
        self._table_row: torch.Tensor | None = None
        if isinstance(environment, TreeEnvironment):
            self._table_row = torch.zeros_like(self._moves.action)

    def record_histories(self) -> int:
        """As `Source.record_histories`."""
        history = self.environment.history_features()
        self._history = history.new_zeros((self.num_steps, *history.shape))
        return int(history.shape[1])

    def start(self) -> None:
        """As `Source.start`."""
        self.environment.restart()

    def observe(self, t: int) -> NewObservations:
        """As `Source.observe`."""
        environment, moves = self.environment, self._moves
        observation = environment.features(out=self._observation[t])
        moves.legal[t] = environment.legal_actions()
        moves.player[t] = environment.current_player()
        if self._history is not None:
            environment.history_features(out=self._history[t])
        if self._table_row is None or not isinstance(environment, TreeEnvironment):
            return NewObservations(observation, moves.legal[t])
        self._table_row[t] = environment.infoset
        return NewObservations(observation, moves.legal[t], environment.infoset)

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
        moves.reward.mul_(is_first_game)
        torch.logical_and(is_first_game, num_finished[-1] > 0, out=moves.valid)
        table_row = None if self._table_row is None else self._table_row.view(-1)
        shape = moves.player.shape
        rows, legal = self._observation.flatten(0, 1), moves.legal.flatten(0, 1)
        observations = MoveInputs(rows, None, shape, legal, table_row)
        if self._history is None:
            return moves.trajectories(observations, None)
        histories = MoveInputs(self._history.flatten(0, 1), None, shape)
        return moves.trajectories(observations, histories)


def sampled(
    probabilities: torch.Tensor, legal: torch.Tensor, threshold: torch.Tensor
) -> torch.Tensor:
    """Samples actions, int64 [B], none of them of probability 0.

    Args:
      probabilities: float32 [B, A], at least one positive in every row. In a row with NaN or
        infinity, the action is the first legal one, and the learner's losses show it.
      legal: bool [B, A].
      threshold: float64 [B], random numbers in [0, 1).
    """
    total = probabilities.cumsum(dim=1, dtype=torch.float64) * (probabilities > 0)
    bound = threshold.unsqueeze(1) * total.amax(dim=1, keepdim=True)
    return ((total > bound) | (legal & ~bound.isfinite())).int().argmax(dim=1)
