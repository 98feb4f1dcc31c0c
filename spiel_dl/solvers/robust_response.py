"""Responses to a model that are safe against everybody else, by linear programming.

In both programs player 0 responds, `SequenceForm.swapped` exchanges the players. E x = e and
F y = f are the constraints of the two realization plans, as in `solvers.linear_program`; w are the
dual variables of F y = f, so F^T w <= A^T x says that x earns f^T w or more against every y.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from spiel_dl.solvers import linear_program
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

# Equilibria are feasible but for the rounding of the game's value, which must not exclude them.
_RELATIVE_SLACK = 1e-9


def best_safe_plan(
    sequence_form: SequenceForm, model_plan: np.ndarray, exploitability: float
) -> np.ndarray:
    """The plan that earns most against a model, of those that lose little against anybody.

    With v the game's value and m the model's plan,

        maximise  (A m)^T x   subject to   E x = e,  x >= 0,  F^T w <= A^T x,
                                           f^T w >= v - exploitability.

    Args:
      sequence_form: a whole game.
      model_plan: float64 [S_1], m.
      exploitability: how far below the value player 0 may fall, in utility units; at least 0.

    Returns:
      float64 [S_0].

    Raises:
      ValueError: if the allowed exploitability is negative or not finite.
      RuntimeError: if HiGHS does not find an optimum.
    """
    if not 0.0 <= exploitability < np.inf:
        raise ValueError(f"exploitability={exploitability} must be a finite number >= 0")
    unit = linear_program.unit_of(sequence_form)
    if unit != 1.0:
        return best_safe_plan(sequence_form.scaled(1.0 / unit), model_plan, exploitability / unit)
    constraints_0, constraints_1 = (treeplex.constraints() for treeplex in sequence_form.treeplexes)
    value = linear_program.solve(sequence_form).value
    slack = _RELATIVE_SLACK * sequence_form.utility_range
    ones = _right_hand_side(sequence_form.treeplexes[1])
    num_plan, num_dual = constraints_0.shape[1], constraints_1.shape[0]
    guarantee = scipy.sparse.csr_array(np.concatenate([np.zeros(num_plan), -ones])[None, :])
    return _maximise(
        sequence_form,
        objective=np.concatenate([sequence_form.values_against(0, model_plan), np.zeros(num_dual)]),
        dual_bounds=[(-np.inf, np.inf)] * num_dual,
        inequalities=(
            scipy.sparse.vstack(
                [
                    scipy.sparse.hstack([-sequence_form.payoffs.T, constraints_1.T]),
                    guarantee,
                ]
            ),
            np.concatenate([np.zeros(constraints_1.shape[1]), [slack + exploitability - value]]),
        ),
    )


def plan_against_floors(sequence_form: SequenceForm, floors: np.ndarray) -> np.ndarray:
    """The plan that earns most against an opponent who must play each action with some probability.

    Player 1's plans are those with y_s >= floors_s * y_parent(s), in matrices G y >= 0. They are a
    polytope of their own, and by duality

        maximise  f^T w   subject to   E x = e,  x >= 0,  F^T w + G^T u = A^T x,  u >= 0.

    Floors of 0 leave the game as it is. Where the floors of an infoset sum to 1, player 1 has no
    choice.

    Args:
      sequence_form: a whole game.
      floors: float64 [S_1], the least probability of each sequence's action, given its infoset;
        entries of root sequences are ignored.

    Returns:
      float64 [S_0].

    Raises:
      ValueError: if floors are negative, or sum to more than 1 in an infoset.
      RuntimeError: if HiGHS does not find an optimum.
    """
    treeplex_1 = sequence_form.treeplexes[1]
    sums = treeplex_1.sum_per_infoset(floors)
    below_roots = slice(treeplex_1.num_root_sequences, None)
    if (floors[below_roots] < 0).any() or (sums > 1 + 1e-9).any():
        raise ValueError(
            f"floors must be probabilities that sum to at most 1 in an infoset; the smallest is "
            f"{floors[below_roots].min()}, the largest sum {sums.max()}"
        )
    unit = linear_program.unit_of(sequence_form)
    if unit != 1.0:
        return plan_against_floors(sequence_form.scaled(1.0 / unit), floors)
    constraints_1 = treeplex_1.constraints()
    num_plan, num_sequences = sequence_form.payoffs.shape
    num_dual = constraints_1.shape[0]
    return _maximise(
        sequence_form,
        objective=np.concatenate(
            [np.zeros(num_plan), _right_hand_side(treeplex_1), np.zeros(num_sequences)]
        ),
        dual_bounds=[(-np.inf, np.inf)] * num_dual + [(0.0, np.inf)] * num_sequences,
        equalities=scipy.sparse.hstack(
            [-sequence_form.payoffs.T, constraints_1.T, _above_floors(treeplex_1, floors).T]
        ),
    )


def _above_floors(treeplex: Treeplex, floors: np.ndarray) -> scipy.sparse.csr_array:
    """The matrix G of `plan_against_floors`: float64 [S, S], sparse."""
    size = treeplex.num_sequences
    child = np.arange(treeplex.num_root_sequences, size)
    parent = treeplex.arrays.origin[child]
    return scipy.sparse.eye_array(size, format="csr") - scipy.sparse.csr_array(
        (floors[child], (child, parent)), shape=(size, size)
    )


def _maximise(
    sequence_form: SequenceForm,
    objective: np.ndarray,
    dual_bounds: list[tuple[float, float]],
    inequalities: tuple[scipy.sparse.coo_array, np.ndarray] | None = None,
    equalities: scipy.sparse.coo_array | None = None,
) -> np.ndarray:
    """Maximises over a plan x of player 0 and some dual variables; returns x, float64 [S_0].

    Args:
      sequence_form: a whole game.
      objective: float64 [S_0 + D].
      dual_bounds: D pairs, the bounds of the dual variables.
      inequalities: (matrix [N, S_0 + D], right-hand side [N]): at most.
      equalities: matrix [M, S_0 + D]; equal to 0.

    Raises:
      ValueError: if the sequence form has constants, so that it is not a whole game.
      RuntimeError: if HiGHS does not find an optimum.
    """
    if sequence_form.constants is not None:
        raise ValueError("the sequence form has constants; give that of a whole game")
    treeplex = sequence_form.treeplexes[0]
    own = treeplex.constraints()
    nothing = scipy.sparse.csr_array((own.shape[0], len(dual_bounds)))
    rows, right = [scipy.sparse.hstack([own, nothing])], [_right_hand_side(treeplex)]
    if equalities is not None:
        rows.append(equalities)
        right.append(np.zeros(equalities.shape[0]))
    result = linear_program.run_highs(
        c=-objective,
        A_ub=None if inequalities is None else inequalities[0].tocsc(),
        b_ub=None if inequalities is None else inequalities[1],
        A_eq=scipy.sparse.vstack(rows).tocsc(),
        b_eq=np.concatenate(right),
        bounds=[(0.0, np.inf)] * treeplex.num_sequences + dual_bounds,
    )
    return np.maximum(result.x[: treeplex.num_sequences], 0.0)


def _right_hand_side(treeplex: Treeplex) -> np.ndarray:
    """The right-hand side of `Treeplex.constraints` in a whole game: float64 [R + I]."""
    right = np.zeros(treeplex.num_root_sequences + treeplex.num_infosets)
    right[: treeplex.num_root_sequences] = 1.0
    return right
