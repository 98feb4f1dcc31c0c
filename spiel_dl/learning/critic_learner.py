"""`CriticLearner`: trains a critic for a given policy, the blueprint, which does not change.

    learner = CriticLearner("leduc_poker", blueprint, pure_transformations(3))
    learner.run(10_000)
    critic = learner.critic()

Every step plays a batch of fresh games by the blueprint, except that a share `exploration` of
decisions is random: v-trace corrects for it, and the critic also learns about actions that the
blueprint never takes, but its opponent may (theorem 4.2 of Kubíček et al., 2023, asks that the
acting policy play every action).
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.batch_learner import BatchLearner
from spiel_dl.learning.config import CriticConfig, checked_config
from spiel_dl.learning.self_play import ActingNetwork, with_exploration
from spiel_dl.learning.sources import ActingPolicy, MoveInputs, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations, check_transformations
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import policy_of
from spiel_dl.policies.sight import FEATURES
from spiel_dl.tree.counts import checked_count, is_share
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.tree.load import AnyGame, compile_game

BLUEPRINT_PARAMETERS = "blueprint"
STRATEGIES = ("strategy_0", "strategy_1")
"""The blueprint's arrays in a checkpoint: a network's parameters, or both players' strategies."""


class CriticLearner(BatchLearner):
    """Learns a critic of a frozen blueprint; `BatchLearner` has most methods."""

    name = "critic"
    losses = ()
    config: CriticConfig

    def __init__(
        self,
        game: AnyGame,
        blueprint: openspiel_policy.Policy,
        transformations: PolicyTransformations,
        config: CriticConfig | None = None,
        *,
        device: torch.device | str = "cpu",
        batch_size: int = 64,
        exploration: float = 0.5,
        max_tree_histories: int = 200_000,
        cuda_graph: bool = False,
    ):
        """Makes a fresh critic.

        Args:
          game: the game, its game string, or the compiled game.
          blueprint: a policy of both players, which is copied: a `NetworkPolicy`, on the device,
            for games of any size; any other one is read at all infosets of the compiled game.
          transformations: the opponent's deviations that the critic values.
          config: how to learn; None: the defaults.
          device: of games and networks.
          batch_size: games per learner step.
          exploration: share of decisions made at random, all legal actions being equally likely.
            With 0, the blueprint itself must play every legal action, so it may have no
            fine-tuning.
          max_tree_histories: games of at most so many histories are compiled and played by tables.
          cuda_graph: do a step as one CUDA graph, see `StepGraph`; on a CUDA device only.

        Raises:
          ValueError: if the game cannot be learned here, if the blueprint is no policy for it, if a
            number is out of range, or if a step cannot be a graph.
        """
        config = checked_config(config, CriticConfig, type(self).__name__)
        check_transformations(transformations)
        if not is_share(exploration):
            raise ValueError(f"exploration={exploration!r} must be between 0 and 1")
        self._games: dict[str, int | float] = {
            "batch_size": checked_count("batch_size", batch_size, 1),
            "exploration": exploration,
            "max_tree_histories": checked_count("max_tree_histories", max_tree_histories, 0),
        }
        if isinstance(blueprint, NetworkPolicy):
            if not exploration and blueprint.fine_tuning is not None:
                raise ValueError(
                    f"{blueprint.fine_tuning} of the blueprint drops actions, of which a critic "
                    f"learns nothing with exploration={exploration}; use a positive one"
                )
        else:
            game = compile_game(game, blueprint)
            blueprint = ArrayPolicy.from_policy(game, blueprint)
        super().__init__(
            game,
            config,
            device=device,
            batch_size=batch_size,
            max_tree_histories=max_tree_histories,
            transformations=transformations,
            critic=config,
            cuda_graph=cuda_graph,
        )
        if not is_same_game(blueprint.game, self.game):
            raise ValueError(
                f"the blueprint is a policy of {blueprint.game}, not of {self.game}; use its game"
            )
        # A copy, so that later changes of the caller's policy do not matter.
        self._source: ArrayPolicy | NetworkPolicy = _copy_of(blueprint)
        self._table: torch.Tensor | None = None
        if (tree := self._tree()) is not None:
            self._table = tree.table_of(self._tabulated(tree))
            self._acting_table = with_exploration(self._table, tree.infoset_legal, exploration)
            num_unplayed = int((tree.infoset_legal & (self._acting_table <= 0)).sum())
            if num_unplayed:
                raise ValueError(
                    f"the blueprint never plays {num_unplayed} legal actions, of which a critic "
                    f"learns nothing with exploration={exploration}; use a positive one"
                )

    def policy(self, fine_tuning: FineTuning | None = None) -> ArrayPolicy | NetworkPolicy:
        """The blueprint: an `ArrayPolicy` if the game is compiled, else a `NetworkPolicy`.

        Raises:
          ValueError: if `fine_tuning` is given, as the critic does not value the result.
        """
        if fine_tuning is not None:
            raise ValueError(
                f"{fine_tuning} would make another policy than the one the critic values; "
                "fine-tune the blueprint before its critic learns"
            )
        tree = self._tree()
        return self._source if tree is None else self._tabulated(tree)

    def _tabulated(self, tree: TreeEnvironment) -> ArrayPolicy:
        source = self._source
        if isinstance(source, ArrayPolicy):
            return source
        return tree.tabulate(source.network, source.parameters, source.fine_tuning)

    def _learn(self, trajectories: Trajectories) -> list[torch.Tensor]:
        del trajectories  # The critic alone learns.
        return []

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        if self._table is not None:
            return self._acting_table
        source, exploration = self._network_policy(), self._games["exploration"]
        if source.fine_tuning is None:
            return ActingNetwork(source.network, source.parameters.detach(), exploration)
        return lambda rows, legal: with_exploration(source.act(rows, legal), legal, exploration)

    @torch.no_grad()
    def policy_at(self, observations: MoveInputs) -> torch.Tensor:
        """As `BatchLearner.policy_at`: the blueprint, without exploration."""
        if self._table is not None:
            assert observations.table_row is not None  # The game is compiled.
            return self._table.index_select(0, observations.table_row)
        source = self._network_policy()
        assert observations.legal is not None  # they are observations
        outputs = source.network.outputs(source.parameters, observations.rows)
        policy = policy_of(outputs[:, :-1], observations.legal)
        return policy if source.fine_tuning is None else source.fine_tuning.apply(policy)

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

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """As `Learner.load_state`; the state must be one of a critic of the same blueprint."""
        for name, tensor in self._blueprint_tensors().items():
            own = tensor.detach().cpu().numpy()
            if name in state and not np.array_equal(state[name], own):
                raise ValueError(
                    f"the state's {name} is not that of this blueprint: it is the state of a "
                    "critic of another one; make the learner with that"
                )
        super().load_state(state)

    def settings(self) -> dict[str, Any]:
        """As `Learner.settings`: how the critic learns, and how games are played."""
        return {**super().settings(), **self._games}

    def _header(self) -> dict[str, Any]:
        if isinstance(self._source, NetworkPolicy):
            settings = self._network_settings()
            place = {"array": BLUEPRINT_PARAMETERS, "row": None}
            return {"policy": {**place, **settings, "value_unit": self._source.value_unit}}
        return {"policy": {"strategies": list(STRATEGIES)}}

    def _network_settings(self) -> dict[str, Any]:
        """The sizes of the blueprint's network, and its fine-tuning."""
        source = self._network_policy()
        tuning = None if source.fine_tuning is None else dataclasses.asdict(source.fine_tuning)
        sizes = list(source.network.hidden_sizes)
        return {"hidden_sizes": sizes, "fine_tuning": tuning, "sight": FEATURES}

    def _identity(self) -> dict[str, Any]:
        digest = hashlib.sha256()
        for tensor in self._blueprint_tensors().values():
            digest.update(tensor.detach().cpu().numpy().tobytes())
        blueprint: dict[str, Any] = {"sha256": digest.hexdigest()}
        if isinstance(self._source, NetworkPolicy):
            blueprint |= self._network_settings()
        return {**super()._identity(), "blueprint": blueprint}


def _copy_of(policy: ArrayPolicy | NetworkPolicy) -> ArrayPolicy | NetworkPolicy:
    if isinstance(policy, ArrayPolicy):
        return policy.copy()
    parameters = policy.parameters.detach().clone()
    return NetworkPolicy(
        policy.game, policy.network, parameters, policy.fine_tuning, policy.value_unit
    )
