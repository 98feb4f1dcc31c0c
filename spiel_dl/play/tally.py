"""Means with 95% confidence intervals: `Tally` of many winnings, Student's t of a few runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special


class Tally(NamedTuple):
    """Winnings so far: how many, and sums of utilities and of their squares."""

    size: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, winnings: np.ndarray) -> Tally:
        """Counts more winnings: float64 [N], utilities."""
        squares = float(winnings @ winnings)
        return Tally(
            self.size + len(winnings), self.total + float(winnings.sum()), self.squares + squares
        )

    @property
    def mean(self) -> float:
        """Mean winnings; NaN of none."""
        return self.total / self.size if self.size else math.nan

    @property
    def standard_error(self) -> float:
        """The mean's; NaN of fewer than two.

        With one variance for all, wherever they come from, as of independent draws.
        """
        if self.size < 2:
            return math.nan
        variance = max(self.squares - self.size * self.mean**2, 0.0) / (self.size - 1)
        return math.sqrt(variance / self.size)

    @property
    def half_width(self) -> float:
        """Half the width of a 95% confidence interval of the mean, by Student's t."""
        return _quantile(self.size) * self.standard_error


def student_half_width(values: Sequence[float]) -> float | None:
    """Half the width of a 95% interval of the mean, by Student's t; None of a single value."""
    if len(values) < 2:
        return None
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return _quantile(len(values)) * error


def _quantile(size: int) -> float:
    """Two-sided 95% quantile of Student's t for so many observations; NaN of fewer than two."""
    return float(special.stdtrit(size - 1, 0.975))
