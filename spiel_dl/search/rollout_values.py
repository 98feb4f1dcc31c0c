"""`ByRollouts`: values the leaves of a search by games that are played out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from spiel_dl.games.rules import Rules
from spiel_dl.learning.rollouts import play_out_by
from spiel_dl.search.spec import Root
from spiel_dl.tree.beam import PolicyRows


class ByRollouts:
    """Leaves worth the means of games that are played out by portfolios; a `ValuesAt`.

    Milec, Kovařík, Lisý (2025), "Adapting Beyond the Depth Limit".

    Attributes:
      own: what the searching player may go on with.
      others: what the opponent may go on with; the first one is its model.
    """

    def __init__(
        self,
        rules: Rules,
        own: Sequence[PolicyRows],
        others: Sequence[PolicyRows],
        *,
        num_rollouts: int = 1000,
        seed: int = 0,
    ):
        """Takes the portfolios, and how many games to play out in each search, at least.

        Raises:
          ValueError: if a portfolio is empty.
        """
        if not own or not others:
            raise ValueError(
                f"portfolios of {len(own)} and {len(others)} strategies; both need at least one"
            )
        self.own, self.others = tuple(own), tuple(others)
        self._rules, self._num_rollouts, self._seed = rules, num_rollouts, seed

    def __call__(self, root: Root) -> np.ndarray:
        """Mean utilities of the searching player: float64 [N, J, K].

        Every leaf is played out equally often by each pair of strategies.
        """
        player, leaves = root.player, root.trunk.leaves
        generator = np.random.default_rng([self._seed, 2 + player, root.key])
        states = leaves.tree.states_of(leaves.histories)
        shape = len(leaves.histories), len(self.own), len(self.others)
        num_samples = -(-self._num_rollouts // int(np.prod(shape)))
        state, own, other, _ = np.indices((*shape, num_samples)).reshape(4, -1)
        strategies, chosen = (self.own, self.others), np.stack([own, other])
        if player == 1:
            strategies, chosen = strategies[::-1], chosen[::-1]
        returns = play_out_by(
            self._rules, states.take(torch.from_numpy(state)), strategies, chosen, generator
        )
        found: np.ndarray = returns.reshape(*shape, num_samples).mean(axis=-1)
        return found if player == 0 else -found
