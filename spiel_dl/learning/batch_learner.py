"""`BatchLearner`: learns from batches of whole games; may train a critic on the same games.

    learner = rnad.RNaDSolver("leduc_poker", transformations=pure_transformations(3))
    ...
    critic = learner.critic()

How the critic learns is described in `learning.critic_training`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyspiel
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.config import CriticConfig, NetworkConfig, checked_config
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.critic_training import CriticTrainer
from spiel_dl.learning.environments import self_play_of
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.sources import ActingPolicy, MoveInputs, Trajectories
from spiel_dl.learning.step_graph import StepGraph
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame, turn_based_game

_NUM_MOVES = "num_moves"
_CRITIC_LOSS = "critic_loss"


class BatchLearner(Learner):
    """Plays batches of games and learns from them; with policy transformations, trains a critic.

    The critic (Kubíček et al., 2023, section 4.1) values the policy that `policy` returns, and
    learns from the same games. All else that is learned is the same to the last bit as without it,
    unless chance acts after a move: the critic draws the chance events after actions that were not
    taken from the same generator.

    Attributes:
      losses: the names of the numbers that `_learn` returns.
    """

    losses: tuple[str, ...]
    config: NetworkConfig

    def __init__(
        self,
        game: AnyGame,
        config: NetworkConfig,
        *,
        device: torch.device | str,
        batch_size: int,
        max_tree_histories: int,
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
        cuda_graph: bool = False,
    ):
        """Makes the games and, if there are transformations, a fresh critic.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn.
          device: of games and networks.
          batch_size: games per learner step.
          max_tree_histories: games of at most so many histories are compiled and played by tables.
          transformations: the opponent's deviations that the critic values; None: no critic.
          critic: how it learns; None: the defaults.
          cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.

        Raises:
          ValueError: if the game cannot be learned here, if a transformation does not fit it, if
            `critic` is given without transformations, if torch cannot compute on the device, or if
            a step cannot be a graph.
        """
        if critic is not None and transformations is None:
            raise ValueError(
                f"{critic} is for a critic of policy transformations, of which there are none; "
                "pass transformations= too"
            )
        critic_losses = (_CRITIC_LOSS,) if transformations is not None else ()
        self.terms = (*self.losses, *critic_losses, _NUM_MOVES)
        super().__init__(turn_based_game(game), config, device)
        # A compiled game is played by tables, however large it is.
        self._self_play = self_play_of(
            game if isinstance(game, GameTree) else self.game,
            batch_size,
            device,
            seed=config.seed,
            max_tree_histories=max_tree_histories,
        )
        source = self._self_play
        self._critic: CriticTrainer | None = None
        if transformations is not None:
            self._critic = CriticTrainer(
                source.record_histories(),
                source.num_actions,
                transformations,
                checked_config(critic, CriticConfig, "a critic"),
                device,
                largest_utility=largest_utility(self.game),
            )
            source.record_branches()
        self._step: Callable[[], torch.Tensor] = self._play_and_learn
        if cuda_graph:
            self._step = StepGraph(self._play_and_learn, source)

    @property
    def is_graph(self) -> bool:
        """Whether a step is one CUDA graph."""
        return isinstance(self._step, StepGraph)

    def _tree(self) -> TreeEnvironment | None:
        """The tables of the game; None if it is not compiled."""
        environment = self._self_play.environment
        return environment if isinstance(environment, TreeEnvironment) else None

    @property
    def transformations(self) -> PolicyTransformations | None:
        """The transformations that the critic values; None if there is no critic."""
        return None if self._critic is None else self._critic.transformations

    def _advance(self) -> torch.Tensor:
        return self._step()

    def _play_and_learn(self) -> torch.Tensor:
        trajectories = self.play()
        terms = self._learn(trajectories)
        if self._critic is not None:
            policy = self.policy_at(trajectories.observations)
            terms = [*terms, self._critic.learn(trajectories, policy)]
        return torch.stack([*terms, trajectories.valid.sum().to(self._log.dtype)])

    def play(self) -> Trajectories:
        """A batch of games by the acting policy, in tensors that the next call overwrites.

        Draws from the same generator as `step`.
        """
        return self._self_play.play(self._acting_policy())

    def critic(self) -> NetworkCritic:
        """The critic learned so far; later steps do not change it.

        Raises:
          ValueError: if this learner trains none.
        """
        if self._critic is None:
            raise ValueError(
                "this learner has no critic; pass transformations= when it is made to train one"
            )
        return self._critic.critic(self.game)

    @abc.abstractmethod
    def policy(self, fine_tuning: FineTuning | None = None) -> openspiel_policy.Policy:
        """Both players' policy learned so far, which the critic, if there is one, values.

        Args:
          fine_tuning: applied to the policy; None: nothing.
        """

    def metrics(self) -> dict[str, float]:
        """As `Learner.metrics`, with environment steps (moves of players) per second."""
        means = super().metrics()
        if _NUM_MOVES in means:
            moves = means.pop(_NUM_MOVES)
            means["environment_steps_per_second"] = moves * means["learner_steps_per_second"]
        return means

    @abc.abstractmethod
    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Updates the parameters; returns the `losses`, scalars each."""

    @abc.abstractmethod
    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        """The acting policy, as `Source.play` takes it."""

    @abc.abstractmethod
    def policy_at(self, observations: MoveInputs) -> torch.Tensor:
        """The policy that `policy` returns, at each observation: float32 [N, A].

        Illegal actions have probability 0.
        """

    def _tensors(self) -> dict[str, torch.Tensor]:
        if self._critic is None:
            return {}
        return {f"critic.{name}": tensor for name, tensor in self._critic.tensors().items()}

    def _extra_state(self) -> dict[str, np.ndarray]:
        return {"generator": self._self_play.generator.get_state().numpy()}

    def _load_extra_state(self, state: Mapping[str, np.ndarray]) -> None:
        generator = self._self_play.generator
        needed = tuple(generator.get_state().shape)
        if (shape := state["generator"].shape if "generator" in state else "nothing") != needed:
            raise ValueError(
                f"the state's generator has shape {shape}, but {needed} is needed: it is the state "
                "of a learner on another device"
            )
        try:
            generator.set_state(torch.from_numpy(state["generator"]))
        except (RuntimeError, TypeError) as error:
            raise ValueError(f"the state's generator cannot be used: {error}") from None

    def _identity(self) -> dict[str, Any]:
        identity = super()._identity()
        return identity if self._critic is None else {**identity, "critic": self._critic.identity()}

    def _config_of(self, name: str) -> NetworkConfig:
        return self._critic.config if self._critic and "critic" in name else self.config


def largest_utility(game: pyspiel.Game) -> float:
    """The largest absolute utility; 1 where all are 0."""
    return max(abs(game.min_utility()), abs(game.max_utility())) or 1.0
