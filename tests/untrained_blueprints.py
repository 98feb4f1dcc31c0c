"""Blueprints that were never trained, for tests of searches and matches."""

from __future__ import annotations

import numpy as np
import pyspiel
import torch

from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.games.features import num_features
from spiel_dl.learning import history_features
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.sources import ActingPolicy
from spiel_dl.learning.transformations import (
    action_values,
    paper_transformations,
    transformations_by_name,
)
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, policy_of
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.from_openspiel import is_same_game
from spiel_dl.value_functions.random_strategies import random_strategy


def network_policy(
    game: pyspiel.Game,
    hidden_sizes: tuple[int, ...] = (16,),
    *,
    scale: float = 5.0,
    seed: int = 1,
    fine_tuning: FineTuning | None = None,
) -> NetworkPolicy:
    """A network's policy before training; a scale above 1 takes it far from uniform play."""
    network = PolicyNetwork(num_features(game), game.num_distinct_actions(), hidden_sizes)
    parameters = scale * network.initial_parameters(seed)
    return NetworkPolicy(game, network, parameters, fine_tuning)


def random_table(
    tree: GameTree, seed: int, pure: float, near_pure: float, *, uniform_share: float = 0.0
) -> ArrayPolicy:
    """Random strategies, some of them pure or nearly so; with a uniform share, all is played."""
    generator = np.random.default_rng(seed)
    first, second = (
        (1 - uniform_share) * random_strategy(generator, t, pure, near_pure)
        + uniform_share * t.uniform_strategy()
        for t in tree.treeplexes
    )
    return ArrayPolicy(tree, (first, second))


def network_critic(
    game: pyspiel.Game, hidden_sizes: tuple[int, ...] = (16,), *, scale: float = 1.0, seed: int = 1
) -> NetworkCritic:
    """A critic's network before training, of the paper's transformations."""
    names = transformations_by_name("paper", game).names
    network = CriticNetwork(history_features.size(game), len(names), hidden_sizes)
    return NetworkCritic(game, network, scale * network.initial_parameters(seed), names)


class Blueprint:
    """A network with large logits, which is far from uniform."""

    def __init__(self, game: pyspiel.Game):
        num_actions = game.num_distinct_actions()
        network = PolicyNetwork(game.information_state_tensor_size(), num_actions, (16,))
        self._network, self._parameters = network, 5 * network.initial_parameters(seed=1)
        self._table: ArrayPolicy | None = None

    def __call__(self, observation: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        logits = self._network.outputs(self._parameters, observation)[:, :-1]
        return policy_of(logits.double(), legal) * legal

    def tabulate(self, tree: GameTree) -> ArrayPolicy:
        if self._table is not None and self._table.tree is tree:
            return self._table
        strategies = [treeplex.uniform_strategy() for treeplex in tree.treeplexes]
        for player, strategy in enumerate(strategies):
            states = [tree.state(history) for history in tree.first_history[player].tolist()]
            tensors = torch.tensor([state.information_state_tensor(player) for state in states])
            legal = torch.tensor([state.legal_actions_mask() for state in states]).bool()
            strategy[1:] = self(tensors, legal)[legal].numpy()
        self._table = ArrayPolicy(tree, (strategies[0], strategies[1]))
        return self._table


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


class RecognisingCritic(Critic):
    """An exact critic that values histories of any tree of its game with `Rules`.

    It recognises them by what both players know, so searches that build their own trees can have
    exact values.
    """

    def __init__(self, critic: ExactCritic):
        """Reads what both players know in all histories of the critic's tree."""
        self._critic = critic
        self._order = np.lexsort(critic.tree.infoset_key[::-1])
        self._sorted = _pairs(critic.tree.infoset_key[:, self._order])

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float64."""
        return self._critic.values(self._critic.tree, self._find(tree, histories), player)

    def _find(self, tree: CompiledTree, histories: np.ndarray) -> np.ndarray:
        if not is_same_game(tree.game, self._critic.tree.game):
            raise ValueError(f"the critic is one of {self._critic.tree.game}, not of {tree.game}")
        keys = _pairs(tree.infoset_key[:, histories])
        found: np.ndarray = self._order[np.searchsorted(self._sorted, keys)]
        return found


def _pairs(keys: np.ndarray) -> np.ndarray:
    """Both players' infosets (int64 [2, N]) as pairs that can be compared: [N]."""
    kinds = np.dtype([("first", np.int64), ("second", np.int64)])
    return np.ascontiguousarray(keys.T, np.int64).view(kinds)[:, 0]


def exact_critic(tree: GameTree, blueprint: Blueprint) -> RecognisingCritic:
    """The exact critic of a blueprint and the paper's transformations, for any tree of the game."""
    transformations = paper_transformations(action_values(tree.game))
    strategies = blueprint.tabulate(tree).strategies
    return RecognisingCritic(ExactCritic(tree, strategies, transformations))
