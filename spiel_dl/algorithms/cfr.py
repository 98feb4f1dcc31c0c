"""Counterfactual regret minimization and its variants, as drop-ins for OpenSpiel's solvers.

```python
solver = cfr.CFRPlusSolver(pyspiel.load_game("leduc_poker"))
solver.run(1000)
print(exploitability.nash_conv(solver.game, solver.average_policy()))

solver = cfr.CFRSolver("leduc_poker", variant="pdcfr+")  # any name in `VARIANTS`
```

One iteration updates player 0, then player 1 (or both at once, with alternating_updates=False):
counterfactual values of all sequences, cumulative regrets, regret matching, average. The loop is
described in `spiel_dl.solvers.regret_minimization`; the variants differ in a few numbers alone, see
`spiel_dl.solvers.variants`.
After every iteration, regrets and policies equal those of `open_spiel.python.algorithms.cfr` except
where exact regrets tie: here rounding noise does not break the tie.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyspiel

from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers import variants
from spiel_dl.solvers.reduction import reduce_form
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import Weighting, variant_by_name
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.sequence_form import SequenceForm


class CFRSolver:
    """CFR (Zinkevich et al. 2007, "Regret Minimization in Games with Incomplete Information").

    Attributes:
      variant: how regrets are accumulated, strategies derived, iterates averaged.
      tree: the compiled game.
      minimizer: the regret minimizer behind the policies; of games that are not small, it has what
        `solvers.reduction` leaves of them.
    """

    variant: Weighting = variants.CFR

    def __init__(
        self,
        game: AnyGame,
        *,
        variant: str | Weighting | None = None,
        alternating_updates: bool = True,
        num_threads: int = 1,
    ):
        """Starts at the uniform policy.

        Args:
          game: the game, its game string, or the compiled game.
          variant: a name in `solvers.variants.VARIANTS`, or a `Weighting`; None: that of the
            class.
          alternating_updates: update the players in turn, not at once.
          num_threads: threads per iteration; pays from about a million terminal histories on. A
            game too large to list has the number of its `factored_game` instead.

        Raises:
          ValueError: if the game cannot be compiled, for an impossible number of threads, or if
            there is no variant of this name.
        """
        if variant is not None:
            self.variant = variant_by_name(variant)
        self.tree = compile_any(game)
        form = self.tree.sequence_form
        # Of the minimizer's sequences, those of the tree.
        self._sequences: tuple[np.ndarray | slice, np.ndarray | slice] = slice(None), slice(None)
        if isinstance(form, SequenceForm):
            form, self._sequences = reduce_form(form)
        self.minimizer = RegretMinimizer(
            form,
            self.variant,
            alternating_updates=alternating_updates,
            num_threads=num_threads,
        )

    @property
    def game(self) -> pyspiel.Game:
        """The turn-based game that is solved."""
        return self.tree.game

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self.minimizer.iteration

    def evaluate_and_update_policy(self) -> None:
        """One iteration."""
        self.run(1)

    def run(self, num_iterations: int) -> None:
        """Many iterations, without returning to Python in between: Ctrl-C waits for all of them."""
        self.minimizer.run(num_iterations)

    def current_policy(self) -> ArrayPolicy:
        """A copy of the policy that the next iteration will play."""
        strategies = (learner.strategy for learner in self.minimizer.learned)
        return ArrayPolicy.of_part(self.tree, self._sequences, strategies)

    def average_policy(self) -> ArrayPolicy:
        """A copy of the average policy, which converges to an equilibrium."""
        strategies = (self.minimizer.average_strategy(player) for player in (0, 1))
        return ArrayPolicy.of_part(self.tree, self._sequences, strategies)

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all that changes from iteration to iteration, for checkpoints."""
        return self.minimizer.state()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continues from a `state()` of a solver of the same game and variant.

        Raises:
          ValueError: if the state is of another game or variant; nothing has changed then.
        """
        self.minimizer.load_state(state)


class CFRPlusSolver(CFRSolver):
    """CFR+ (Tammelin 2014): negative cumulative regrets are dropped, the average is linear."""

    variant = variants.CFR_PLUS
