"""Expected utilities of all histories under given strategies, computed backwards."""

from __future__ import annotations

import numpy as np

from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.game_tree import GameTree


def chance_shares(tree: CompiledTree, start: int, end: int) -> np.ndarray:
    """Histories' shares of their parents' chance reach: float64 [end - start].

    It is 1 after a player's action, and 0 after an outcome of probability 0.
    """
    above = tree.chance_reach[tree.parent[start:end]]
    shares = np.zeros(end - start)
    return np.divide(tree.chance_reach[start:end], above, out=shares, where=above > 0)


def history_values(tree: GameTree, player: int, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A player's expected utility at every history, for one strategy against K of the opponent.

    Args:
      tree: the compiled game.
      player: whose utility.
      own: float64 [S_p], its behaviour strategy.
      others: float64 [K, S_-p], the opponent's behaviour strategies.

    Returns:
      float64 [H, K].
    """
    sign = 1.0 if player == 0 else -1.0
    values = np.repeat(sign * tree.utility[:, None], len(others), axis=1)
    inner = ~tree.is_terminal
    for start, end in reversed(tree.levels_below_root()):
        parent = tree.parent[start:end]
        mover = tree.player[parent]
        reach = chance_shares(tree, start, end)
        own_step = own[tree.sequence[player, start:end]]
        reach = np.where(mover == player, own_step, reach)
        weighted = values[start:end] * reach[:, None]
        moved = np.flatnonzero(mover == 1 - player)
        steps = others[:, tree.sequence[1 - player, start + moved]]
        weighted[moved] = values[start + moved] * steps.T
        parents = np.arange(parent[0], parent[-1] + 1)
        parents = parents[inner[parents]]
        values[parents] = np.add.reduceat(weighted, tree.first_child[parents] - start)
    return values
