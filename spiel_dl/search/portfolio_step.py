"""ABD's step: both players go on by portfolios behind the horizon, and the model errs there too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search.responding import JointStep
from spiel_dl.solvers.best_response import FixedStrategy
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.solvers.restricted_game import RestrictedGame, restrict
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk, cut


class PortfolioStep(JointStep):
    """A joint step whose leaves are matrices, the opponent's first strategy being the model.

    The opponent that follows the model, with probability p, does so to the end of the game; else it
    is free down to the horizon, and behind it to choose from its portfolio.
    """

    def __init__(
        self,
        pieces: Pieces,
        policy: ArrayPolicy,
        matrices: Callable[[LeafSet], np.ndarray],
        **settings: Any,
    ):
        """Takes what values leaves.

        Args:
          pieces: how the game is taken apart.
          policy: the policy to begin with; it holds the model.
          matrices: from N leaves to the player's utilities, float [N, J, K], by its own strategy
            and by the opponent's, of which the first is the model.
          settings: `model_of`, `p`, `effort` and `exact` of `ModelStep`.

        Raises:
          ValueError: as `ModelStep`.
        """
        super().__init__(pieces, policy, **settings)
        self._matrices = matrices

    def cut(self, places: Sequence[int], horizon: int | None = None) -> Trunk:
        """The whole game down to a level, also without a value function."""
        assert list(places) == [ROOT]
        assert horizon is not None
        return cut(self.tree, self.pieces.limit(horizon))

    def game_from_root(
        self, player: int, trunk: Trunk, modelled: np.ndarray, bound: np.ndarray
    ) -> RestrictedGame:
        """The game that a level solves; see `ModelStep`."""
        leaves, opponent = trunk.leaves, self.opponent
        if not leaves.num_public_states:
            return super().game_from_root(player, trunk, modelled, bound)
        matrices = self._matrices(leaves)
        form = with_leaf_choices(
            self.form(player, trunk),
            (leaves.sequences[player], leaves.sequences[opponent]),
            leaves.infoset_of_history[[player, opponent]],
            matrices,
            leaves.chance_reach,
        )
        own, others = form.treeplexes
        root = np.ones(1)
        above = self.model_plan_on(trunk, root)
        plan = with_model_chosen(above, leaves.sequences[opponent], matrices.shape[2])
        decided, is_bound = own.uniform_strategy(), np.zeros(own.num_infosets, np.bool_)
        sequences, infosets = trunk.sequences[player], trunk.infosets[player]
        decided[: len(sequences)] = self.policy.strategies[player][sequences]
        is_bound[: len(infosets)] = bound[infosets]
        everywhere = np.ones(others.num_infosets, np.bool_)
        fixed = FixedStrategy(is_bound, decided)
        return restrict(form, (root, root), plan, everywhere, self.p, fixed)


def with_model_chosen(plan: np.ndarray, sequences: np.ndarray, num_choices: int) -> np.ndarray:
    """A model's plan (float64 [S]) with its choice of the first strategy in all leaf infosets.

    Args:
      plan: of the game above the leaves.
      sequences: int [L], from which each leaf infoset hangs.
      num_choices: K, how many strategies there are.

    Returns:
      float64 [S + L K], as `solvers.leaf_choices` numbers them.
    """
    choices = np.zeros((len(sequences), num_choices))
    choices[:, 0] = plan[sequences]
    return np.concatenate([plan, choices.reshape(-1)])
