"""The luck that the two games of a pair share."""

from __future__ import annotations

import numpy as np

CHANCE = 2
"""The third source of luck, behind the players."""


def sources(seed: int, pair: int) -> list[np.random.Generator]:
    """Those of both games of a pair: each player, and chance, has one of its own."""
    return [np.random.default_rng([seed, pair, source]) for source in (0, 1, CHANCE)]
