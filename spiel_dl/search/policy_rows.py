"""What policies do in many states at once: rows of probabilities, and games played to the end.

Beliefs, rollouts and searches along the played game ask for many states in one call. Policy
networks and the uniform policy answer that by the states' tensors.
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
from spiel_dl.learning.self_play import ActingNetwork, ActingPolicy
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
"""A policy network or the uniform policy; or a function that answers many states at once."""
_SUM_TOLERANCE = 1e-4
"""Of the sum of a row of probabilities, which are of single precision."""


@dataclasses.dataclass(frozen=True, eq=False)
class TensorPolicy:
    """What both players do by a policy that is asked by tensors, as `PolicyRows`.

    A network is shown what it sees; any other function, information state tensors.

    Answers that are no distributions are refused, with a ValueError.

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
    # A function may be the method `act` of a policy.
    return sight.of_policy(getattr(acting, "__self__", acting))


def _check_distributions(rows: np.ndarray, legal: np.ndarray) -> None:
    """A blueprint's rows (float64 [N, A]) must be distributions over legal actions (bool [N, A]).

    Those of states without legal actions may be anything.
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
    """How games are played on by a policy: to the end in compiled loops where that can be done."""
    if horizon is not None:
        return Rollouts(rules, TensorPolicy(rules, acting), horizon).play_on
    if isinstance(acting, ActingNetwork) and can_play(rules, acting):
        return CompiledRollouts(rules, acting).play_on
    return Rollouts(rules, TensorPolicy(rules, acting)).play_on


@dataclasses.dataclass(frozen=True, eq=False)
class PositionValues:
    """What a network says a player's utility is where it acts, as `PlayerValues`.

    It does not see what is hidden.

    Attributes:
      rules: the game.
      policy: the network's policy.
    """

    rules: Rules
    policy: NetworkPolicy

    def __call__(self, states: StateBatch, player: int) -> np.ndarray:
        """See `PlayerValues`."""
        return self.policy.values(self.rules.features(states, player))


def acting_policy(policy: openspiel_policy.Policy) -> ActingPolicy | None:
    """What a network, or a small policy, does in many states at once; None for any other."""
    if isinstance(policy, NetworkPolicy):
        if policy.fine_tuning is None and policy.parameters.device.type == "cpu":
            return ActingNetwork(policy.network, policy.parameters)
        return policy.act
    return _SMALL.get(type(policy))


def _act_uniformly(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    return legal / legal.sum(dim=-1, keepdim=True)


def _act_highest(observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    del observation
    later = legal.flip(-1).cumsum(dim=-1).flip(-1)  # legal actions from each one on
    return (legal & (later == 1)).to(torch.float32)


_SMALL: dict[type, ActingPolicy] = {
    UniformPolicy: _act_uniformly,
    HighestActionPolicy: _act_highest,
}


def acting_blueprint(blueprint: AnyBlueprint) -> ActingPolicy:
    """What a blueprint does in many states at once; of a function, itself.

    Raises:
      ValueError: if it is neither a function nor a policy that answers many states at once.
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
    """What both players do by a policy, as `find_rows` has it.

    Raises:
      ValueError: if the policy does not answer many states at once.
    """
    found = find_rows(rules, policy)
    if found is None:
        raise ValueError(
            f"{type(policy).__name__} does not answer many states at once; give a policy "
            "network or the uniform policy"
        )
    return found


def find_rows(rules: Rules, policy: openspiel_policy.Policy) -> PolicyRows | None:
    """What both players do by a policy network, a small policy or a script, in batches of states.

    Args:
      rules: the game.
      policy: of this game.

    Returns:
      None, if the policy is none of these.
    """
    if isinstance(policy, HunterPolicy):
        return policy.rows
    acting = acting_policy(policy)
    return None if acting is None else TensorPolicy(rules, acting)


def fixed_to(
    policy: PolicyRows, trunk: Trunk[Any], player: int, infosets: np.ndarray | None = None
) -> FixedStrategy:
    """A player who is bound to a policy in some infosets of a trunk, and is free elsewhere.

    In a trunk with choices at its leaves, these come behind the infosets, and are free.

    Args:
      policy: is asked in the first state of each infoset; its answers are made to sum to 1.
      trunk: of a tree whose states are known.
      player: whose policy it is.
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
        found = rows[ids, tree.sequence_action[player][trunk.sequences[player][sequences]]]
        strategy[sequences] = found / np.bincount(ids, found)[ids]
    return FixedStrategy(bound, strategy)
