"""Trees that the tests of a process share."""

import functools

from spiel_dl.tree import GameTree

compiled = functools.cache(GameTree.from_game)
"""A game's tree by its string."""
