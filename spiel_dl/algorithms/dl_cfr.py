"""Depth-limited CFR: regret minimization in a trunk whose leaves a value function values.

Kovařík et al. (2021), "Depth-limited Solver" (DL-CFR+ with the default variant). One iteration:

  1. The ranges at the leaves: each player's realization of the sequences its leaf infosets hang
     from.
  2. The value function turns them into counterfactual values of all leaf infosets, which are added
     to the payoffs of these sequences.
  3. Regret matching in every infoset of the trunk, and the average, as in CFR.

One deviation: by default, updates alternate, and steps 1 and 2 are done once per player, each time
with the newest ranges. The paper's solver updates both players at once, with one evaluation an
iteration: `alternating_updates=False`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.factored.families import cut_any
from spiel_dl.solvers.regret_minimization import Pair, RegretMinimizer
from spiel_dl.solvers.variants import CFR_PLUS, Weighting, variant_by_name
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.load import AnyGame
from spiel_dl.value_functions.base import (
    LeafValues,
    ValueFunction,
    Values,
    ZeroValue,
    bind_checked,
    check_arguments,
    check_value_function,
    evaluate_checked,
)


class DLCFRSolver(CFRSolver):
    """Solves a trunk; its policies are uniform below.

    Attributes:
      trunk: the trunk that is solved.
    """

    def __init__(
        self,
        game: AnyGame,
        value_function: ValueFunction | None,
        depth_limit: DepthLimit,
        *,
        variant: str | Weighting = CFR_PLUS,
        alternating_updates: bool = True,
    ):
        """Starts at the uniform strategy.

        Args:
          game: the game, its game string, or the compiled game.
          value_function: values the leaves; None if the game ends above the limit.
          depth_limit: where the trunk ends. Beyond the game, this is plain CFR, and the value
            function must be None or a `ZeroValue`, since there are no leaves to value.
          variant: the variant of CFR, or its name.
          alternating_updates: update the players in turn, with two evaluations an iteration; if
            not, at once, with one.

        Raises:
          ValueError: if the game cannot be compiled or cut, if it goes on at the leaves and no
            value function is given, or if there are no leaves and one is given.
        """
        self.variant = variant_by_name(variant)
        check_arguments(value_function, depth_limit)
        self.trunk = cut_any(game, depth_limit)
        self.tree = self.trunk.tree
        check_value_function(self.trunk, value_function)
        self._leaf_values: LeafValues | None = None
        if self.trunk.leaves.num_public_states and value_function is not None:
            self._leaf_values = bind_checked(value_function, self.trunk.leaves)
        elif not isinstance(value_function, ZeroValue | None):
            raise ValueError(
                f"{self.game} ends above a depth limit of {depth_limit}, so there is nothing to "
                f"value, and the {type(value_function).__name__} would never be asked; choose a "
                "smaller limit, or value_function=None for plain CFR"
            )
        self._sequences = self.trunk.sequences
        self.minimizer = RegretMinimizer(
            self.trunk.sequence_form, self.variant, alternating_updates=alternating_updates
        )

    def run(self, num_iterations: int) -> None:
        """Many iterations.

        Raises:
          ValueError: if the number is not an integer >= 0, or the value function's values are not
            finite, or not float arrays of the ranges' shapes.
        """
        if self._leaf_values is None:
            self.minimizer.run(num_iterations)
        else:
            sequences = self.trunk.leaves.sequences
            self.minimizer.run_with_leaves(num_iterations, sequences, self._leaf_cfvs)

    def _leaf_cfvs(self, players: tuple[int, ...], plans: Pair) -> Sequence[np.ndarray]:
        """Steps 1 and 2; see `RegretMinimizer.run_with_leaves`."""
        assert self._leaf_values is not None
        sequences = self.trunk.leaves.sequences
        ranges = (plans[0][sequences[0]], plans[1][sequences[1]])
        return evaluate_checked(self._leaf_values, players, *ranges)


def evaluated_ranges(solver: DLCFRSolver, iterations: Iterable[int]) -> Values:
    """All ranges at which a solver evaluates leaf values in some iterations.

    With alternating updates there are two pairs in an iteration: those it begins with, for player
    0's values, and those after player 0's update, for player 1's.

    Args:
      solver: a solver before these iterations; it runs up to the last of them.
      iterations: numbers of iterations from 1 on, increasing.

    Returns:
      For each player, float64 [n, L_p]: its reach of its leaf infosets, a row per pair.
    """
    rows = []
    for iteration in iterations:
        solver.run(iteration - 1 - solver.iteration)
        first = _leaf_ranges(solver)
        rows.append(first)
        solver.run(1)
        if solver.minimizer.alternating_updates:
            rows.append((_leaf_ranges(solver)[0], first[1]))
    range_0, range_1 = (np.stack(column) for column in zip(*rows, strict=True))
    return range_0, range_1


def _leaf_ranges(solver: DLCFRSolver) -> Values:
    """Both players' reach of their leaf infosets by their current strategies; copies."""
    sequences = solver.trunk.leaves.sequences
    plans = [learner.realization for learner in solver.minimizer.learned]
    return plans[0][sequences[0]], plans[1][sequences[1]]
