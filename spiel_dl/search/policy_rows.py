"""Action probabilities of policies in batches of states, and rollouts by them.

Beliefs, rollouts and searches in games with `Rules` evaluate policies in many states per call.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning.compiled_rollouts import CompiledRollouts, can_play
from spiel_dl.learning.rollouts import Horizon, PlayOn, Rollouts
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.learning.sources import ActingPolicy
from spiel_dl.policies import sight
from spiel_dl.policies.battleships_hunter import HunterPolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.sight import Sight
from spiel_dl.policies.small_policies import HighestActionPolicy, UniformPolicy
from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.tree.beam import PolicyRows
from spiel_dl.tree.histories import first_occurrence_ids
from spiel_dl.tree.trunk import Trunk

AnyBlueprint: TypeAlias = openspiel_policy.Policy | ActingPolicy
"""A policy network or the uniform policy; or a function of a batch of tensors."""
_SUM_TOLERANCE = 1e-4
"""For the sum of a row of probabilities in single precision."""


@dataclasses.dataclass(frozen=True, eq=False)
class TensorPolicy:
    """A policy that is a function of tensors, as `PolicyRows`.

    A network gets the tensors of its `sight`; any other function, information state tensors. Rows
    that are no distributions raise a ValueError.

    Attributes:
      rules: the game.
      acting: the policy.
    """

    rules: Rules
    acting: ActingPolicy

    def __call__(self, states: StateBatch, player: int) -> np.ndarray:
        """See `PolicyRows`."""
        tensors = sight.of_states(self.rules, states, player, _sight_of(self.acting))
        legal = self.rules.legal_actions(states)
        rows = self.acting(tensors, legal).double().cpu().numpy()
        if not isinstance(self.acting, ActingNetwork):
            _check_distributions(rows, legal.cpu().numpy())
        return rows


def _sight_of(acting: ActingPolicy) -> Sight:
    # The function may be the method `act` of a policy.
    return sight.of_policy(getattr(acting, "__self__", acting))


def _check_distributions(rows: np.ndarray, legal: np.ndarray) -> None:
    """Raises a ValueError unless rows, float64 [N, A], are distributions over legal actions.

    Rows of states without legal actions, bool [N, A], are not checked.
    """
    if rows.shape != legal.shape:
        raise ValueError(
            f"the blueprint's function returns the shape {list(rows.shape)}; return a "
            f"distribution over legal actions in each row, {list(legal.shape)}"
        )
    totals = np.where(legal, rows, -np.abs(rows)).sum(axis=1)
    is_wrong = (rows < 0).any(axis=1) | ~(np.abs(totals - 1.0) < _SUM_TOLERANCE)
    wrong = np.flatnonzero(is_wrong & legal.any(axis=1))
    if len(wrong):
        raise ValueError(
            f"the blueprint's function returns {rows[wrong[0]].tolist()} where the actions "
            f"{np.flatnonzero(legal[wrong[0]]).tolist()} are legal; return a distribution over "
            "legal actions in each row"
        )


def play_on_by(rules: Rules, acting: ActingPolicy, horizon: Horizon | None = None) -> PlayOn:
    """Rollouts by a policy: without a horizon in compiled loops, where the game has them."""
    if horizon is not None:
        return Rollouts(rules, TensorPolicy(rules, acting), horizon).play_on
    if isinstance(acting, ActingNetwork) and can_play(rules, acting):
        return CompiledRollouts(rules, acting).play_on
    return Rollouts(rules, TensorPolicy(rules, acting)).play_on


def acting_policy(policy: openspiel_policy.Policy) -> ActingPolicy | None:
    """A network or small policy as a function of tensors; None for any other policy."""
    if isinstance(policy, NetworkPolicy):
        if policy.fine_tuning is None and policy.parameters.device.type == "cpu":
            return ActingNetwork(policy.network, policy.parameters)
        return policy.act
    return _SMALL_POLICIES.get(type(policy))


def _act_uniformly(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    return legal / legal.sum(dim=-1, keepdim=True)


def _act_highest(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    later = legal.flip(-1).cumsum(dim=-1).flip(-1)  # the number of legal actions from each on
    return (legal & (later == 1)).to(torch.float32)


_SMALL_POLICIES: dict[type, ActingPolicy] = {
    UniformPolicy: _act_uniformly,
    HighestActionPolicy: _act_highest,
}


def acting_blueprint(blueprint: AnyBlueprint) -> ActingPolicy:
    """A blueprint as a function of tensors; a function is returned as it is.

    Raises:
      ValueError: if it is neither a function, a network nor a small policy.
    """
    is_policy = isinstance(blueprint, openspiel_policy.Policy)
    acting = acting_policy(blueprint) if is_policy else blueprint
    if not callable(acting):
        raise ValueError(
            f"{type(blueprint).__name__} does not answer many states at once; give a policy "
            "network, the uniform policy, or a function of information state tensors and legal "
            "actions"
        )
    return acting


def rows_of(rules: Rules, policy: openspiel_policy.Policy) -> PolicyRows:
    """As `find_rows`; a ValueError if it finds none."""
    rows = find_rows(rules, policy)
    if rows is None:
        raise ValueError(
            f"{type(policy).__name__} does not answer many states at once; give a policy "
            "network or the uniform policy"
        )
    return rows


def find_rows(rules: Rules, policy: openspiel_policy.Policy) -> PolicyRows | None:
    """The rows of a policy network, a small policy or the hunter; None: it is none of these.

    Args:
      rules: the game.
      policy: of this game.
    """
    if isinstance(policy, HunterPolicy):
        return policy.rows
    acting = acting_policy(policy)
    return None if acting is None else TensorPolicy(rules, acting)


def fixed_to(
    policy: PolicyRows, trunk: Trunk[Any], player: int, infosets: np.ndarray | None = None
) -> FixedStrategy:
    """Binds a player to a policy in some infosets of a trunk; elsewhere, and at leaves, it is free.

    Args:
      policy: evaluated in the first state of each infoset; its rows are made to sum to 1.
      trunk: of a tree that has states.
      player: the player.
      infosets: bool [I], of the trunk; None: all.
    """
    treeplex, tree = trunk.sequence_form.treeplexes[player], trunk.tree
    own = trunk.infosets[player]
    if infosets is None:
        infosets = np.ones(len(own), np.bool_)
    bound = np.zeros(treeplex.num_infosets, np.bool_)
    bound[: len(own)] = infosets
    strategy, sequences = treeplex.uniform_strategy(), treeplex.sequences_of(bound)
    if len(sequences):
        rows = policy(tree.states_of(tree.first_history[player][own[infosets]]), player)
        ids, _ = first_occurrence_ids(treeplex.infoset_of_sequence[sequences])
        weights = rows[ids, tree.sequence_action[player][trunk.sequences[player][sequences]]]
        strategy[sequences] = weights / np.bincount(ids, weights)[ids]
    return FixedStrategy(bound, strategy)
