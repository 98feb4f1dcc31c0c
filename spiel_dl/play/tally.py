"""Means with 95% confidence intervals: `Tally` of many winnings, Student's t of a few runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special


class Tally(NamedTuple):
    """Number of winnings so far, their sum, and the sum of squared deviations from their mean."""

    size: int = 0
    total: float = 0.0
    squared_deviations: float = 0.0

    def add(self, winnings: np.ndarray) -> Tally:
        """Adds winnings: float64 [N], in utility units."""
        if not len(winnings):
            return self
        size, total = self.size + len(winnings), self.total + float(winnings.sum())
        deviations = winnings - winnings.mean()
        squared_deviations = self.squared_deviations + float(deviations @ deviations)
        if self.size:
            # Chan et al. (1979), equation 2.1; sums of squares would cancel for large means.
            difference = float(winnings.mean()) - self.mean
            squared_deviations += difference**2 * self.size * len(winnings) / size
        return Tally(size, total, squared_deviations)

    @property
    def mean(self) -> float:
        """Mean winnings; NaN of none."""
        return self.total / self.size if self.size else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN of fewer than two.

        All winnings count as independent draws of the same variance.
        """
        if self.size < 2:
            return math.nan
        return math.sqrt(self.squared_deviations / (self.size - 1) / self.size)

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
