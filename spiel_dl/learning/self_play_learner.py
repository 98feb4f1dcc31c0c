"""`SelfPlayLearner`: what learners of policies by self-play have in common.

    learner = rnad.RNaDSolver("leduc_poker")
    for _ in range(1000):
        learner.step()
    print(learner.metrics())
    policy = learner.policy()  # an open_spiel Policy
    learner.save("leduc.safetensors")

With policy transformations, a critic is trained beside the policy, from the same games:

    learner = rnad.RNaDSolver("leduc_poker", transformations=pure_transformations(3))
    ...
    critic = learner.critic()
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.descent import Descent, NetworkConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.self_play import ActingPolicy, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import AnyGame, ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy, tabulate
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of


@dataclasses.dataclass(frozen=True)
class LearnerConfig(NetworkConfig):
    """What every learner by self-play is told; `NetworkConfig` has the rest.

    Attributes:
      batch_size: games per learner step, positive.
      max_tree_histories: games of at most so many histories are compiled and played by tables.
    """

    batch_size: int = 128
    max_tree_histories: int = 200_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("batch_size", self.batch_size > 0, "positive")


class SelfPlayLearner(Learner):
    """A policy network that learns from games against itself.

    Subclasses say what class their `default_config` is of.

    Attributes:
      network: the network.
      parameters: float32 [P], its current parameters.
    """

    config: LearnerConfig
    default_config: ClassVar[type[LearnerConfig]]

    def __init__(
        self,
        game: AnyGame,
        config: LearnerConfig | None = None,
        device: torch.device | str = "cpu",
        *,
        transformations: PolicyTransformations | None = None,
        critic: CriticConfig | None = None,
    ):
        """Makes a fresh network; arguments and errors are those of `Learner`.

        Without a config, the defaults are taken.
        """
        config = config or self.default_config()
        super().__init__(
            game,
            config,
            device,
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
        self._descent = Descent(self.parameters, config)

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

    @classmethod
    def policy_parameters_of(cls, arrays: Mapping[str, Any]) -> Any:
        """What a checkpoint's arrays say of the policy that is handed out: float32 [P]."""
        return arrays["parameters"]

    def _policy_parameters(self) -> torch.Tensor:
        """Parameters of the policy that is handed out."""
        return self.parameters

    def _tensors(self) -> dict[str, torch.Tensor]:
        return {**super()._tensors(), **self._descent.tensors()}

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        outputs = self.network.with_parameters(self.parameters.detach())

        def act(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
            return policy_of(outputs(observation)[:, :-1], legal)

        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            legal = environment.infoset_legal
            # All at once, unless that is much more than is asked for move by move.
            if len(legal) <= 2 * self._self_play.num_steps * self.config.batch_size:
                return act(environment.infoset_tensors, legal)
        return act

    @torch.no_grad()
    def _blueprint(self, trajectories: Trajectories) -> torch.Tensor:
        seen = trajectories.distinct_observations()
        logits = self.network.evaluate(self._policy_parameters(), seen.tensors).logits
        return policy_of(seen.at_moves(logits), trajectories.legal)
