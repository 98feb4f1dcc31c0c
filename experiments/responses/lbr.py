"""Local best response: a lower bound of poker strategies' exploitability without a full search.

Lisý and Bowling (2017), "Equilibrium Approximation Quality of Current No-Limit Poker Bots",
section "Local Best Response". At each of its decisions, the responding player

  1. knows the opponent's range there, from the model and all that happened;
  2. assumes that after its action both players check or call to the end, but for one thing: when it
     bets or raises, the opponent folds at once as often as the model does, with each hand;
  3. plays the action of highest expected utility under these assumptions.

It is computed here for every infoset of a compiled game, each history weighted by chance's and the
model's reach, so that its value is exact. It considers all bets of the game. Like any strategy, it
earns at most as much as a best response; it may earn less than the game's value, as it ignores that
the model may raise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.array_policy import ArrayPolicy, read_strategy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.history_values import chance_shares
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import CHANCE_PLAYER, check_player
from spiel_dl.tree.load import AnyGame, compile_game

_FOLD_CALL_GAMES = ("leduc_poker", "python_leduc", "python_holdem", "universal_poker")
"""Games in which 0 is to fold, legal only against a bet, and 1 to check or call."""
_PASS_BET_GAMES = ("kuhn_poker", "python_kuhn_poker")
"""Games in which 0 is to check or, against a bet, to fold, and 1 to bet or to call."""
GAMES = _FOLD_CALL_GAMES + _PASS_BET_GAMES
"""Short names of the games that local best response is for."""


class _Children(NamedTuple):
    """The histories after passive actions: int64 [H] each, -1 where there is none.

    Attributes:
      passive: the history after a check or call.
      fold: the history after a fold; -1 where the player does not face a bet.
    """

    passive: np.ndarray
    fold: np.ndarray


def local_best_response(game: AnyGame, player: int, model: openspiel_policy.Policy) -> ArrayPolicy:
    """The local best response of a player to an opponent's policy.

    Args:
      game: the game, its game string, or the compiled game: one of poker.
      player: who responds.
      model: the opponent's policy; its part for `player` is not read.

    Returns:
      A policy in which `player` plays its response, uniformly where the model never comes, and the
      opponent plays the model.

    Raises:
      ValueError: if folds and calls of the game are not known here, the game cannot be compiled,
        the model is not a policy for it, or there is no such player.
    """
    check_player(player)
    tree = compile_game(game, model)
    strategy = read_strategy(tree, model, 1 - player)
    children = _find_children(tree)
    values = _values_after_actions(tree, player, strategy, children)
    response = _greedy(tree, player, strategy, values)
    return ArrayPolicy(tree, (response, strategy) if player == 0 else (strategy, response))


def _find_children(tree: GameTree) -> _Children:
    name = tree.game.get_type().short_name
    after_0, after_1 = (_child_by_action(tree, action) for action in (0, 1))
    if name in _FOLD_CALL_GAMES:
        return _Children(passive=after_1, fold=after_0)
    if name in _PASS_BET_GAMES:
        after_player = np.isin(tree.player[tree.parent], (0, 1)) & (tree.parent >= 0)
        faces_bet = after_player & (tree.action == 1)
        return _Children(np.where(faces_bet, after_1, after_0), np.where(faces_bet, after_0, -1))
    raise ValueError(
        f"local best response must know which actions fold and call, and does not for {tree.game}; "
        f"use one of {GAMES}, or an exact best response"
    )


def _child_by_action(tree: GameTree, action: int) -> np.ndarray:
    """The history after an action of a player: int64 [H], -1 where it is not legal."""
    child = np.full(tree.num_histories, -1, np.int64)
    after = 1 + np.flatnonzero((tree.action[1:] == action) & (tree.player[tree.parent[1:]] >= 0))
    child[tree.parent[after]] = after
    return child


def _values_after_actions(
    tree: GameTree, player: int, model: np.ndarray, children: _Children
) -> np.ndarray:
    """A player's expected utility (step 2) in every history after its own action: float64 [H].

    Args:
      tree: the game.
      player: who responds.
      model: float64 [S_-p], the opponent's strategy.
      children: the game's folds and calls.
    """
    value = tree.utility if player == 0 else -tree.utility
    value = value.copy()
    for start, end in reversed(tree.levels_below_root()):
        # Parents are one level up, so what is summed into them is complete.
        parent = tree.parent[start:end]
        by_chance = tree.player[parent] == CHANCE_PLAYER
        counted = by_chance | (children.passive[parent] == np.arange(start, end))
        weight = np.where(by_chance, chance_shares(tree, start, end), 1.0)
        np.add.at(value, parent[counted], (weight * value[start:end])[counted])
    fold_histories = np.flatnonzero((tree.player == 1 - player) & (children.fold >= 0))
    fold = children.fold[fold_histories]
    folds = model[tree.sequence[1 - player, fold]]
    called = value[fold_histories].copy()
    value[fold_histories] = folds * value[fold] + (1.0 - folds) * called
    return value


def _greedy(tree: GameTree, player: int, model: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Step 3: float64 [S]; the first of several best actions.

    Args:
      tree: the game.
      player: who responds.
      model: float64 [S_-p], the opponent's strategy.
      values: float64 [H], see `_values_after_actions`.
    """
    treeplex, opponent = tree.treeplexes[player], 1 - player
    reach = (
        tree.chance_reach
        * realization_plan(tree.treeplexes[opponent], model)[tree.sequence[opponent]]
    )
    moved = 1 + np.flatnonzero(tree.player[tree.parent[1:]] == player)
    # The player's own action changes neither chance's nor the opponent's reach.
    sequences = tree.sequence[player, moved]
    size = treeplex.num_sequences
    weights = np.bincount(sequences, reach[moved], minlength=size)
    expected = np.bincount(sequences, reach[moved] * values[moved], minlength=size)
    strategy = treeplex.uniform_strategy()
    for infoset in range(treeplex.num_infosets):
        own = treeplex.sequences(infoset)
        if weights[own].any():
            best = int(expected[own].argmax())
            strategy[own] = 0.0
            strategy[own.start + best] = 1.0
    return strategy
