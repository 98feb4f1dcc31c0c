"""Checks that learners share: how many steps are asked for, and whether a state is theirs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel

from spiel_dl.tree.from_openspiel import is_game_of


def check_num_steps(num_steps: float) -> int:
    """A number of steps to do; a ValueError if it is not a positive whole number."""
    if not (num_steps >= 1 and num_steps % 1 == 0 and num_steps < math.inf):
        raise ValueError(f"num_steps={num_steps} must be a positive whole number")
    return int(num_steps)


def check_shapes(state: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raises a ValueError if arrays of a state, by name, are missing or have another shape."""
    for name, wanted in shapes.items():
        found = state[name].shape if name in state else "nothing"
        if found != wanted:
            raise ValueError(
                f"the state's {name} has shape {found}, but {wanted} is needed: it is that of "
                "another learner"
            )


def check_identity(
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    identity: Mapping[str, Any],
    game: pyspiel.Game,
) -> None:
    """Raises a ValueError if a checkpoint is of another learner.

    Args:
      path: the checkpoint.
      header: what it says of itself.
      identity: what of this must be as it is here, by name.
      game: the game, which identity may name in other words.
    """
    for name, value in identity.items():
        found = header.get(name)
        if found != value and not (name == "game" and _is_known_as(str(found), game)):
            raise ValueError(
                f"{path} has {name} {found}, not {value}; use the same game and settings, or "
                "another file"
            )


def _is_known_as(game_string: str, game: pyspiel.Game) -> bool:
    try:
        return is_game_of(game_string, game)
    except ValueError:  # There is no such game here, or none that can be learned.
        return False
