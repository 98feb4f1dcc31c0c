"""`SelfPlayLearner`: what learners of policies by self-play have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from spiel_dl.learning.compiled_self_play import ActingNetwork
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.self_play import ActingPolicy, Trajectories
from spiel_dl.learning.tabulation import tabulate
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.tree.load import AnyGame


class SelfPlayLearner(Learner):
    """A policy network that learns from games against itself.

    Attributes:
      default_config: the class of the configuration; each subclass says which.
      policy_place: where in a checkpoint the parameters of the policy are that is handed out: the
        name of an array, and a row of it, or None if they are all of it.
      network: the network.
      parameters: float32 [P], its current parameters.
    """

    config: LearnerConfig
    default_config: ClassVar[type[LearnerConfig]]
    policy_place: ClassVar[tuple[str, int | None]] = ("parameters", None)

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
            it, or if there are parameters of a critic without transformations.
        """
        config = config or self.default_config()
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
        self.network = PolicyNetwork(
            environment.information_state_tensor().shape[1],
            environment.legal_actions().shape[1],
            config.hidden_sizes,
        )
        self.parameters = self.network.initial_parameters(config.seed).to(device)
        self._descent = config.descent(self.parameters)

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The policy that was learned so far, for both players.

        Args:
          fine_tuning: what to do to the network's policy; None: nothing.

        Returns:
          An `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`. Later steps do not
          change it.
        """
        parameters = self._policy_parameters().detach().clone()
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            return tabulate(environment, self.network, parameters, fine_tuning)
        return NetworkPolicy(self.game, self.network, parameters, fine_tuning)

    def _policy_parameters(self) -> torch.Tensor:
        """Parameters of the policy that is handed out."""
        return self.parameters

    def _tensors(self) -> dict[str, torch.Tensor]:
        adam = self._descent.state(self.parameters)
        tensors = {"parameters": self.parameters, **{f"adam.{n}": t for n, t in adam.items()}}
        return {**super()._tensors(), **tensors}

    def _described(self) -> dict[str, Any]:
        array, row = self.policy_place
        sizes = list(self.network.hidden_sizes)
        return {"array": array, "row": row, "hidden_sizes": sizes, "fine_tuning": None}

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        act = ActingNetwork(self.network, self.parameters.detach())
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            legal = environment.infoset_legal
            # All at once, unless that is much more than is asked for move by move.
            if len(legal) <= 2 * self._self_play.num_steps * self.config.batch_size:
                return act(environment.infoset_tensors, legal)
        return act

    @torch.no_grad()
    def policy_at(self, trajectories: Trajectories) -> torch.Tensor:
        """As `Learner.policy_at`."""
        seen = trajectories.distinct_observations()
        logits = self.network.evaluate(self._policy_parameters(), seen.tensors).logits
        return policy_of(seen.at_moves(logits), trajectories.legal)
