"""Draws from distributions whose sum may differ from 1 by rounding, such as chance's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyspiel


def draw_outcome(state: pyspiel.State, generator: np.random.Generator) -> int:
    """Draws an outcome at a chance node, see `draw`."""
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    return draw(outcomes, probabilities, generator)


def draw(
    keys: Sequence[int], probabilities: Sequence[float], generator: np.random.Generator
) -> int:
    """Draws one of some keys by one number of the generator.

    `Generator.choice` takes the same key, but it refuses probabilities whose sum differs from 1 by
    more than 1e-8, and those of OpenSpiel's games may.
    """
    cumulative = np.cumsum(probabilities)
    cumulative /= cumulative[-1]
    return int(keys[int(np.searchsorted(cumulative, generator.random(), side="right"))])
