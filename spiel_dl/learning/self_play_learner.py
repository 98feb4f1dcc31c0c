"""`SelfPlayLearner`: what learners of policies by self-play have in common."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch

from spiel_dl.learning.action_values import (
    ActionValueTrainer,
    HistoryAnswer,
    HistoryTargets,
    HistoryValues,
    history_targets,
)
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner, largest_utility
from spiel_dl.learning.self_play import ActingNetwork, ActingPolicy, Distinct, Trajectories
from spiel_dl.learning.step_kernels import References
from spiel_dl.learning.tabulation import tabulate
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, log_policy, policy_of
from spiel_dl.tree.load import AnyGame

_TARGET = 0  # row of the fixed networks' parameters; the regularisation policies come after it


class SelfPlayLearner(Learner):
    """A policy network that learns from games against itself.

    Beside it are networks that gradients do not change. The target network follows it slowly, so
    that it is an average over the last steps; its policy is the one that is handed out, because the
    current one goes round its fixed point. The others are regularisation policies, to which the
    learner is drawn: copies of the target network, renewed once in a while.

    Attributes:
      default_config: the class of the configuration; each subclass says which.
      num_regularization_policies: how many of them the algorithm has.
      network: the network.
      parameters: float32 [P], its current parameters.
      utility_scale: the unit in which rewards and values are learned: the game's largest absolute
        utility, if the configuration says nothing else.
    """

    config: LearnerConfig
    default_config: ClassVar[type[LearnerConfig]]
    num_regularization_policies: ClassVar[int] = 0

    def __init__(
        self,
        game: AnyGame,
        config: LearnerConfig | None = None,
        *,
        device: torch.device | str = "cpu",
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
    ):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          device: where games are played and networks live.
          transformations: what opponents may do by a critic that learns, too; None: no critic.
          critic: how the critic learns; None: the defaults.

        Raises:
          ValueError: if the game is none that can be learned here, if a transformation is none for
            it, if the config is another learner's, or if there are parameters of a critic without
            transformations.
        """
        config = self.default_config() if config is None else config
        if not isinstance(config, self.default_config):
            raise ValueError(
                f"config is a {type(config).__name__}; {type(self).__name__} takes a "
                f"{self.default_config.__name__}"
            )
        super().__init__(
            game,
            config,
            device=device,
            batch_size=config.batch_size,
            max_tree_histories=config.max_tree_histories,
            transformations=transformations,
            critic=critic,
        )
        environment = self._self_play.environment
        num_actions = environment.legal_actions().shape[1]
        self.network = PolicyNetwork(
            environment.information_state_tensor().shape[1], num_actions, config.hidden_sizes
        )
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters)
        self._histories: ActionValueTrainer | None = None
        wants = config.history_values
        if wants or (wants is None and isinstance(environment, TreeEnvironment)):
            size = self._self_play.record_histories()
            self._histories = ActionValueTrainer(size, num_actions, config, device)
        self.utility_scale = config.utility_unit or largest_utility(self.game)
        num_fixed = 1 + self.num_regularization_policies
        self._fixed = self.parameters.detach().repeat(num_fixed, 1)
        self._log_policy_tables = self._tabulate()
        # A tensor, because a CUDA graph does not notice what changes in Python.
        self._target_rate = torch.zeros((), device=device)

    def step(self) -> None:
        """As `Learner.step`."""
        self._target_rate.fill_(self.config.target_rate(self.num_steps))
        super().step()

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The policy that was learned so far, for both players.

        Args:
          fine_tuning: what to do to the network's policy; None: nothing.

        Returns:
          An `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`. Later steps do not
          change it.
        """
        parameters = self._fixed[_TARGET].clone()
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            return tabulate(environment, self.network, parameters, fine_tuning)
        return NetworkPolicy(self.game, self.network, parameters, fine_tuning)

    def regularization_policy(self) -> ArrayPolicy:
        """The newest regularisation policy of a compiled game.

        Raises:
          ValueError: if the game is not compiled.
        """
        environment = self._self_play.environment
        if not isinstance(environment, TreeEnvironment):
            raise ValueError(
                f"{self.game} is not compiled, so there is no table of its infosets; raise "
                f"max_tree_histories={self.config.max_tree_histories}"
            )
        return tabulate(environment, self.network, self._fixed[1])

    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        terms = self._descend(trajectories, trajectories.distinct_observations())
        self._move_target()
        return terms

    @abc.abstractmethod
    def _descend(self, trajectories: Trajectories, seen: Distinct) -> list[torch.Tensor]:
        """Changes the current parameters; returns the `terms`.

        Args:
          trajectories: the games.
          seen: their observations.
        """

    def _history_values(self, trajectories: Trajectories) -> HistoryValues | None:
        """What is known of the histories; None: nothing."""
        return None if self._histories is None else self._histories.ask(trajectories)

    def _history_answer(self, trajectories: Trajectories) -> HistoryAnswer | None:
        """The same for compiled loops."""
        return None if self._histories is None else self._histories.answer(trajectories)

    def _learn_histories(self, said: HistoryAnswer | None) -> None:
        """One step along the gradient that a compiled loop has found."""
        if self._histories is not None and said is not None:
            self._histories.follow(said)

    def _history_targets(
        self,
        values: HistoryValues,
        trajectories: Trajectories,
        policy: torch.Tensor,
        cost: torch.Tensor,
        *,
        c_bar: float = 1.0,
    ) -> HistoryTargets:
        """As `learning.action_values.history_targets`, in units of `utility_scale`."""
        return history_targets(
            action_value=values.seen.at_moves(values.outputs.detach()),
            policy=policy,
            cost=cost,
            behaviour=trajectories.behaviour,
            action=trajectories.action,
            player=trajectories.player,
            valid=trajectories.valid,
            reward=trajectories.reward / self.utility_scale,
            trace_decay=self.config.history_trace_decay,
            c_bar=c_bar,
        )

    def _move_target(self) -> None:
        """Moves the target network to the current one, as far as it goes in a step."""
        self._fixed[_TARGET].lerp_(self.parameters.detach(), self._target_rate)

    def _renew_regularization(self) -> None:
        """The target network becomes the newest regularisation policy; the oldest is forgotten."""
        self._fixed[2:] = self._fixed[1:-1].clone()
        self._fixed[1] = self._fixed[_TARGET]
        self._renew_tables()

    @torch.no_grad()
    def target_value(self, seen: Distinct) -> torch.Tensor:
        """The target network's values of what was seen, in units of `utility_scale`: [T, B]."""
        return seen.at_moves(self._target_rows(seen))

    @torch.no_grad()
    def _target_rows(self, seen: Distinct) -> torch.Tensor:
        """The same by rows: float32 [N]."""
        return self.network.evaluate(self._fixed[_TARGET], seen.tensors).value

    @torch.no_grad()
    def regularization_log_policies(
        self, trajectories: Trajectories, seen: Distinct, num_newest: int
    ) -> torch.Tensor:
        """What the newest regularisation policies say of all moves.

        Args:
          trajectories: the moves.
          seen: their observations.
          num_newest: K, how many to ask.

        Returns:
          Float32 [K, T, B, A], the newest first.
        """
        if not num_newest:
            return trajectories.behaviour.new_zeros((0, *trajectories.behaviour.shape))
        if self._log_policy_tables is not None:
            return self._log_policy_tables[:num_newest, trajectories.infoset]
        networks = self._fixed[1 : num_newest + 1]
        logits = self.network.evaluate(networks, seen.tensors).logits
        at_moves = torch.stack([seen.at_moves(network) for network in logits])
        return log_policy(at_moves, trajectories.legal)

    @torch.no_grad()
    def _references(
        self, trajectories: Trajectories, seen: Distinct, num_newest: int
    ) -> References:
        """As `regularization_log_policies`, by rows; for `learning.step_kernels`."""
        if self._log_policy_tables is not None:
            return References(self._log_policy_tables[:num_newest], trajectories.infoset)
        networks = self._fixed[1 : num_newest + 1]
        assert seen.place is not None  # on a CPU
        return References(self.network.outputs(networks, seen.tensors), seen.place)

    @torch.no_grad()
    def _tabulate(self) -> torch.Tensor | None:
        """The regularisation policies at all infosets: float32 [K, R, A].

        They stay the same for a whole period. None if the infosets are not tabulated.
        """
        environment = self._self_play.environment
        if not isinstance(environment, TreeEnvironment):
            return None
        logits = self.network.evaluate(self._fixed[1:], environment.infoset_tensors).logits
        return log_policy(logits, environment.infoset_legal)

    def _renew_tables(self) -> None:
        """Tabulates again, in place, because a CUDA graph reads them."""
        tables = self._tabulate()
        if tables is not None and self._log_policy_tables is not None:
            self._log_policy_tables.copy_(tables)

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """As `Learner.load_state`."""
        super().load_state(state)
        self._renew_tables()

    def _tensors(self) -> dict[str, torch.Tensor]:
        adam = self._descent.state(self.parameters)
        tensors = {"parameters": self.parameters, "fixed_parameters": self._fixed}
        tensors |= {f"adam.{name}": tensor for name, tensor in adam.items()}
        if self._histories is not None:
            tensors |= {f"histories.{n}": t for n, t in self._histories.tensors().items()}
        return {**super()._tensors(), **tensors}

    def _described(self) -> dict[str, Any]:
        sizes = list(self.network.hidden_sizes)
        place = {"array": "fixed_parameters", "row": _TARGET}
        return {**place, "hidden_sizes": sizes, "fine_tuning": None}

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        act = ActingNetwork(self.network, self.parameters.detach())
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment) and not self.parameters.is_cpu:
            legal = environment.infoset_legal
            # All at once, unless that is much more than is asked for move by move.
            if len(legal) <= 2 * self._self_play.num_steps * self.config.batch_size:
                return act(environment.infoset_tensors, legal)
        return act

    @torch.no_grad()
    def policy_at(self, trajectories: Trajectories) -> torch.Tensor:
        """As `Learner.policy_at`."""
        seen = trajectories.distinct_observations()
        logits = self.network.evaluate(self._fixed[_TARGET], seen.tensors).logits
        return policy_of(seen.at_moves(logits), trajectories.legal)
