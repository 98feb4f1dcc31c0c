"""The best equilibrium against a model, and more generally the best response that is safe.

What a response earns against a model and how far it can be exploited are two goals. McCracken and
Bowling (2004), "Safe Strategies for Agent Modelling in Games", bound the second: of all strategies
whose exploitability is at most epsilon, take the one that earns most against the model. With
epsilon = 0 these are the equilibria, and the choice among them is all that may be done to exploit
an opponent without any risk. Over all epsilon, they are the Pareto set that other responses (RNR,
CDRNR, mixes) are to be compared with. The linear program is in `solvers.robust_response`.
"""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.robust_response import best_safe_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game


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
