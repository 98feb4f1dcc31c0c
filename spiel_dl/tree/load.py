"""`AnyGame`: game strings, OpenSpiel games and compiled games as arguments."""

from __future__ import annotations

from typing import TypeAlias

import pyspiel

from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import is_same_game, load_turn_based
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.histories import TooManyHistoriesError

AnyGame: TypeAlias = pyspiel.Game | str | GameTree | FactoredGame
"""A game, its game string, or a compiled game (then nothing is enumerated again)."""


def turn_based_game(game: AnyGame) -> pyspiel.Game:
    """The turn-based OpenSpiel game of any game; simultaneous moves are converted to hidden ones.

    Raises:
      ValueError: if the game cannot be loaded, or if games of its type cannot be solved here.
    """
    return game.game if isinstance(game, (GameTree, FactoredGame)) else load_turn_based(game)


def compile_game(game: AnyGame, *policies: object) -> GameTree:
    """The compiled form of a game whose histories can be listed.

    Args:
      game: the game.
      policies: the game is not compiled again if one of them has it as its attribute `tree`.

    Raises:
      ValueError: if the game cannot be compiled, or only in a factored form.
    """
    if isinstance(game, GameTree):
        return game
    if isinstance(game, FactoredGame):
        raise ValueError(
            f"{game.game}: its histories are too many to list, which is needed here. Values, best "
            "responses, exploitability and CFR do without; or take a smaller game"
        )
    turn_based = load_turn_based(game)
    for policy in policies:
        tree = getattr(policy, "tree", None)
        if isinstance(tree, GameTree) and is_same_game(tree.game, turn_based):
            return tree
    return GameTree.from_game(turn_based)


def compile_if_small(game: pyspiel.Game | str, max_histories: int) -> GameTree | None:
    """The compiled game; None if it has more histories than that."""
    try:
        return GameTree.from_game(game, max_histories)
    except TooManyHistoriesError:
        return None
