"""Local best response in hold'em that is too large to list: sums over hands instead of histories.

All that `lbr` assumes of an action are folds and showdowns, so what actions earn is what a factored
form pays that ends after each of them. A bet is won from hands that fold at once; at a showdown
there are those that came less those that fold.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from spiel_dl.factored import holdem_places
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.solvers.best_response import realization_plan

_FOLD, _CALL = 0, 1
_Rows = list[list[float]]


def local_response(game: HoldemGame, player: int, model: np.ndarray) -> ArrayPolicy:
    """The local best response to an opponent's strategy (float64 [S_-p])."""
    treeplex = game.treeplexes[player]
    values = _values(game, player, realization_plan(game.treeplexes[1 - player], model))
    best = np.maximum.reduceat(values, treeplex.first_sequence)
    is_best = values == np.concatenate([[0.0], np.repeat(best, treeplex.num_actions)])
    is_best[0] = False
    # The first of several best actions.
    before = np.cumsum(is_best) - is_best
    first = np.repeat(before[treeplex.first_sequence], treeplex.num_actions)
    response = (is_best[1:] & (before[1:] == first)).astype(np.float64)
    response = np.concatenate([[1.0], response])
    # Where the model never comes, nothing is known.
    never = treeplex.sequences_of(np.maximum.reduceat(abs(values), treeplex.first_sequence) == 0.0)
    response[never] = treeplex.uniform_strategy()[never]
    return ArrayPolicy(game, (response, model) if player == 0 else (model, response))


def _values(game: HoldemGame, player: int, plan: np.ndarray) -> np.ndarray:
    """What each action of a player earns by assumption, times reaches: float64 [S_p]."""
    tree, deals, opponent = game.rules.tree, game.deals, 1 - player
    own, others = game.places[player], game.places[opponent]
    chance = [deals.scale * boards.chance for boards in deals.boards]
    rounds = range(len(deals.boards))
    folds: list[_Rows] = [[] for _ in rounds]
    showdowns: list[_Rows] = [[] for _ in rounds]
    # What the opponent comes with is written behind its plan, for hands of the node's own round.
    plans, size = [plan], len(plan)
    for decision, node in enumerate(own.nodes.tolist()):
        index = int(tree.round[node])
        came = _reach(game, opponent, node, plan)
        at, legal = size, np.flatnonzero(tree.legal[node])
        plans.append(came)
        size += len(came)
        for rank, action in enumerate(legal.tolist()):
            mine = [int(own.first_sequence[decision]) + rank, len(legal)]
            after = int(tree.successor[node, action])
            if action == _FOLD:
                folds[index].append([*mine, at, 1, -chance[index] * tree.spent[after].min()])
                continue
            stake = tree.spent[after].min()
            if action != _CALL:
                answer = int(np.searchsorted(others.nodes, after))
                step = int(tree.legal[after].sum())
                left = [int(others.first_sequence[answer]), step]
                folded, called = tree.successor[after, [_FOLD, _CALL]]
                stake = tree.spent[called].min()
                folds[index].append([*mine, *left, chance[index] * tree.spent[folded].min()])
                showdowns[index].append([*mine, *left, -chance[-1] * stake])
            showdowns[index].append([*mine, at, 1, chance[-1] * stake])
    ends = [
        (holdem_places.as_ends(folds[index]), holdem_places.as_ends(showdowns[index]))
        for index in rounds
    ]
    form = dataclasses.replace(game.sequence_form, ends=(ends, ends))
    return form.values_against(player, np.concatenate(plans))


def _reach(game: HoldemGame, player: int, node: int, plan: np.ndarray) -> np.ndarray:
    """A player's reach of a node by the live hands of the node's round: float64 [L]."""
    tree, places = game.rules.tree, game.places[player]
    index, (decision, rank) = int(tree.round[node]), places.before[node]
    if decision < 0:
        return np.ones(len(game.deals.boards[index].live[player].hand))
    earlier = int(places.nodes[decision])
    step = int(tree.legal[earlier].sum())
    hands = holdem_places.earlier_places(game.deals, player, index, int(tree.round[earlier]))
    reach: np.ndarray = plan[places.first_sequence[decision] + hands * step + rank]
    return reach
