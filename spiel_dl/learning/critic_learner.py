"""Trains a critic for a policy that is there already and stays as it is.

    learner = CriticLearner("leduc_poker", blueprint, pure_transformations(3))
    for _ in range(10_000):
        learner.step()
    critic = learner.critic()

Every step plays a batch of fresh games. The blueprint plays them, but for a share `exploration` of
its decisions, which are random: v-trace accounts for it, and the critic also learns of what the
blueprint never does, but its opponent may (theorem 4.2 of Kubíček et al., 2023, asks that the
acting policy play every action).
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.self_play import ActingPolicy, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import AnyGame, ArrayPolicy, compile_game
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy, tabulate

BLUEPRINT_PARAMETERS = "blueprint"
STRATEGIES = ("strategy_0", "strategy_1")
"""What a checkpoint calls the blueprint: a network's parameters, or both players' strategies."""


@dataclasses.dataclass(frozen=True)
class CriticLearnerConfig(CriticConfig):
    """How to learn; `CriticConfig` has the rest.

    Attributes:
      batch_size: games per learner step, positive.
      exploration: share of decisions that are made at random, all legal actions being equally
        likely. With 0, the blueprint must play all of them by itself.
      max_tree_histories: games of at most so many histories are compiled and played by tables.
    """

    batch_size: int = 128
    exploration: float = 0.2
    max_tree_histories: int = 200_000

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("batch_size", self.batch_size > 0, "positive")
        self._check("exploration", 0 <= self.exploration <= 1, "between 0 and 1")


class CriticLearner(Learner):
    """Learns a critic of a frozen blueprint; `Learner` has most methods."""

    name = "critic"
    terms = ()
    config: CriticLearnerConfig

    def __init__(
        self,
        game: AnyGame,
        blueprint: openspiel_policy.Policy,
        transformations: PolicyTransformations,
        config: CriticLearnerConfig | None = None,
        device: torch.device | str = "cpu",
    ):
        """Makes a fresh critic.

        Args:
          game: the game, its game string, or the compiled game.
          blueprint: a policy of both players: a `NetworkPolicy`, on the device, for games of any
            size; any other one is read at all infosets of the compiled game.
          transformations: what opponents may do.
          config: how to learn; None: the defaults.
          device: where games are played and networks live.

        Raises:
          ValueError: if the game is none that can be learned here, or the blueprint is not a policy
            for it.
        """
        config = config or CriticLearnerConfig()
        if not isinstance(blueprint, NetworkPolicy):
            game = compile_game(game, blueprint)
            blueprint = ArrayPolicy.from_policy(game, blueprint)
        super().__init__(
            game,
            config,
            device,
            batch_size=config.batch_size,
            max_tree_histories=config.max_tree_histories,
            transformations=transformations,
            critic=config,
        )
        if str(blueprint.game) != str(self.game):
            raise ValueError(
                f"the blueprint is a policy of {blueprint.game}, not of {self.game}; use its game"
            )
        self._source: ArrayPolicy | NetworkPolicy = blueprint
        self._table: torch.Tensor | None = None
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            self._table = _table(environment, self._tabulated(environment))
            self._acting_table = self._explore(self._table, environment.infoset_legal)

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The blueprint: an `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`.

        Raises:
          ValueError: if it is to be fine-tuned, as the critic would not be one of the result.
        """
        if fine_tuning is not None:
            raise ValueError(
                f"{fine_tuning} would make another policy than the one the critic values; "
                "fine-tune the blueprint before its critic learns"
            )
        environment = self._self_play.environment
        if isinstance(environment, TreeEnvironment):
            return self._tabulated(environment)
        return self._source

    def _tabulated(self, environment: TreeEnvironment) -> ArrayPolicy:
        source = self._source
        if isinstance(source, ArrayPolicy):
            return source
        return tabulate(environment, source.network, source.parameters, source.fine_tuning)

    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        del trajectories  # The critic alone learns.
        return []

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        if self._table is not None:
            return self._acting_table
        source = self._network_policy()
        return lambda observation, legal: self._explore(source.act(observation, legal), legal)

    def _explore(self, policy: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        uniform = legal / legal.sum(dim=-1, keepdim=True).clamp(min=1)
        return torch.lerp(policy, uniform, self.config.exploration)

    def _blueprint(self, trajectories: Trajectories) -> torch.Tensor:
        if self._table is not None:
            return self._table[trajectories.infoset]
        return self._network_policy().act(trajectories.observation, trajectories.legal)

    def _network_policy(self) -> NetworkPolicy:
        assert isinstance(self._source, NetworkPolicy)  # Any other one is played by tables.
        return self._source

    def _tensors(self) -> dict[str, torch.Tensor]:
        return {**super()._tensors(), **self._blueprint_tensors()}

    def _blueprint_tensors(self) -> dict[str, torch.Tensor]:
        if isinstance(self._source, NetworkPolicy):
            return {BLUEPRINT_PARAMETERS: self._source.parameters}
        strategies = self._source.strategies
        return {name: torch.from_numpy(x) for name, x in zip(STRATEGIES, strategies, strict=True)}

    def _identity(self) -> dict[str, Any]:
        digest = hashlib.sha256()
        for tensor in self._blueprint_tensors().values():
            digest.update(tensor.detach().cpu().numpy().tobytes())
        blueprint: dict[str, Any] = {"sha256": digest.hexdigest()}
        if isinstance(self._source, NetworkPolicy):
            tuning = self._source.fine_tuning
            blueprint["hidden_sizes"] = list(self._source.network.hidden_sizes)
            blueprint["fine_tuning"] = None if tuning is None else dataclasses.asdict(tuning)
        return {**super()._identity(), "blueprint": blueprint}


def train_critic(
    game: AnyGame,
    blueprint: openspiel_policy.Policy,
    transformations: PolicyTransformations,
    num_steps: int,
    config: CriticLearnerConfig | None = None,
    device: torch.device | str = "cpu",
) -> NetworkCritic:
    """The critic of a blueprint after so many learner steps; see `CriticLearner`.

    Raises:
      ValueError: as `CriticLearner` and `Learner.step`; also if `num_steps` is not positive.
    """
    if num_steps < 1:
        raise ValueError(f"num_steps={num_steps} must be positive")
    learner = CriticLearner(game, blueprint, transformations, config, device)
    for _ in range(num_steps):
        learner.step()
    learner.metrics()  # raises if the last steps went wrong
    return learner.critic()


def _table(environment: TreeEnvironment, policy: ArrayPolicy) -> torch.Tensor:
    """A policy by the rows of an environment's tables of infosets: float32 [R, A]."""
    tree, legal = environment.tree, environment.infoset_legal
    table = torch.zeros(legal.shape)
    for player, first_row in ((0, 0), (1, tree.num_infosets(0))):
        row = torch.from_numpy(first_row + tree.treeplexes[player].infoset_of_sequence[1:]).long()
        action = torch.from_numpy(tree.sequence_action[player][1:]).long()
        table[row, action] = torch.from_numpy(policy.strategies[player][1:]).float()
    return table.to(legal.device)
