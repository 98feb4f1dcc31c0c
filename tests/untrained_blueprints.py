"""Blueprints and learners that were never trained, for tests of searches and matches."""

from __future__ import annotations

import numpy as np
import pyspiel
import torch

from experiments.particle_search.recognising import RecognisingCritic
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import CriticConfig, RNaDConfig
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import (
    action_values,
    paper_transformations,
    transformations_by_name,
)
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.tree import GameTree


def untrained(game: pyspiel.Game, transformations: str = "pure") -> RNaDSolver:
    """A learner with a critic, both of small networks, before its first step."""
    return RNaDSolver(
        game,
        RNaDConfig(batch_size=8, hidden_sizes=(8, 8)),
        transformations=transformations_by_name(transformations, game),
        critic=CriticConfig(hidden_sizes=(8, 8)),
    )


class Blueprint:
    """A network with large logits, which is far from uniform."""

    def __init__(self, game: pyspiel.Game):
        num_actions = game.num_distinct_actions()
        network = PolicyNetwork(game.information_state_tensor_size(), num_actions, (16,))
        self._network, self._parameters = network, 5 * network.initial_parameters(seed=1)

    def __call__(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        logits = self._network.evaluate(self._parameters, observation).logits
        return policy_of(logits.double(), legal) * legal

    def tabulate(self, tree: GameTree) -> ArrayPolicy:
        strategies = [treeplex.uniform_strategy() for treeplex in tree.treeplexes]
        for player in (0, 1):
            for infoset, history in enumerate(tree.first_history[player].tolist()):
                state = tree.state(history)
                tensor = torch.tensor(state.information_state_tensor(player))
                legal = torch.tensor(state.legal_actions_mask(), dtype=torch.bool)
                row = self(tensor[None], legal[None])[0]
                own = tree.treeplexes[player].sequences(infoset)
                strategies[player][own] = row[legal].numpy()
        return ArrayPolicy(tree, (strategies[0], strategies[1]))


def acting_of(table: ArrayPolicy) -> ActingPolicy:
    """A table of a game with `Rules` as a policy of information state tensors."""
    tree, rows = table.tree, {}
    for player in (0, 1):
        for history in tree.first_history[player].tolist():
            state = tree.state(history)
            row = np.zeros(tree.game.num_distinct_actions())
            for action, probability in table.action_probabilities(state).items():
                row[action] = probability
            rows[tuple(state.information_state_tensor(player))] = row
    return lambda tensors, _: torch.tensor(np.stack([rows[tuple(t)] for t in tensors.tolist()]))


def exact_critic(tree: GameTree, blueprint: Blueprint) -> RecognisingCritic:
    """The exact critic of a blueprint and the paper's transformations, for any tree of the game."""
    transformations = paper_transformations(action_values(tree.game))
    strategies = blueprint.tabulate(tree).strategies
    return RecognisingCritic(ExactCritic(tree, strategies, transformations))
