"""Exact values of histories in the trees that searches build."""

from __future__ import annotations

import numpy as np

from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.tree.compiled_tree import CompiledTree
from spiel_dl.tree.from_openspiel import is_same_game


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
