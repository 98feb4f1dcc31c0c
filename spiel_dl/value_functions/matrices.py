"""Matrices of leaves: what both players' portfolios are worth against each other behind them.

Milec, Kovařík, Lisý (2025), "Adapting Beyond the Depth Limit": no value function has to be learned
and nobody has to be rational behind the leaves; strategies that are known are followed to the end.
`ExactMatrices` walks the compiled game, `SampledMatrices` plays it a few times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numba
import numpy as np

from spiel_dl.policies.portfolios import Portfolios
from spiel_dl.solvers.history_values import chance_shares, history_values
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.leaf_set import LeafSet

AnyPortfolios: TypeAlias = Portfolios | Callable[[LeafSet[GameTree]], Portfolios]
"""The same for all leaves, or made for those of a trunk."""


class ExactMatrices:
    """Expected utilities; float64 [N, J, K] for N leaves, the player's by its own strategy first.

    Attributes:
      player: whose utility.
    """

    def __init__(self, player: int, portfolios: AnyPortfolios):
        """Takes the portfolios of a player and its opponent."""
        self.player = player
        self._portfolios = portfolios
        self._known: list[np.ndarray] | None = None

    def __call__(self, leaves: LeafSet[GameTree]) -> np.ndarray:
        """The matrices of some leaves."""
        fixed = isinstance(self._portfolios, Portfolios)
        if self._known is None or not fixed:
            _, own, others = portfolios_at(self._portfolios, leaves)
            self._known = [history_values(leaves.tree, self.player, one, others) for one in own]
        return np.stack([values[leaves.histories] for values in self._known], axis=1)


class SampledMatrices:
    """Means of a few games from each leaf on, of the shape of `ExactMatrices`.

    All pairs of strategies are played with the same random numbers, so that their differences are
    less noisy than their values. The same leaves have the same matrices.

    Attributes:
      player: whose utility.
    """

    def __init__(self, player: int, portfolios: AnyPortfolios, num_samples: int, seed: int = 0):
        """Takes the portfolios, and how many games to play from each leaf for each pair.

        Raises:
          ValueError: if there are to be no games.
        """
        if num_samples < 1:
            raise ValueError(f"num_samples={num_samples} must be at least 1")
        self.player = player
        self._portfolios = portfolios
        self._num_samples = num_samples
        self._seed = seed

    def __call__(self, leaves: LeafSet[GameTree]) -> np.ndarray:
        """The matrices of some leaves."""
        tree = leaves.tree
        _, own, others = portfolios_at(self._portfolios, leaves)
        steps = [
            np.ascontiguousarray(strategies[:, tree.sequence[who]])
            for who, strategies in ((self.player, own), (1 - self.player, others))
        ]
        # A child's share of its parent's chance reach; 1 where a player moved.
        chance = np.ones(tree.num_histories)
        chance[1:] = chance_shares(tree, 1, tree.num_histories)
        num_leaves, num_levels = len(leaves.histories), len(tree.levels_below_root())
        generator = np.random.default_rng([self._seed, self.player, num_leaves])
        numbers = generator.random((num_leaves, self._num_samples, num_levels))
        values = np.empty((num_leaves, len(own), len(others)))
        turn = np.where(
            tree.player == self.player, 0, np.where(tree.player == 1 - self.player, 1, 2)
        )
        _play_pairs(
            tree.first_child, tree.num_children, turn, tree.utility,
            leaves.histories, steps[0], steps[1], chance, numbers, values,
        )  # fmt: skip
        return values if self.player == 0 else -values


def portfolios_at(portfolios: AnyPortfolios, leaves: LeafSet[GameTree]) -> Portfolios:
    """The portfolios for the leaves of a trunk."""
    return portfolios if isinstance(portfolios, Portfolios) else portfolios(leaves)


@numba.njit(cache=True, nogil=True)
def _play_pairs(
    first_child: np.ndarray,
    num_children: np.ndarray,
    turn: np.ndarray,
    utility: np.ndarray,
    histories: np.ndarray,
    own: np.ndarray,
    others: np.ndarray,
    chance: np.ndarray,
    numbers: np.ndarray,
    values: np.ndarray,
) -> None:
    """Plays all pairs of strategies from all histories, into `values` (float64 [N, J, K]).

    Args:
      first_child, num_children: int [H], of the game.
      turn: int [H], who acts: 0 the player, 1 the opponent, 2 chance.
      utility: float64 [H], player 0's.
      histories: int [N], where the games begin.
      own, others: float64 [J, H] and [K, H], the probability of the action that led to a history.
      chance: float64 [H], the same of chance.
      numbers: float64 [N, n, levels], in [0, 1): n games from each history, a number for a move.
      values: overwritten.
    """
    num_games = numbers.shape[1]
    for leaf in range(len(histories)):
        for j in range(len(own)):
            for k in range(len(others)):
                total = 0.0
                for game in range(num_games):
                    history, move = histories[leaf], 0
                    while num_children[history] > 0:
                        probability = chance
                        if turn[history] == 0:
                            probability = own[j]
                        elif turn[history] == 1:
                            probability = others[k]
                        left = numbers[leaf, game, move]
                        child = first_child[history]
                        last = child + num_children[history] - 1
                        while child < last and left >= probability[child]:
                            left -= probability[child]
                            child += 1
                        history, move = child, move + 1
                    total += utility[history]
                values[leaf, j, k] = total / num_games
