"""The flags --moves, --plies and --rounds: a depth limit in one of three units."""

from collections.abc import Callable

import pyspiel
from absl import flags

from spiel_dl.tree import DepthLimit
from spiel_dl.tree.depth_limit import default_depth_limit
from spiel_dl.tree.from_openspiel import load_turn_based

NAMES = ("moves", "plies", "rounds")
# The flags belong to the script that calls `define`, and are shown in its --help.
flags.disclaim_key_flags()


def define(subject: str = "Depth limit", *, has_default: bool = False) -> Callable[..., DepthLimit]:
    """Defines the flags.

    Args:
      subject: what they are about, for their help texts.
      has_default: whether they may all be left out.

    Returns:
      A function that gives the limit once the flags are parsed, from the game, which is only needed
      for the default. It raises a ValueError unless exactly one of them was given, or none where
      there is a default.
    """
    otherwise = " Default: one round; two moves in games without rounds." if has_default else ""
    found = [
        flags.DEFINE_integer(
            "moves",
            None,
            f"{subject} in moves. Give one of --moves, --plies, --rounds.{otherwise}",
        ),
        flags.DEFINE_integer(
            "plies", None, f"{subject} in moves, and chance events after the first of them."
        ),
        flags.DEFINE_integer("rounds", None, f"{subject} in rounds of the game, if it has any."),
    ]

    def limit(game: pyspiel.Game | str | None = None) -> DepthLimit:
        values = [flag.value for flag in found]
        if game is not None and has_default and values == [None, None, None]:
            return default_depth_limit(load_turn_based(game))
        return DepthLimit(**dict(zip(NAMES, values, strict=True)))

    return limit
