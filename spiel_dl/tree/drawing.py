"""Draws from distributions that need not sum to 1 to the last digit, as chance's are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyspiel


def draw_outcome(state: pyspiel.State, generator: np.random.Generator) -> int:
    """An outcome at a chance node, see `draw`."""
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    return draw(outcomes, probabilities, generator)


def draw(
    keys: Sequence[int], probabilities: Sequence[float], generator: np.random.Generator
) -> int:
    """One of some keys, by one number of the generator.

    It is the key that `Generator.choice` takes by the same number, but that refuses probabilities
    whose sum differs from 1 by more than 1e-8, and OpenSpiel's games may be off by more.
    """
    cumulative = np.cumsum(probabilities)
    cumulative /= cumulative[-1]
    return int(keys[int(np.searchsorted(cumulative, generator.random(), side="right"))])
