"""Solves a game within a given time, by a default variant of CFR.

```python
policy = dl.solve("leduc_poker", seconds=5)
print(policy.exploitability, policy.iterations, policy.seconds)
```

It runs HS-PCFR+(30), evaluates the average and the current policy now and then, and returns the
least exploitable one. Of the published variants in results/compare_cfr, this one has the smallest
worst-case gap to the best variant of a game. Its schedule ends at iteration 1,000, whatever the
time; from there on, its exponent is constant.
"""

from __future__ import annotations

import math
import time

import numpy as np

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability as exploitability_of
from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.effort import share_of_largest
from spiel_dl.solvers.regret_minimization import MIN_ARRANGED
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree.counts import is_number, is_positive
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.load import AnyGame

DEFAULT_VARIANT = "hs-pcfr+(30)"
_SMALL = 1e-9
_MIN_STRETCH = 16
_GROWTH = 1.2
_SHARE_OF_TIME = 1.0 / 16
"""From one evaluation to the next, the number of iterations grows by this factor, at least by
`_MIN_STRETCH`, and takes at most this part of the time."""


class SolvedPolicy(ArrayPolicy):
    """A policy with its exploitability and the effort that it took.

    Attributes:
      exploitability: exact, NashConv / 2, in units of utility.
      iterations: the number of iterations in all.
      seconds: the wall-clock time in all, with compiling the game.
      variant: of CFR, by its name or as it was given.
      iterate: which policy it is, "average" or "current".
    """

    def __init__(
        self,
        tree: GameTree | FactoredGame,
        strategies: tuple[np.ndarray, np.ndarray],
        *,
        exploitability: float,
        iterations: int,
        seconds: float,
        variant: str | Weighting,
        iterate: str,
    ):
        """Wraps strategies as `ArrayPolicy` does, with these attributes."""
        super().__init__(tree, strategies)
        self.exploitability = exploitability
        self.iterations = iterations
        self.seconds = seconds
        self.variant = variant
        self.iterate = iterate


def solve(
    game: AnyGame,
    *,
    seconds: float = 10.0,
    exploitability: float | None = None,
    variant: str | Weighting = DEFAULT_VARIANT,
    num_threads: int = 1,
) -> SolvedPolicy:
    """Solves a game within a given time.

    Args:
      game: the game, its game string, or the compiled game.
      seconds: the most wall-clock time, approximately, with loading compiled loops; a few
        iterations are done in any case, and compiling a game is not interrupted.
      exploitability: stop as soon as this is reached, in units of utility; None: 1e-9 of the
        game's largest utility, see `solvers.effort.share_of_largest`.
      variant: of CFR: a name in `solvers.variants.VARIANTS`, or a `Weighting`.
      num_threads: as for `CFRSolver`.

    Raises:
      ValueError: if the game cannot be compiled, the seconds are not positive, the exploitability
        is negative, or there is no such variant.
    """
    start = time.perf_counter()
    if not is_positive(seconds):
        raise ValueError(f"seconds={seconds!r} must be positive and finite")
    if exploitability is not None and not (is_number(exploitability) and exploitability >= 0):
        raise ValueError(f"exploitability={exploitability!r} must not be negative")
    tree = compile_any(game)
    if exploitability is None:
        exploitability = share_of_largest(_SMALL, tree.sequence_form.utility_range)
    solver = CFRSolver(tree, variant=variant, num_threads=num_threads)
    # Another compiled loop does fewer in a listed game, and loading both takes seconds once.
    fewest = MIN_ARRANGED if isinstance(tree, GameTree) else 1
    stretch, best = fewest, (math.inf, solver.current_policy(), "current")
    while True:
        begin = time.perf_counter()
        solver.run(stretch)
        rate = stretch / max(time.perf_counter() - begin, 1e-9)
        best = _better(solver, best)
        left = start + seconds - time.perf_counter()
        if best[0] <= exploitability or left <= 0:
            break
        affordable = rate * min(left, _SHARE_OF_TIME * seconds)
        planned = max(_MIN_STRETCH, (_GROWTH - 1.0) * solver.iteration)
        stretch = max(fewest, int(min(affordable, planned)))
    return SolvedPolicy(
        tree,
        best[1].strategies,
        exploitability=best[0],
        iterations=solver.iteration,
        seconds=time.perf_counter() - start,
        variant=variant,
        iterate=best[2],
    )


Candidate = tuple[float, ArrayPolicy, str]
"""An exploitability, its policy and the kind of iterate."""


def _better(solver: CFRSolver, best: Candidate) -> Candidate:
    """The least exploitable of the best policy so far, the average and the current one."""
    policies = {"average": solver.average_policy(), "current": solver.current_policy()}
    for name, policy in policies.items():
        value = max(0.0, exploitability_of(solver.tree, policy))
        if value < best[0]:
            best = (value, policy, name)
    return best
