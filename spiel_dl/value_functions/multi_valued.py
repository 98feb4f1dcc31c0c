"""`MultiValuedLeaves`: leaves at which the searching player's opponent chooses its continuation.

Brown, Sandholm, Amos (2018), "Depth-Limited Solving for Imperfect-Information Games"; Kubíček et
al. (2023), section 4.3. The searching player follows its blueprint below the leaves. Its opponent
picks one of K transformations of its own blueprint at each of its leaf infosets. A critic gives the
utilities of these choices before the search.

  * *Stateless* (`evaluate`, equation 3): at given ranges, the opponent picks a best response. Then
    these are leaf values like any other.
  * *Stateful* (`choices`): the opponent learns its choices by regret matching, as in its other
    infosets. Then they are part of the game that is solved.
"""

from __future__ import annotations

import numpy as np

from spiel_dl.solvers.continuations import ContinuationChoices, Continuations
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import LeafValues, Values, check_ranges


class MultiValuedLeaves(LeafValues):
    """The leaves of one trunk, with a utility for each of the opponent's choices.

    Attributes:
      player: the searching player.
      continuations: the utilities of the choices; the searching player is the first side.
    """

    def __init__(self, leaves: LeafSet, player: int, utilities: np.ndarray):
        """Sums the histories that share both players' infosets.

        Args:
          leaves: the leaves.
          player: the searching player.
          utilities: float [N, K], its utility at each leaf by the opponent's choice.

        Raises:
          ValueError: if there are not K finite numbers for each leaf.
        """
        super().__init__(leaves)
        num_leaves = len(leaves.histories)
        if utilities.ndim != 2 or len(utilities) != num_leaves:
            raise ValueError(
                f"the critic's values have shape {utilities.shape}; give numbers of shape "
                f"[{num_leaves}, K], one for each leaf and choice"
            )
        is_finite = np.isfinite(utilities).all(axis=1)
        if not is_finite.all():
            leaf = int(np.argmin(is_finite))
            raise ValueError(
                f"the critic's values of {num_leaves - is_finite.sum()} of {num_leaves} leaves are "
                f"not finite, such as {utilities[leaf].tolist()} of leaf {leaf}; give finite "
                "numbers: train it again, or look for a division by 0 in it"
            )
        self.player = player
        order = [player, 1 - player]
        self.continuations = Continuations.of_histories(
            utilities,
            leaves.chance_reach,
            leaves.infoset_of_history[order],
            (leaves.num_infosets(order[0]), leaves.num_infosets(order[1])),
        )

    def evaluate(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Values at the opponent's best choices against the searching player's range.

        Ties go to the first choice. See `LeafValues`.
        """
        check_ranges(self.leaves, range_0, range_1)
        ranges = (range_0, range_1)
        opponent_cfv, choice = self._best_choices(ranges[self.player])
        own_cfv = self._own_values(choice, ranges[1 - self.player])
        return (own_cfv, opponent_cfv) if self.player == 0 else (opponent_cfv, own_cfv)

    def values_for(self, player: int, range_0: np.ndarray, range_1: np.ndarray) -> np.ndarray:
        """See `LeafValues`; the opponent's values are computed alone."""
        if player == self.player:
            return super().values_for(player, range_0, range_1)
        check_ranges(self.leaves, range_0, range_1)
        return self._best_choices((range_0, range_1)[self.player])[0]

    def choices(self, variant: Weighting) -> ContinuationChoices:
        """Regret minimisers of the choices, for one run of a solver; side 0 searches."""
        utility_range = self.leaves.tree.utility_range
        return ContinuationChoices(self.continuations, variant, utility_range)

    def _best_choices(self, own_range: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The opponent's values, float64 [L], and best choices, int [L]."""
        values = self.continuations.values_of_second(own_range)
        choice = values.argmax(axis=1)
        return values[np.arange(len(values)), choice], choice

    def _own_values(self, choice: np.ndarray, opponent_range: np.ndarray) -> np.ndarray:
        """The searching player's values, float64 [L], if the opponent makes these choices."""
        choice_range = np.zeros((len(choice), self.continuations.num_choices))
        choice_range[np.arange(len(choice)), choice] = opponent_range
        return self.continuations.values_of_first(np.ones(len(choice)), choice_range)
