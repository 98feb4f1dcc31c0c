"""Means of winnings with 95% confidence intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special


class Tally(NamedTuple):
    """Statistics of winnings, in utility units.

    Attributes:
      size: their number.
      mean: NaN of none.
      standard_error: of the mean; NaN of fewer than two. All winnings count as independent draws of
        the same variance.
    """

    size: int
    mean: float
    standard_error: float

    @staticmethod
    def of(winnings: np.ndarray) -> Tally:
        """The statistics of winnings: float64 [N], in utility units."""
        size = len(winnings)
        mean = float(winnings.mean()) if size else math.nan
        if size < 2:
            return Tally(size, mean, math.nan)
        return Tally(size, mean, float(winnings.std(ddof=1)) / math.sqrt(size))

    @property
    def half_width(self) -> float:
        """Half the width of a 95% confidence interval of the mean, by Student's t."""
        return float(special.stdtrit(self.size - 1, 0.975)) * self.standard_error
