"""Intervals against SciPy's."""

import numpy as np
import pytest
import scipy.stats

from spiel_dl.play.tally import Tally, student_half_width


@pytest.mark.parametrize("number", [3, 500])
@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 2.0), (1e6, 1e-3), (1e8, 1.0)])
def test_intervals_are_those_of_students_distribution(mean, deviation, number):
    winnings = np.random.default_rng(0).normal(mean, deviation, number)
    tally = Tally().add(winnings[:2]).add(winnings[2:])
    error = scipy.stats.sem(winnings)
    low, high = scipy.stats.t.interval(0.95, number - 1, winnings.mean(), error)
    assert tally.mean == pytest.approx(winnings.mean(), rel=1e-12)
    assert tally.half_width == pytest.approx((high - low) / 2, rel=1e-6)
    assert np.isnan(Tally().add(winnings[:1]).half_width)
    assert np.isnan(Tally().mean)


def test_student_half_width_by_hand():
    assert student_half_width([1.0]) is None
    # Standard deviation 1 of three values; the t quantile of two degrees of freedom is 4.3027.
    assert student_half_width([1.0, 2.0, 3.0]) == pytest.approx(4.3027 / 3**0.5, abs=1e-4)
