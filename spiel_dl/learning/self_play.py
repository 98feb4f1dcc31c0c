"""Self-play: whole games of a batch as tensors of fixed shape.

Every row plays one game from the root to its end and is masked from then on. If rows started new
games until a number of steps is over, short games would be too frequent among those that end in
time. Nothing looks at values on the host.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Protocol

import torch

from spiel_dl.games.environments import EpisodeEnds, keep_freed_memory
from spiel_dl.networks.listed_inputs import ListedInputs
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of

ActingPolicy = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From information state tensors (float32 [B, D]) and legal actions (bool [B, A]) to action
probabilities, float32 [B, A]."""


@dataclasses.dataclass(frozen=True)
class ActingNetwork:
    """The policy of a network, as an `ActingPolicy`.

    Attributes:
      network: the network.
      parameters: float32 [P], not to be changed while it acts.
      exploration: share of decisions that are made at random instead, all legal actions being
        equally likely.
    """

    network: PolicyNetwork
    parameters: torch.Tensor
    exploration: float = 0.0

    def __call__(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        """Action probabilities, float32 [B, A]; see `ActingPolicy`."""
        policy = policy_of(self.network.outputs(self.parameters, observation)[:, :-1], legal)
        return explored(policy, legal, self.exploration) if self.exploration else policy


def explored(policy: torch.Tensor, legal: torch.Tensor, exploration: float) -> torch.Tensor:
    """A policy that plays a share `exploration` of decisions at random: float32 [..., A]."""
    uniform = legal / legal.sum(dim=-1, keepdim=True).clamp(min=1)
    return torch.lerp(policy, uniform, exploration)


class Environment(Protocol):
    """B games played at once, as `spiel_dl.games.environments.BatchedEnvironment` plays them.

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


class Distinct(NamedTuple):
    """Observations or histories without those that a network need not be asked about again.

    Players of small games meet few infosets, again and again. On devices other than a CPU, none
    are left out: to count them takes longer than to ask about all.

    Attributes:
      tensors: float32 [N, D]; or the same as lists, `GrowingInputs` or `ListedInputs`.
      place: the row among them of each of T * B moves, int64 [T, B], any row for moves that have
        none; None: they are in turn, on devices other than a CPU.
      shape: (T, B).
      moves: int64 [N], if no two moves share a row: the moves, of all T * B, that have one.
    """

    tensors: Any
    place: torch.Tensor | None
    shape: torch.Size
    moves: torch.Tensor | None = None

    @staticmethod
    def of(tensors: torch.Tensor, number: torch.Tensor) -> Distinct:
        """Those among tensors (float32 [T, B, D]) of which equal numbers (int64 [T, B]) tell."""
        rows = tensors.flatten(0, 1)
        if tensors.device.type != "cpu":
            return Distinct(rows, None, number.shape)
        numbers, place = number.unique(return_inverse=True)
        some = torch.empty_like(numbers).scatter_(0, place.flatten(), torch.arange(len(rows)))
        return Distinct(rows.index_select(0, some), place, number.shape)

    def dense(self) -> Distinct:
        """The same as a matrix."""
        if isinstance(self.tensors, torch.Tensor):
            return self
        return self._replace(tensors=self.tensors.dense())

    def lists(self) -> Distinct:
        """The same as lists; on a CPU."""
        if not isinstance(self.tensors, torch.Tensor):
            return self
        return self._replace(tensors=ListedInputs.of(self.tensors))

    def at_moves(self, outputs: torch.Tensor) -> torch.Tensor:
        """What is said of the tensors, [N, ...], for each move: [T, B, ...]; 0 if it has none."""
        if self.moves is not None:
            spread: torch.Tensor = _Spread.apply(outputs, self.moves, self.shape)
            return spread
        if self.place is None:
            return outputs.unflatten(0, self.shape)
        return outputs[self.place]


class _Spread(torch.autograd.Function):
    """Rows to their places; as fast backwards as forwards, unlike torch's own."""

    @staticmethod
    def forward(  # type: ignore[no-untyped-def]
        context, outputs: torch.Tensor, moves: torch.Tensor, shape: torch.Size
    ) -> torch.Tensor:
        context.moves = moves
        spread = outputs.new_zeros((shape.numel(), *outputs.shape[1:]))
        return spread.index_copy_(0, moves, outputs).unflatten(0, shape)

    @staticmethod
    def backward(  # type: ignore[no-untyped-def]
        context, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        return gradient.flatten(0, 1).index_select(0, context.moves), None, None


class Branches(NamedTuple):
    """What comes of each action in some histories, one sampled chance event after the other.

    Attributes:
      tensors: float32 [M, E], histories in which a player acts; or the same as lists.
      place: int64 [N, A], for each history and action the row of what comes of it; -1 where the
        game is over then, or the action is not legal.
      utility: float32 [N, A], player 0's where the game is over.
    """

    tensors: Any
    place: torch.Tensor
    utility: torch.Tensor


class Trajectories(NamedTuple):
    """B games of at most T moves, move by move; tensors are valid where `valid` says so.

    Attributes:
      observation: float32 [T, B, D], the mover's information state tensor.
      legal: bool [T, B, A].
      player: int8 [T, B], who moves.
      action: int64 [T, B].
      behaviour: float32 [T, B, A], the probabilities the action was sampled from.
      reward: float32 [T, B], what player 0 gets for the move: its return, at a game's last move.
      valid: bool [T, B], whether the move is one of the game. A row's moves are its first ones.
      infoset: int64 [T, B], numbers of observations: those with the same number are the same. With
        `TableSelfPlay` they are rows of the tables of `TreeEnvironment`; elsewhere all differ.
      history: float32 [T, B, E], the whole history before the move; E is 0 unless histories are
        recorded.
      history_number: int64 [T, B], the same of histories as `infoset` is of observations.
    """

    observation: torch.Tensor
    legal: torch.Tensor
    player: torch.Tensor
    action: torch.Tensor
    behaviour: torch.Tensor
    reward: torch.Tensor
    valid: torch.Tensor
    infoset: torch.Tensor
    history: torch.Tensor
    history_number: torch.Tensor

    def distinct_observations(self) -> Distinct:
        """The observations, each once."""
        return Distinct.of(self.observation, self.infoset)

    def distinct_histories(self) -> Distinct:
        """The histories, each once."""
        return Distinct.of(self.history, self.history_number)


class ListedTrajectories(Trajectories):
    """`Trajectories` whose distinct observations or histories are known from play.

    They are there alone then: D is 0 in `observation`.

    Attributes:
      listed: the observations: one row for each move made, or for each infoset met; None: they are
        in `observation`.
      listed_histories: the histories likewise, and then E is 0; None: they are in `history`.
      branches: of the distinct histories; None: they are not known.
    """

    listed: Distinct | None = None
    listed_histories: Distinct | None = None
    branches: Branches | None = None

    def distinct_histories(self) -> Distinct:
        """As `Trajectories.distinct_histories`."""
        return self.listed_histories or super().distinct_histories()

    def distinct_observations(self) -> Distinct:
        """The observations that were listed, and what a network has said of them."""
        return self.listed or super().distinct_observations()


class SelfPlay:
    """Plays batches of games into the same tensors over and over.

    Attributes:
      environment: where.
      num_steps: T.
    """

    def __init__(self, environment: Environment, num_steps: int):
        """Makes room for the trajectories.

        Args:
          environment: the games.
          num_steps: T, the largest number of moves of a game. Games that take longer are masked
            from their first move.

        Raises:
          ValueError: if `num_steps` is not positive.
        """
        if num_steps < 1:
            raise ValueError(f"num_steps={num_steps} must be positive")
        self.environment = environment
        self.num_steps = num_steps
        legal = environment.legal_actions()
        observation = environment.information_state_tensor()
        steps = (num_steps, *legal.shape)
        size = num_steps * len(legal)
        numbers = torch.arange(size, device=legal.device).view(num_steps, len(legal))
        self._trajectories = Trajectories(
            observation=observation.new_zeros((num_steps, *observation.shape)),
            legal=legal.new_zeros(steps),
            player=environment.current_player().new_zeros(steps[:2]),
            action=legal.new_zeros(steps[:2], dtype=torch.int64),
            behaviour=observation.new_zeros(steps),
            reward=observation.new_zeros(steps[:2]),
            valid=legal.new_zeros(steps[:2]),
            infoset=numbers,
            history=observation.new_zeros((*steps[:2], 0)),
            history_number=numbers,
        )
        self._thresholds = observation.new_zeros(steps[:2], dtype=torch.float64)
        self._finished = torch.zeros_like(self._trajectories.valid)
        keep_freed_memory()

    def record_histories(self) -> int:
        """Makes the trajectories hold whole histories from now on; returns E, their length."""
        history = self.environment.history_tensor()
        room = history.new_zeros((self.num_steps, *history.shape))
        self._trajectories = self._trajectories._replace(history=room)
        return int(history.shape[1])

    def record_branches(self) -> bool:
        """Makes trajectories tell what would come of all actions, if they can; whether they do."""
        return False

    @torch.no_grad()
    def play(self, policy: ActingPolicy | torch.Tensor) -> Trajectories:
        """Plays one game in every row.

        An action is the first one at which the sum of probabilities exceeds a random number; where
        probabilities are NaN, the first legal one.

        Args:
          policy: who acts, and how; a table of policies is for `TableSelfPlay`.

        Returns:
          The games, in tensors that the next call overwrites.

        Raises:
          ValueError: if the policy is a table; on a CPU, if a row waits for chance inside a game.
            On other devices, where nothing looks at values, that move becomes invalid.
        """
        if isinstance(policy, torch.Tensor):
            raise ValueError(
                f"a policy table of shape {tuple(policy.shape)} can only be played in a compiled "
                "game, by TableSelfPlay; pass a function"
            )
        environment, record = self.environment, self._trajectories
        thresholds = self._start()
        for t in range(self.num_steps):
            observation = environment.information_state_tensor(out=record.observation[t])
            legal = environment.legal_actions()
            probabilities = policy(observation, legal)
            record.action[t] = sampled(probabilities, legal, thresholds[t])
            record.legal[t] = legal
            record.player[t] = environment.current_player()
            record.behaviour[t] = probabilities
            if record.history.shape[-1]:
                environment.history_tensor(out=record.history[t])
            self._finished[t], record.reward[t] = environment.step(record.action[t])
        num_finished = self._finished.cumsum(dim=0)
        is_first_game = num_finished - self._finished.long() == 0
        if record.player.device.type == "cpu":
            self._check_movers(is_first_game, num_finished[-1] == 0)
        record.reward.mul_(is_first_game)
        torch.logical_and(is_first_game, num_finished[-1] > 0, out=record.valid)
        record.valid.logical_and_(record.player >= 0)
        return record

    def _start(self) -> torch.Tensor:
        """Starts new games; returns a random number in [0, 1) per move, float64 [T, B]."""
        self.environment.restart()
        return self._thresholds.uniform_(generator=self.environment.generator)

    def _check_movers(self, is_first_game: torch.Tensor, goes_on: torch.Tensor) -> None:
        waits = (is_first_game & (self._trajectories.player < 0)).any()
        if waits or (goes_on & (self.environment.current_player() < 0)).any():
            self._refuse_chance()

    def _refuse_chance(self) -> NoReturn:
        raise ValueError(
            "between two moves there were more chance events than in the games that "
            "BatchedEnvironment played to count them, so a move was lost; set the rules' "
            "longest_chance_run"
        )


def sampled(
    probabilities: torch.Tensor, legal: torch.Tensor, threshold: torch.Tensor
) -> torch.Tensor:
    """Actions: int64 [B], none of them of probability 0.

    Args:
      probabilities: float32 [B, A], some of them positive in every row. Where one is NaN or
        infinite, the action is the first legal one, and the learner's losses tell of it.
      legal: bool [B, A].
      threshold: float64 [B], random numbers in [0, 1).
    """
    total = probabilities.cumsum(dim=1, dtype=torch.float64) * (probabilities > 0)
    bound = threshold.unsqueeze(1) * total.amax(dim=1, keepdim=True)
    return ((total > bound) | (legal & ~bound.isfinite())).int().argmax(dim=1)
