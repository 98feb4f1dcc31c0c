"""Best responses to any OpenSpiel policy, computed on the compiled game."""

from __future__ import annotations

from open_spiel.python import policy as openspiel_policy

from spiel_dl.factored.families import compile_any
from spiel_dl.policies.array_policy import ArrayPolicy, read_plan, read_strategy
from spiel_dl.solvers import best_response as solver
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame


def best_response_value(game: AnyGame, policy: openspiel_policy.Policy, player: int) -> float:
    """The value of a player's best response to the opponent's part of a policy.

    Args:
      game: the game, its game string, or the compiled game (then nothing is enumerated again).
      policy: the opponent's policy; its part for `player` is not read.
      player: the player who responds.

    Returns:
      The utility of `player`.

    Raises:
      ValueError: if the game cannot be compiled, or the policy is not one for it.
    """
    return _respond(compile_any(game, policy), policy, player).value


def best_response_policy(
    game: AnyGame, policy: openspiel_policy.Policy, player: int
) -> ArrayPolicy:
    """A policy in which `player` plays a pure best response and the opponent plays `policy`.

    Arguments and errors are those of `best_response_value`.
    """
    tree = compile_any(game, policy)
    response = _respond(tree, policy, player).strategy
    opponent = read_strategy(tree, policy, 1 - player)
    return ArrayPolicy(tree, (response, opponent) if player == 0 else (opponent, response))


def _respond(
    tree: GameTree | FactoredGame, policy: openspiel_policy.Policy, player: int
) -> solver.BestResponse:
    check_player(player)
    return solver.best_response(tree.sequence_form, player, read_plan(tree, policy, 1 - player))
