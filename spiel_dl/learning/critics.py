"""Critics: values of histories if a player follows a blueprint and its opponent deviates from it.

Kubíček et al. (2023), section 4.1: u_i(h)[f], the expected utility of player i from history h on
if i follows the blueprint and its opponent follows the transformation f of it to the end.
"""

from __future__ import annotations

import abc

import numpy as np
import torch
from open_spiel.python import policy as openspiel_policy

from spiel_dl.learning.transformations import PolicyTransformations, check_transformations
from spiel_dl.policies.array_policy import read_strategy
from spiel_dl.solvers.history_values import history_values
from spiel_dl.solvers.strategies import check_strategy
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.game_tree import GameTree

Strategies = tuple[np.ndarray, np.ndarray]


class Critic(abc.ABC):
    """Values histories for a fixed blueprint and K transformations, the identity first."""

    @abc.abstractmethod
    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """A player's utilities if it follows the blueprint and its opponent each transformation.

        Args:
          tree: a tree of the critic's game.
          histories: int [N], histories of the tree.
          player: whose utility.

        Returns:
          float [N, K].

        Raises:
          ValueError: if the critic cannot value histories of this tree.
        """


class ExactCritic(Critic):
    """Computes the values exactly, by backward induction in a compiled game.

    Attributes:
      tree: the game.
      strategies: for each player, float64 [K, S_p], its transformed strategies; 1 at the empty
        sequence.
    """

    def __init__(
        self,
        tree: GameTree,
        blueprint: openspiel_policy.Policy | Strategies,
        transformations: PolicyTransformations,
    ):
        """Transforms the blueprint.

        Args:
          tree: the compiled game.
          blueprint: a policy of both players; or the strategy of each, float64 [S_p].
          transformations: K of them.

        Raises:
          ValueError: if the blueprint is no policy for this game, or if a transformation returns no
            weights for this game's actions.
        """
        if isinstance(blueprint, openspiel_policy.Policy):
            strategies = tuple(read_strategy(tree, blueprint, player) for player in (0, 1))
        else:
            strategies = tuple(blueprint)
            for treeplex, strategy in zip(tree.treeplexes, strategies, strict=True):
                check_strategy(treeplex, strategy, np.ones(treeplex.num_infosets, np.bool_))
        self.tree = tree
        first, second = (
            transformed_strategies(tree, player, strategies[player], transformations)
            for player in (0, 1)
        )
        self.strategies = (first, second)
        self._values: dict[int, np.ndarray] = {}

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float64. The tree must be the critic's own."""
        if tree is not self.tree:
            raise ValueError(
                f"an exact critic of {self.tree.game} values histories of its own tree only, not "
                f"of another one of {tree.game}; pass the tree it was made with"
            )
        if player not in self._values:
            own, transformed = self.strategies[player][0], self.strategies[1 - player]
            self._values[player] = history_values(self.tree, player, own, transformed)
        return self._values[player][histories]


def mean_absolute_error(critic: Critic, exact: ExactCritic) -> float:
    """A critic's mean absolute error, in units of the utility range.

    The mean is over all histories in which a player acts, unweighted, both players and all
    transformations.

    Args:
      critic: a critic of the same game, blueprint and transformations.
      exact: the exact values.
    """
    tree = exact.tree
    histories = np.flatnonzero(tree.player >= 0)
    errors = [
        np.abs(critic.values(tree, histories, p) - exact.values(tree, histories, p)).mean()
        for p in (0, 1)
    ]
    return float(np.mean(errors)) / tree.utility_range


def transformed_strategies(
    tree: GameTree, player: int, strategy: np.ndarray, transformations: PolicyTransformations
) -> np.ndarray:
    """A player's transformed strategies: float64 [K, S], 1 at the empty sequence.

    Args:
      tree: the compiled game.
      player: whose strategy.
      strategy: float64 [S], the one to transform.
      transformations: K of them.
    """
    infoset = tree.treeplexes[player].infoset_of_sequence[1:]
    action = tree.sequence_action[player][1:]
    shape = (tree.num_infosets(player), tree.game.num_distinct_actions())
    policy, legal = np.zeros(shape), np.zeros(shape, np.bool_)
    policy[infoset, action] = strategy[1:]
    legal[infoset, action] = True
    check_transformations(transformations)
    rows = transformations.apply(torch.from_numpy(policy), torch.from_numpy(legal)).numpy()
    transformed = np.ones((len(transformations), len(strategy)))
    transformed[:, 1:] = rows[:, infoset, action]
    return transformed
