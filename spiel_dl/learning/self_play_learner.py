"""`SelfPlayLearner`: what learners of policies by self-play have in common."""

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
from spiel_dl.learning.self_play import ActingNetwork, ActingPolicy, Said
from spiel_dl.learning.sources import Seen, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
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
        cuda_graph: bool = False,
    ):
        """Makes a fresh network.

        Args:
          game: the game, its game string, or the compiled game.
          config: how to learn; None: the defaults.
          device: where games are played and networks live.
          transformations: what opponents may do by a critic that learns, too; None: no critic.
          critic: how the critic learns; None: the defaults.
          cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.

        Raises:
          ValueError: if the game is none that can be learned here, if a transformation is none for
            it, if the config is another learner's, if there are parameters of a critic without
            transformations, or if a step cannot be a graph.
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
        source = self._self_play.source
        self.network = PolicyNetwork(source.num_inputs, source.num_actions, config.hidden_sizes)
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters, config.descents_per_step)
        self._histories: ActionValueTrainer | None = None
        if config.history_values:
            size = source.record_histories()
            self._histories = ActionValueTrainer(size, source.num_actions, config, device)
        self.utility_scale = config.utility_unit or largest_utility(self.game)
        num_fixed = 1 + self.num_regularization_policies
        self._fixed = self.parameters.detach().repeat(num_fixed, 1)
        self._logit_tables = self._tabulate()
        self._acting: ActingNetwork
        layers = self.network.padded_layers(self.parameters.detach())
        self._room = output_buffers(layers, source.num_steps * source.batch_size)
        # Tensors, because a CUDA graph does not notice what changes in Python.
        self._now = {name: torch.zeros((), device=device) for name in self._schedule()}

    def step(self) -> None:
        """As `Learner.step`."""
        for name, number in self._schedule().items():
            self._now[name].fill_(number)
        super().step()

    def _schedule(self) -> dict[str, float]:
        """Numbers that change from step to step, as they are at this one; `_now` has them."""
        return {"target_rate": self.config.target_rate(self.num_steps)}

    def _tree(self) -> TreeEnvironment | None:
        """The tables of the game; None if it is not compiled."""
        environment = self._self_play.environment
        return environment if isinstance(environment, TreeEnvironment) else None

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The policy that was learned so far, for both players.

        Args:
          fine_tuning: what to do to the network's policy; None: nothing.

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
        self._fixed[_TARGET].lerp_(self.parameters.detach(), self._now["target_rate"])
        return terms

    @abc.abstractmethod
    def _descend(self, trajectories: Trajectories) -> list[torch.Tensor]:
        """Changes the current parameters; returns the `losses`."""

    def _said(self, trajectories: Trajectories) -> ForwardPass:
        """What the network says of the rows of the games that were played last."""
        return self._acting.forward_pass(trajectories.seen.rows)

    def _follow(self, said: ForwardPass, gradient: torch.Tensor, seen: Seen) -> None:
        """One step of Adam, by the gradient of what was said of all moves, [T, B, A + 1]."""
        self._descent.apply_gradients([said.gradient(seen.add_up(gradient))])

    def _history_values(self, trajectories: Trajectories) -> HistoryValues | None:
        """What is known of the histories; None: nothing."""
        return None if self._histories is None else self._histories.ask(trajectories)

    def _history_targets(
        self,
        values: HistoryValues,
        trajectories: Trajectories,
        policy: torch.Tensor,
        cost: torch.Tensor,
        *,
        c_bar: float = 1.0,
    ) -> HistoryTargets:
        """Targets by action values of histories, in units of `utility_scale`; these learn, too."""
        assert self._histories is not None
        targets = history_targets(
            action_value=values.at_moves,
            policy=policy,
            cost=cost,
            trajectories=trajectories,
            reward=trajectories.reward / self.utility_scale,
            trace_decay=self.config.history_trace_decay,
            c_bar=c_bar,
        )
        self._histories.learn(values, targets, trajectories)
        return targets

    def _renew_regularization(self) -> None:
        """The target network becomes the newest regularisation policy; the oldest is forgotten."""
        self._fixed[2:] = self._fixed[1:-1].clone()
        self._fixed[1] = self._fixed[_TARGET]
        self._renew_tables()

    def target_value(self, seen: Seen, shown: Inputs) -> torch.Tensor:
        """The target network's values, in units of `utility_scale`: [T, B].

        Args:
          seen: what was seen.
          shown: its rows, as the network was shown them.
        """
        return seen.at_moves(self.network.values(self._fixed[_TARGET], shown))

    def regularization_logits(self, seen: Seen, shown: Inputs, num_newest: int) -> torch.Tensor:
        """What the K newest regularisation policies say of all rows: float32 [K, N, A].

        The newest is the first one. Logits of illegal actions are without meaning.

        Args:
          seen: what was seen.
          shown: its rows, as the network was shown them.
          num_newest: K, at least 1.
        """
        if self._logit_tables is not None and seen.number is not None:
            return self._logit_tables[:num_newest].index_select(1, seen.number)
        return self.network.outputs(self._fixed[1 : num_newest + 1], shown)[..., :-1]

    def _tabulate(self) -> torch.Tensor | None:
        """Logits of the regularisation policies at all infosets: float32 [K, R, A].

        They stay the same for a whole period. None if the infosets are not tabulated.
        """
        tree = self._tree()
        if tree is None or not self.num_regularization_policies:
            return None
        outputs = self.network.outputs(self._fixed[1:], tree.infoset_features)
        return outputs[..., :-1].contiguous()

    def _renew_tables(self) -> None:
        """Tabulates again, in place, because a CUDA graph reads them."""
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
        if self._histories is not None:
            tensors |= {f"histories.{n}": t for n, t in self._histories.tensors().items()}
        return {**super()._tensors(), **tensors}

    def _described(self) -> dict[str, Any]:
        sizes = list(self.network.hidden_sizes)
        place = {"array": "fixed_parameters", "row": _TARGET}
        described = {"hidden_sizes": sizes, "fine_tuning": None, "sight": FEATURES}
        return {"policy": {**place, **described, "value_unit": self.utility_scale}}

    def _acting_policy(self) -> ActingPolicy:
        said = Said(self._room)
        self._acting = ActingNetwork(self.network, self.parameters.detach(), said=said)
        return self._acting

    def policy_at(self, seen: Seen) -> torch.Tensor:
        """As `BatchLearner.policy_at`."""
        assert seen.legal is not None  # they are observations
        return policy_of(self.network.outputs(self._fixed[_TARGET], seen.rows)[:, :-1], seen.legal)
