"""Portfolios: a few strategies of each player, its continuations from the leaves of a search.

They are made `by_hand`, or `of_cfr`: CFR's iterates in the game against an opponent who follows the
model with some probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import read_strategy
from spiel_dl.solvers import depth_limited
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import restrict
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game


class Portfolios(NamedTuple):
    """Continuations of a player and its opponent, as behaviour strategies of the whole game.

    Attributes:
      player: the player.
      own: float64 [J, S_p], the player's.
      others: float64 [K, S_-p], the opponent's, the model first.
    """

    player: int
    own: np.ndarray
    others: np.ndarray


def by_hand(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    own: Sequence[openspiel_policy.Policy],
    others: Sequence[openspiel_policy.Policy] = (),
) -> Portfolios:
    """Portfolios of given policies.

    Args:
      game: the game, its game string, or the compiled game.
      player: the player.
      model: the opponent's model.
      own: the player's policies; one or more.
      others: the opponent's policies besides the model.

    Raises:
      ValueError: if the game cannot be compiled, if there is no such player, if `own` is empty, or
        if a policy is not one for the game.
    """
    check_player(player)
    if not own:
        raise ValueError("own is empty; give at least one policy to go on with")
    tree = compile_game(game, model, *own, *others)
    return Portfolios(
        player,
        np.stack([read_strategy(tree, policy, player) for policy in own]),
        np.stack([read_strategy(tree, policy, 1 - player) for policy in (model, *others)]),
    )


def of_cfr(
    game: AnyGame,
    player: int,
    model: openspiel_policy.Policy,
    *,
    p: float = 0.5,
    size: int = 10,
) -> Portfolios:
    """CFR's iterates against an opponent who follows the model with probability p.

    The player's portfolio has its best response to the model, its current strategies after 1, 2, 4
    and so on iterations, and last its average. The opponent's has the model, and its own free
    strategies of the same iterations.

    Args:
      game: the game, its game string, or the compiled game.
      player: the player.
      model: the opponent's model.
      p: the probability that the opponent follows it, 0 to 1.
      size: the number of strategies of each portfolio, at least 2.

    Raises:
      ValueError: if the game cannot be compiled, or if an argument is not valid.
    """
    check_player(player)
    size = checked_count("size", size, 2)
    tree = compile_game(game, model)
    _, (response,), (model_strategy,) = model_and_response(tree, player, model)
    own, others = [response], [model_strategy]
    form = tree.sequence_form if player == 0 else tree.sequence_form.swapped()
    plan = realization_plan(form.treeplexes[1], model_strategy)
    everywhere = np.ones(form.treeplexes[1].num_infosets, np.bool_)
    restricted = restrict(form, (np.ones(1), np.ones(1)), plan, everywhere, p)
    minimizer = depth_limited.new_minimizer(restricted, Effort())
    for index in range(size - 1):
        minimizer.run(2**index - minimizer.iteration)
        own.append(minimizer.learned[0].strategy.copy())
        others.append(minimizer.learned[1].strategy.copy())
    own[-1], others[-1] = (minimizer.average_strategy(side) for side in (0, 1))
    return Portfolios(player, np.stack(own), np.stack(others))


def model_and_response(tree: GameTree, player: int, model: openspiel_policy.Policy) -> Portfolios:
    """The smallest portfolios: the best response to the model, and the model."""
    model_strategy = read_strategy(tree, model, 1 - player)
    plan = realization_plan(tree.treeplexes[1 - player], model_strategy)
    response = best_response(tree.sequence_form, player, plan).strategy
    return Portfolios(player, response[None], model_strategy[None])
