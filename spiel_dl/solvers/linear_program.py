"""Exact solution of a sequence form by linear programming, with SciPy's HiGHS.

Koller, Megiddo, von Stengel (1996), "Efficient Computation of Equilibria for Extensive Two-Person
Games", section 3: with E x = e and F y = f the constraints of the two realization plans, player 0
solves

    maximise  f^T w + c_0^T x   subject to   E x = e,   F^T w <= A^T x - c_1,   x >= 0,   w free,

and the dual variables of the inequalities are player 1's optimal plan. e and f hold the weights of
the root sequences, and the inflows of the infosets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

if TYPE_CHECKING:
    import scipy.optimize

_TOLERANCE = 1e-10
_TOLERANCE_OF_LARGE = 1e-7
_LARGE_PROGRAM = 50_000  # variables
# HiGHS treats coefficients below 1e-9 as 0, and finds no optimum if they are about 1e9.
_SMALLEST, _TARGET_SMALLEST, _TARGET_LARGEST, _LARGEST = 1e-8, 1e-6, 1e3, 1e6


class Equilibrium(NamedTuple):
    """A Nash equilibrium.

    Attributes:
      value: player 0's expected utility.
      plans: both players' realization plans, float64 [S_p].
    """

    value: float
    plans: tuple[np.ndarray, np.ndarray]


def solve(
    sequence_form: SequenceForm,
    root_ranges: tuple[np.ndarray, np.ndarray] | None = None,
    fixed_plan_0: np.ndarray | None = None,
    inflows: tuple[np.ndarray, np.ndarray] | None = None,
) -> Equilibrium:
    """A Nash equilibrium, exact within the tolerances of `run_highs`.

    Args:
      sequence_form: the game or subgame.
      root_ranges: float64 [num_root_sequences] per player; None: all 1.
      fixed_plan_0: float64 [S_0], weights to which some sequences of player 0 are bound; NaN where
        it is free. Use `SequenceForm.swapped` to bind player 1. None: it is free everywhere.
      inflows: float64 [I_p] per player, the weight that enters each infoset in addition to that of
        its parent sequence. None: 0.

    Raises:
      RuntimeError: if HiGHS does not find an optimum.
    """
    unit = unit_of(sequence_form)
    if unit != 1.0:
        value, plans = solve(sequence_form.scaled(1.0 / unit), root_ranges, fixed_plan_0, inflows)
        return Equilibrium(value * unit, plans)
    treeplex_0, treeplex_1 = sequence_form.treeplexes
    constraints_0, constraints_1 = treeplex_0.constraints(), treeplex_1.constraints()
    constant_0, constant_1 = sequence_form.constants or (
        np.zeros(treeplex_0.num_sequences),
        np.zeros(treeplex_1.num_sequences),
    )
    range_0, range_1 = root_ranges or (None, None)
    right_0, right_1 = _right_hand_side(treeplex_0, range_0), _right_hand_side(treeplex_1, range_1)
    if inflows is not None:
        right_0[treeplex_0.num_root_sequences :] = inflows[0]
        right_1[treeplex_1.num_root_sequences :] = inflows[1]
    num_free = constraints_1.shape[0]
    free_bounds = np.tile([-np.inf, np.inf], (num_free, 1))
    no_free = scipy.sparse.csr_array((constraints_0.shape[0], num_free))
    result = run_highs(
        c=-np.concatenate([constant_0, right_1]),
        A_ub=scipy.sparse.hstack([-sequence_form.payoffs.T, constraints_1.T]).tocsc(),
        b_ub=-constant_1,
        A_eq=scipy.sparse.hstack([constraints_0, no_free]).tocsc(),
        b_eq=right_0,
        bounds=np.concatenate([_bounds(treeplex_0, fixed_plan_0), free_bounds]),
    )
    plan_0 = np.maximum(result.x[: treeplex_0.num_sequences], 0.0)
    plan_1 = np.maximum(-result.ineqlin.marginals, 0.0)
    return Equilibrium(0.0 - float(result.fun), (plan_0, plan_1))


def unit_of(sequence_form: SequenceForm) -> float:
    """The unit of utility in which a game's linear program can be solved, in the game's units.

    It is 1, unless some payoffs are so small that HiGHS would treat them as 0 (many chance
    outcomes, or tiny utilities), or so large that it would fail. Then it is a power of 2, and the
    game to solve is `SequenceForm.scaled` by its inverse.
    """
    sizes = np.abs(sequence_form.payoffs.data)
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return 1.0
    smallest, largest = float(sizes.min()), float(sizes.max())
    if smallest >= _SMALLEST and largest <= _LARGEST:
        return 1.0
    # Payoffs of one size become about 1; otherwise the largest ones must not become much larger.
    unit = max(min(smallest / _TARGET_SMALLEST, largest), largest / _TARGET_LARGEST)
    unit = 2.0 ** math.floor(math.log2(unit))
    return unit if largest > _LARGEST else min(unit, 1.0)


def run_highs(**program: Any) -> scipy.optimize.OptimizeResult:
    """Solves a linear program: small ones by the simplex method, large ones by interior points.

    Interior points, with crossover to a vertex and simplex steps at the end, are many times faster
    on large programs: minutes instead of hours in Goofspiel with six cards.

    Constraints, and the signs of reduced costs, hold within 1e-10; from 50,000 variables on within
    1e-7.

    Args:
      program: arguments of `scipy.optimize.linprog`, except method and options.

    Raises:
      RuntimeError: if HiGHS does not find an optimum.
    """
    # The import is slow, and most solvers need no linear program.
    import scipy.optimize

    is_large = len(program["c"]) >= _LARGE_PROGRAM
    tolerance = _TOLERANCE_OF_LARGE if is_large else _TOLERANCE
    result = scipy.optimize.linprog(
        **program,
        method="highs-ipm" if is_large else "highs",
        options={
            "primal_feasibility_tolerance": tolerance,
            "dual_feasibility_tolerance": tolerance,
        },
    )
    if result.status != 0:
        raise RuntimeError(f"HiGHS found no optimum (status {result.status}): {result.message}")
    return result


def _bounds(treeplex: Treeplex, fixed_plan: np.ndarray | None) -> np.ndarray:
    """Lower and upper bounds of a realization plan: float64 [S, 2]."""
    bounds = np.tile([0.0, np.inf], (treeplex.num_sequences, 1))
    if fixed_plan is not None:
        bound = ~np.isnan(fixed_plan)
        bounds[bound] = fixed_plan[bound, None]
    return bounds


def _right_hand_side(treeplex: Treeplex, root_range: np.ndarray | None) -> np.ndarray:
    """The right-hand side of `Treeplex.constraints`: float64 [R + I]."""
    roots = np.ones(treeplex.num_root_sequences) if root_range is None else root_range
    return np.concatenate([roots, np.zeros(treeplex.num_infosets)])
