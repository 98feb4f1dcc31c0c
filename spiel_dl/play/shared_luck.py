"""The random numbers that the two games of a pair share."""

from __future__ import annotations

import numpy as np

CHANCE = 2
"""The number of chance's generator, after the players'."""


def sources(seed: int, pair: int) -> list[np.random.Generator]:
    """The generators of both games of a pair: one for each player, and one for chance."""
    return [np.random.default_rng([seed, pair, source]) for source in (0, 1, CHANCE)]
