"""Exact equilibria by linear programming on the sequence form.

The peer is `open_spiel.python.algorithms.sequence_form_lp`; see `solvers.linear_program` for the
program that is solved.
"""

from __future__ import annotations

from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers import linear_program
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.load import AnyGame, compile_game


def solve_zero_sum_game(
    game: AnyGame,
) -> tuple[float, float, ArrayPolicy, ArrayPolicy]:
    """An exact Nash equilibrium of a two-player zero-sum game.

    Infosets that the equilibrium itself does not reach are uniform.

    Args:
      game: the game, its game string, or the compiled game.

    Returns:
      (value_0, value_1, policy_0, policy_1), as OpenSpiel returns them: both players' values and
      policies. The two policies are one object, which holds both players' parts.

    Raises:
      ValueError: if the game cannot be compiled.
    """
    tree = compile_game(game)
    equilibrium = linear_program.solve(tree.sequence_form)
    policy = ArrayPolicy(tree, map(behaviour_strategy, tree.treeplexes, equilibrium.plans))
    return equilibrium.value, 0.0 - equilibrium.value, policy, policy
