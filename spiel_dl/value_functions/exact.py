"""`ExactValue`: the optimal value function, by solving the subgames."""

from __future__ import annotations

import warnings

import numpy as np

from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.effort import share_of_largest
from spiel_dl.solvers.reduction import reduce_form
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree.counts import checked_count, is_positive
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.value_functions.base import NormalizedLeafValues, ValueFunction, Values

_ITERATIONS_PER_GAP = 100


class ExactValue(ValueFunction):
    """Solves all subgames by regret minimization until their gaps are small.

    By predictive CFR+, which needs a third of the iterations of CFR+ in Goofspiel's subgames, and
    as many in Leduc's.

    With ranges scaled to sum 1 in each public state, each player's values are its counterfactual
    best-response values against the other's average strategy (value solving, Kovařík et al. 2021,
    "Experimental Setup"): optimal in every infoset, also in those of reach 0. Range-weighted, the
    players' values in a public state sum to its *gap*, which no infoset's error exceeds by more
    than its weight allows.

    Optimal values jump from one vertex to another as the ranges move, so regret minimization above
    them is slow.

    Attributes:
      tolerance, max_iterations: the constructor's arguments.
    """

    def __init__(self, tolerance: float = 1e-4, max_iterations: int = 10_000):
        """Sets the accuracy.

        Args:
          tolerance: stop once all gaps are at most this share of the game's largest utility, see
            `solvers.effort.share_of_largest`. Gaps are at ranges that sum to 1: in the game, a gap
            counts as often as the product of both ranges' sums, up to 18 times in Leduc.
          max_iterations: the most iterations per evaluation. Evaluations that end with a larger gap
            are counted, and the first one warns.

        Raises:
          ValueError: if a number is not positive, the tolerance not finite, or the number of
            iterations no integer.
        """
        if not is_positive(tolerance):
            raise ValueError(f"tolerance={tolerance!r} must be positive and finite")
        self.tolerance = tolerance
        self.max_iterations = checked_count("max_iterations", max_iterations, 1)

    def bind(self, leaves: LeafSet) -> ExactLeafValues:
        """Builds the subgames below the leaves."""
        return ExactLeafValues(self, leaves)


class ExactLeafValues(NormalizedLeafValues):
    """The optimal values at the leaves of one trunk.

    Attributes:
      gaps: float64 [P], the gap of every public state at the last evaluation.
      num_unfinished: how many evaluations stopped at `max_iterations` with a gap above the
        tolerance. The first one raises a RuntimeWarning.
    """

    def __init__(self, function: ExactValue, leaves: LeafSet):
        """See `ExactValue`."""
        super().__init__(leaves)
        self.gaps = np.zeros(0)
        self.num_unfinished = 0
        self._function = function
        self._tolerance = share_of_largest(function.tolerance, leaves.subgames.utility_range)
        self._minimizer = RegretMinimizer(reduce_form(leaves.subgames)[0], PREDICTIVE_CFR_PLUS)

    def normalized_values(self, range_0: np.ndarray, range_1: np.ndarray) -> Values:
        """Solves the subgames; see `NormalizedLeafValues`."""
        leaves, minimizer, function = self.leaves, self._minimizer, self._function
        minimizer.reset()
        minimizer.set_range(0, range_0)
        minimizer.set_range(1, range_1)
        while True:
            remaining = function.max_iterations - minimizer.iteration
            minimizer.run(min(_ITERATIONS_PER_GAP, remaining))
            cfv_0, cfv_1 = (self._best_response_values(player) for player in (0, 1))
            self.gaps = leaves.sum_by_public_state(0, range_0 * cfv_0)
            self.gaps += leaves.sum_by_public_state(1, range_1 * cfv_1)
            if self.gaps.max(initial=0.0) <= self._tolerance:
                return cfv_0, cfv_1
            if minimizer.iteration >= function.max_iterations:
                self._count_unfinished()
                return cfv_0, cfv_1

    def _count_unfinished(self) -> None:
        function = self._function
        self.num_unfinished += 1
        if self.num_unfinished == 1:
            warnings.warn(
                f"optimal values are off by {self.gaps.max():.2g} after {function.max_iterations} "
                f"iterations, more than {self._tolerance:.2g}; raise max_iterations or the "
                "tolerance (num_unfinished counts such evaluations)",
                RuntimeWarning,
                stacklevel=4,
            )

    def _best_response_values(self, player: int) -> np.ndarray:
        """A player's values against the opponent's average: float64 [L_p]."""
        form = self._minimizer.sequence_form
        plan = self._minimizer.average_plan(1 - player)
        num_roots = form.treeplexes[player].num_root_sequences
        return best_response(form, player, plan).cfv[:num_roots].copy()
