"""The best equilibrium against a model, and the best response of bounded exploitability.

The gain of a response against a model and its exploitability are two goals. McCracken and
Bowling (2004), "Safe Strategies for Agent Modelling in Games", bound the second: of all strategies
whose exploitability is at most epsilon, take the one that earns most against the model. With
epsilon = 0 these are the equilibria, and the choice among them is all that may be done to exploit
an opponent without any risk. Over all epsilon, they are the Pareto set that other responses (RNR,
CDRNR, mixes) are to be compared with.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex

# Equilibria are feasible but for the rounding of the game's value, which must not exclude them.
_RELATIVE_SLACK = 1e-9


def best_nash(game: AnyGame, player: int, model: openspiel_policy.Policy) -> ArrayPolicy:
    """The equilibrium strategy that earns a player most against an opponent's policy.

    Arguments, result and errors are those of `safe_best_response`.
    """
    return safe_best_response(game, player, model, exploitability=0.0)


def safe_best_response(
    game: AnyGame, player: int, model: openspiel_policy.Policy, *, exploitability: float
) -> ArrayPolicy:
    """The strategy that earns a player most against a policy, of those of bounded exploitability.

    Args:
      game: the game, its game string, or the compiled game.
      player: who responds.
      model: the opponent's policy; its part for `player` is not read.
      exploitability: the bound of `exploitability.player_exploitability`, in utility units. It is
        kept up to 1e-9 of the game's utility range.

    Returns:
      A policy in which `player` plays this response, uniformly where it never comes, and the
      opponent plays the model.

    Raises:
      ValueError: if the game cannot be compiled, the model is not a policy for it, there is no such
        player, or the bound is negative or not finite.
    """
    check_player(player)
    tree = compile_game(game, model)
    strategy = read_strategy(tree, model, 1 - player)
    form = tree.sequence_form if player == 0 else tree.sequence_form.swapped()
    model_plan = realization_plan(form.treeplexes[1], strategy)
    plan = best_safe_plan(form, model_plan, exploitability)
    response = behaviour_strategy(form.treeplexes[0], plan)
    return ArrayPolicy(tree, (response, strategy) if player == 0 else (strategy, response))


def best_safe_plan(
    sequence_form: SequenceForm, model_plan: np.ndarray, exploitability: float
) -> np.ndarray:
    """Player 0's best realization plan against a model among those of bounded exploitability.

    E x = e and F y = f are the constraints of the two realization plans, as in
    `solvers.linear_program`; w are the dual variables of F y = f, so F^T w <= A^T x says that x
    earns f^T w or more against every y. With v the game's value and m the model's plan,

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
    treeplex_0, treeplex_1 = sequence_form.treeplexes
    constraints_0, constraints_1 = treeplex_0.constraints(), treeplex_1.constraints()
    value = linear_program.solve(sequence_form).value
    slack = _RELATIVE_SLACK * sequence_form.utility_range
    ones = _right_hand_side(treeplex_1)
    num_plan, num_dual = constraints_0.shape[1], constraints_1.shape[0]
    guarantee = scipy.sparse.csr_array(np.concatenate([np.zeros(num_plan), -ones])[None, :])
    keeps = scipy.sparse.hstack([-sequence_form.payoffs.T, constraints_1.T])
    nothing = scipy.sparse.csr_array((constraints_0.shape[0], num_dual))
    gain = sequence_form.values_against(0, model_plan)
    result = linear_program.run_highs(
        c=-np.concatenate([gain, np.zeros(num_dual)]),
        A_ub=scipy.sparse.vstack([keeps, guarantee]).tocsc(),
        b_ub=np.append(np.zeros(treeplex_1.num_sequences), slack + exploitability - value),
        A_eq=scipy.sparse.hstack([constraints_0, nothing]).tocsc(),
        b_eq=_right_hand_side(treeplex_0),
        bounds=[(0.0, np.inf)] * num_plan + [(-np.inf, np.inf)] * num_dual,
    )
    return np.maximum(result.x[:num_plan], 0.0)


def _right_hand_side(treeplex: Treeplex) -> np.ndarray:
    """The right-hand side of `Treeplex.constraints` in a whole game: float64 [R + I]."""
    right = np.zeros(treeplex.num_root_sequences + treeplex.num_infosets)
    right[: treeplex.num_root_sequences] = 1.0
    return right
