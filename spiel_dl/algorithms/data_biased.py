"""Data-biased response: trust a model in each infoset as far as there is data behind it.

Johanson and Bowling (2009), "Data Biased Robust Counter Strategies". A restricted Nash
response believes in its model everywhere alike, also where it is a mere guess. Here the opponent
has, in each of its infosets I separately, the probability trust(I) of having to play the model's
action; else it chooses freely. So its behaviour strategies are those of the form

    trust(I) * model(a | I) + (1 - trust(I)) * free(a | I),

and the response is the player's equilibrium strategy against them, here exactly, by the linear
program `solvers.robust_response.plan_against_floors`. Trust 1 everywhere gives a best response to
the model, trust 0 everywhere an equilibrium of the game. Note that a constant trust p between them
is not the restricted Nash response of p, where one coin is tossed for the whole game.

`opponent_models.OpponentEstimate` gives both model and trust.
"""

from __future__ import annotations

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers.robust_response import plan_against_floors
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.histories import check_player
from spiel_dl.tree.load import AnyGame, compile_game


def data_biased_response(
    game: AnyGame, player: int, model: openspiel_policy.Policy, *, trust: np.ndarray
) -> ArrayPolicy:
    """An optimal response to a model that is trusted in each infoset differently.

    Args:
      game: the game, its game string, or the compiled game.
      player: who responds.
      model: the opponent's policy; its part for `player` is not read.
      trust: float64 [I_-p], 0 to 1, for each of the opponent's infosets in the order of the
        compiled game.

    Returns:
      A policy in which `player` plays the response, uniformly where it never comes, and the
      opponent plays the model.

    Raises:
      ValueError: if the game cannot be compiled, the model is not a policy for it, there is no such
        player, or the trust has another shape or leaves 0 to 1.
    """
    check_player(player)
    tree = compile_game(game, model)
    opponent = tree.treeplexes[1 - player]
    if trust.shape != (opponent.num_infosets,) or not ((trust >= 0) & (trust <= 1)).all():
        raise ValueError(
            f"trust must be {opponent.num_infosets} numbers between 0 and 1, one per infoset of "
            f"player {1 - player}; got {trust}"
        )
    strategy = read_strategy(tree, model, 1 - player)
    form = tree.sequence_form if player == 0 else tree.sequence_form.swapped()
    floors = strategy.copy()
    floors[opponent.num_root_sequences :] *= np.repeat(trust, opponent.num_actions)
    response = behaviour_strategy(form.treeplexes[0], plan_against_floors(form, floors))
    return ArrayPolicy(tree, (response, strategy) if player == 0 else (strategy, response))
