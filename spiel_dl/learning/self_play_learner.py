"""`SelfPlayLearner`: the base class of learners of policies by self-play."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch

from spiel_dl.learning.action_values import (
    ActionValueTrainer,
    HistoryTargets,
    HistoryValues,
    history_targets,
)
from spiel_dl.learning.batch_learner import BatchLearner, largest_utility
from spiel_dl.learning.config import CriticConfig, LearnerConfig, checked_config
from spiel_dl.learning.self_play import ActingNetwork, LayerOutputs
from spiel_dl.learning.sources import ActingPolicy, MoveInputs, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.networks.perceptron import ForwardPass, output_buffers
from spiel_dl.networks.sparse_rows import Inputs
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.policies.sight import FEATURES
from spiel_dl.tree.load import AnyGame

_TARGET = 0  # row of the fixed networks' parameters; the regularisation policies come after it


class SelfPlayLearner(BatchLearner):
    """A policy network that learns from games against itself.

    Beside it are fixed networks, which gradients do not change. The target network is a running
    average of the current one over the last steps; `policy` returns its policy, because the current
    one cycles around its fixed point. The others are regularisation policies, towards which the
    learner is pulled: copies of the target network, renewed once in a while.

    Attributes:
      default_config: the class of the configuration, set by each subclass.
      num_regularization_policies: how many of them the algorithm uses.
      network: the network.
      parameters: float32 [P], its current parameters.
      utility_scale: the unit in which rewards and values are learned: the configuration's
        `utility_unit`, or the game's largest absolute utility.
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
        cuda_graph: bool = False,
    ):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          device: of games and networks.
          transformations: the opponent's deviations that a critic learns to value; None: no critic.
          critic: how the critic learns; None: the defaults.
          cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.

        Raises:
          ValueError: if the game cannot be learned here, if a transformation does not fit it, if
            the config is another learner's, if `critic` is given without transformations, or if a
            step cannot be a graph.
        """
        config = checked_config(config, self.default_config, type(self).__name__)
        super().__init__(
            game,
            config,
            device=device,
            batch_size=config.batch_size,
            max_tree_histories=config.max_tree_histories,
            transformations=transformations,
            critic=critic,
            cuda_graph=cuda_graph,
        )
        source = self._self_play
        self.network = PolicyNetwork(source.num_inputs, source.num_actions, config.hidden_sizes)
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters, config.descents_per_step)
        self._action_values: ActionValueTrainer | None = None
        if config.history_values:
            size = source.record_histories()
            self._action_values = ActionValueTrainer(size, source.num_actions, config, device)
        self.utility_scale = config.utility_unit or largest_utility(self.game)
        num_fixed = 1 + self.num_regularization_policies
        self._fixed = self.parameters.detach().repeat(num_fixed, 1)
        self._logit_tables = self._tabulate()
        self._acting: ActingNetwork  # of the games played last
        layers = self.network.padded_layers(self.parameters.detach())
        self._buffers = output_buffers(layers, source.num_steps * source.batch_size)
        # Tensors, because a CUDA graph does not see changes of Python's numbers.
        self._schedule_values = {name: torch.zeros((), device=device) for name in self._schedule()}

    def step(self) -> None:
        """As `Learner.step`."""
        for name, number in self._schedule().items():
            self._schedule_values[name].fill_(number)
        super().step()

    def _schedule(self) -> dict[str, float]:
        """The numbers that change from step to step, at this step; copied to `_schedule_values`."""
        return {"target_rate": self.config.target_rate(self.num_steps)}

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """Both players' policy learned so far.

        Args:
          fine_tuning: applied to the network's policy; None: nothing.

        Returns:
          An `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`. Later steps do not
          change it.
        """
        parameters, tree = self._fixed[_TARGET].clone(), self._tree()
        if tree is not None:
            return tree.tabulate(self.network, parameters, fine_tuning)
        return NetworkPolicy(self.game, self.network, parameters, fine_tuning, self.utility_scale)

    @torch.no_grad()
    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        terms = self._descend(trajectories)
        self._fixed[_TARGET].lerp_(self.parameters.detach(), self._schedule_values["target_rate"])
        return terms

    @abc.abstractmethod
    def _descend(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Updates the current parameters; returns the `losses`."""

    def _apply_gradient(
        self, forward: ForwardPass, gradient: torch.Tensor, observations: MoveInputs
    ) -> None:
        """One step of Adam, from the gradient by the outputs at all moves, [T, B, A + 1]."""
        self._descent.apply_gradients([forward.gradient(observations.sum_by_row(gradient))])

    def _history_values(self, trajectories: Trajectories) -> HistoryValues | None:
        """The action values of the histories; None if none are learned."""
        return None if self._action_values is None else self._action_values.evaluate(trajectories)

    def _history_targets(
        self,
        values: HistoryValues,
        trajectories: Trajectories,
        policy: torch.Tensor,
        cost: torch.Tensor,
        *,
        c_bar: float = 1.0,
    ) -> HistoryTargets:
        """Targets by action values of histories, in units of `utility_scale`; trains these, too."""
        assert self._action_values is not None
        targets = history_targets(
            action_value=values.at_moves,
            policy=policy,
            cost=cost,
            trajectories=trajectories,
            reward=trajectories.reward / self.utility_scale,
            trace_decay=self.config.history_trace_decay,
            c_bar=c_bar,
        )
        self._action_values.learn(values, targets, trajectories)
        return targets

    def _renew_regularization(self) -> None:
        """Makes the target network the newest regularisation policy; drops the oldest."""
        self._fixed[2:] = self._fixed[1:-1].clone()
        self._fixed[1] = self._fixed[_TARGET]
        self._renew_tables()

    def target_value(self, observations: MoveInputs, inputs: Inputs) -> torch.Tensor:
        """The target network's values, in units of `utility_scale`: [T, B].

        Args:
          observations: the movers' observations.
          inputs: their rows, dense or sparse.
        """
        return observations.at_moves(self.network.values(self._fixed[_TARGET], inputs))

    def regularization_logits(
        self, observations: MoveInputs, inputs: Inputs, num_newest: int
    ) -> torch.Tensor:
        """Logits of the K newest regularisation policies at all observations: float32 [K, N, A].

        The newest comes first. Logits of illegal actions are without meaning.

        Args:
          observations: the movers' observations.
          inputs: their rows, dense or sparse.
          num_newest: K, at least 1.
        """
        if self._logit_tables is not None and observations.table_row is not None:
            return self._logit_tables[:num_newest].index_select(1, observations.table_row)
        return self.network.outputs(self._fixed[1 : num_newest + 1], inputs)[..., :-1]

    def _tabulate(self) -> torch.Tensor | None:
        """Logits of the regularisation policies at all infosets: float32 [K, R, A].

        They are constant for a whole period. None if the game is not compiled.
        """
        tree = self._tree()
        if tree is None or not self.num_regularization_policies:
            return None
        outputs = self.network.outputs(self._fixed[1:], tree.infoset_features)
        return outputs[..., :-1].contiguous()

    def _renew_tables(self) -> None:
        """Renews `_logit_tables`, in place, because a CUDA graph reads them."""
        tables = self._tabulate()
        if tables is not None and self._logit_tables is not None:
            self._logit_tables.copy_(tables)

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """As `Learner.load_state`."""
        super().load_state(state)
        self._renew_tables()

    def _tensors(self) -> dict[str, torch.Tensor]:
        tensors = {"parameters": self.parameters, "fixed_parameters": self._fixed}
        tensors |= self._descent.state(self.parameters, "adam.")
        if self._action_values is not None:
            tensors |= {f"histories.{n}": t for n, t in self._action_values.tensors().items()}
        return {**super()._tensors(), **tensors}

    def _header(self) -> dict[str, Any]:
        sizes = list(self.network.hidden_sizes)
        place = {"array": "fixed_parameters", "row": _TARGET}
        network = {"hidden_sizes": sizes, "fine_tuning": None, "sight": FEATURES}
        return {"policy": {**place, **network, "value_unit": self.utility_scale}}

    def _acting_policy(self) -> ActingPolicy:
        outputs = LayerOutputs(self._buffers)
        self._acting = ActingNetwork(self.network, self.parameters.detach(), layer_outputs=outputs)
        return self._acting

    def policy_at(self, observations: MoveInputs) -> torch.Tensor:
        """As `BatchLearner.policy_at`."""
        assert observations.legal is not None  # they are observations
        outputs = self.network.outputs(self._fixed[_TARGET], observations.rows)
        return policy_of(outputs[:, :-1], observations.legal)
