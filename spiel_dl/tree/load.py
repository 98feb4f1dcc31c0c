"""Games as people give them: game strings, OpenSpiel games, or games that are compiled already."""

from __future__ import annotations

from typing import TypeAlias

import pyspiel

from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree

AnyGame: TypeAlias = pyspiel.Game | str | GameTree
"""A game, its game string, or a compiled game (then nothing is enumerated again)."""


def turn_based_game(game: AnyGame) -> pyspiel.Game:
    """The turn-based OpenSpiel game of any game; simultaneous moves are converted to hidden ones.

    Raises:
      ValueError: if the game cannot be loaded, or if its type tells that it cannot be solved here.
    """
    return game.game if isinstance(game, GameTree) else load_turn_based(game)


def compile_game(game: AnyGame, *policies: object) -> GameTree:
    """The compiled form of a game.

    Args:
      game: the game.
      policies: policies that may know the compiled game; it is not compiled again if one of them
        has it as its attribute `tree`.

    Raises:
      ValueError: if the game cannot be compiled.
    """
    if isinstance(game, GameTree):
        return game
    turn_based = load_turn_based(game)
    for policy in policies:
        tree = getattr(policy, "tree", None)
        if isinstance(tree, GameTree) and str(tree.game) == str(turn_based):
            return tree
    return GameTree.from_game(turn_based)
