"""Policies as tables by the rows of a `TreeEnvironment`, and back."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, policy_rows
from spiel_dl.policies.policy_network import PolicyNetwork


def tabulate(
    environment: TreeEnvironment,
    network: PolicyNetwork,
    parameters: torch.Tensor,
    fine_tuning: FineTuning | None = None,
) -> ArrayPolicy:
    """A network's policy at all infosets of a compiled game."""
    tree = environment.tree
    tensors, legal = environment.infoset_tensors, environment.infoset_legal
    rows = policy_rows(network, parameters, tensors[:-1], legal[:-1], fine_tuning)
    strategies = []
    for player, first_row in ((0, 0), (1, tree.num_infosets(0))):
        treeplex = tree.treeplexes[player]
        strategy = np.ones(treeplex.num_sequences)
        row = first_row + treeplex.infoset_of_sequence[1:]
        strategy[1:] = rows[row, tree.sequence_action[player][1:]]
        strategies.append(strategy)
    return ArrayPolicy(tree, (strategies[0], strategies[1]))


def table_of(environment: TreeEnvironment, policy: ArrayPolicy) -> torch.Tensor:
    """A policy by the rows of an environment's tables of infosets: float32 [R, A]."""
    tree, legal = environment.tree, environment.infoset_legal
    table = torch.zeros(legal.shape)
    for player, first_row in ((0, 0), (1, tree.num_infosets(0))):
        row = torch.from_numpy(first_row + tree.treeplexes[player].infoset_of_sequence[1:]).long()
        action = torch.from_numpy(tree.sequence_action[player][1:]).long()
        table[row, action] = torch.from_numpy(policy.strategies[player][1:]).float()
    return table.to(legal.device)
