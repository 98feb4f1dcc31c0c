"""Draws from distributions whose sum may differ from 1 by rounding, such as chance's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def draw(probabilities: Mapping[int, float], number: float) -> int:
    """The first key, in order, at which the cumulative probability exceeds a number in [0, 1).

    Keys of probability 0 are never drawn; probabilities need not sum to 1 to the last digit.
    """
    keys = sorted(key for key, probability in probabilities.items() if probability > 0)
    cumulative = np.cumsum([probabilities[key] for key in keys])
    position = int(np.searchsorted(cumulative, number * cumulative[-1], side="right"))
    return keys[min(position, len(keys) - 1)]
