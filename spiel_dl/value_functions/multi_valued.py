"""`MultiValuedStates`: leaves at which the opponent of a searching player chooses how to go on.

Brown, Sandholm, Amos (2018), "Depth-Limited Solving for Imperfect-Information Games"; Kubíček et
al. (2023), section 4.3. The searching player follows its blueprint behind the leaves. Its opponent
picks one of K transformations of its own blueprint at each of its leaf infosets. What that is worth
is asked of a critic once, when the function is bound.

  * *Stateless* (`evaluate`, equation 3): at given ranges, the opponent picks a best response. Then
    this is a value function like any other.
  * *Stateful* (`choices`): the opponent learns what to pick as it learns everything else, by regret
    matching. Then this is part of the game that is solved, and the solution is one of a game.

Both players may be given the choice; then the values are matrices, and only the second way is open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spiel_dl.solvers.continuations import ContinuationChoices, Continuations
from spiel_dl.solvers.regret_minimization import Weighting
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import ValueFunction, Values, check_ranges

LeafUtilities = Callable[[LeafSet], np.ndarray]
"""From the N leaves to the searching player's utilities at each, float [N, J, K]: by its own choice
(J is 1 if it has none) and by the opponent's."""


class MultiValuedStates(ValueFunction):
    """Values leaves by a critic of policy transformations.

    Attributes:
      player: who searches.
      continuations: what the choices are worth, the searching player being the first side. There
        after `bind`.
    """

    continuations: Continuations

    def __init__(self, player: int, utilities: LeafUtilities):
        """Takes the critic.

        Args:
          player: who searches.
          utilities: asked once per `bind`.
        """
        self.player = player
        self._utilities = utilities

    def bind(self, leaves: LeafSet) -> None:
        """Asks for the leaves' values.

        Raises:
          ValueError: if there is not one finite matrix for each leaf.
        """
        utilities = self._utilities(leaves)
        num_leaves = len(leaves.histories)
        if utilities.ndim != 3 or len(utilities) != num_leaves or not np.isfinite(utilities).all():
            raise ValueError(
                f"the critic's values have shape {utilities.shape}; give finite numbers of shape "
                f"[{num_leaves}, J, K], one matrix for each leaf"
            )
        order = [self.player, 1 - self.player]
        self.continuations = Continuations.of_histories(
            utilities,
            leaves.chance_reach,
            leaves.infoset_of_history[order],
            (leaves.num_infosets(order[0]), leaves.num_infosets(order[1])),
        )
        self.leaves = leaves

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """See `ValueFunction`: the opponent's best choice against the searching player's range.

        Where choices are equally good, the first one is made.

        Raises:
          ValueError: if the function was not bound, if the ranges' shapes do not fit the leaves, or
            if the searching player may choose as well.
        """
        leaves = self._bound_leaves()
        check_ranges(leaves, range_0, range_1)
        if self.continuations.num_choices[0] > 1:
            raise ValueError(
                "both players choose at the leaves, and their best responses go round in circles; "
                "let them learn by regret matching (`choices`)"
            )
        if range_0.ndim > 1:
            rows_0 = range_0.reshape(-1, range_0.shape[-1])
            rows_1 = range_1.reshape(-1, range_1.shape[-1])
            pairs = [self.evaluate(r0, r1) for r0, r1 in zip(rows_0, rows_1, strict=True)]
            cfv_0, cfv_1 = (np.stack(column) for column in zip(*pairs, strict=True))
            return cfv_0.reshape(range_0.shape), cfv_1.reshape(range_1.shape)
        ranges = (range_0, range_1)
        own_range, others_range = ranges[self.player], ranges[1 - self.player]
        values = self.continuations.values(1, own_range[:, None])
        choice = values.argmax(axis=1)
        picked = np.arange(leaves.num_infosets(1 - self.player)), choice
        weights = np.zeros_like(values)
        weights[picked] = others_range
        own = self.continuations.values(0, weights)[:, 0]
        others = values[picked]
        return (own, others) if self.player == 0 else (others, own)

    def choices(self, weighting: Weighting, num_threads: int = 1) -> ContinuationChoices:
        """Learners of the choices, for one run of a solver; side 0 is the searching player.

        Raises:
          ValueError: if the function was not bound, or as `ContinuationChoices`.
        """
        utility_range = self._bound_leaves().tree.utility_range
        return ContinuationChoices(self.continuations, weighting, utility_range, num_threads)
