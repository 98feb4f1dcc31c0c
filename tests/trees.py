"""Trees that the tests of a process share, and their comparison."""

import functools

import numpy as np

from spiel_dl.tree import GameTree

compiled = functools.cache(GameTree.from_game)
"""A game's tree by its string."""


def assert_same_tree(one: GameTree, other: GameTree, rtol: float = 1e-15) -> None:
    """All histories in one order, with the same infosets of who acts; chance to within `rtol`."""
    for name in (
        "parent", "depth", "action", "player", "infoset", "sequence", "move_number", "utility"
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    np.testing.assert_allclose(one.chance_reach, other.chance_reach, rtol=rtol)
