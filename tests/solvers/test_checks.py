"""Checks of what solvers are given: what is refused, and in what words."""

import numba
import numpy as np
import pytest

from spiel_dl.solvers import checks


@pytest.mark.parametrize("num_threads", [0, -1, numba.config.NUMBA_NUM_THREADS + 1])
def test_threads_that_numba_has_not_are_refused(num_threads):
    with pytest.raises(ValueError, match=f"num_threads={num_threads} .* NUMBA_NUM_THREADS"):
        checks.check_num_threads(num_threads)
    checks.check_num_threads(1)


@pytest.mark.parametrize("number", [0, 7, np.int8(7), np.uint64(7), np.int64(0)])
def test_numbers_of_iterations_become_integers_of_python(number):
    checked = checks.check_iterations(number)
    assert (checked, type(checked)) == (int(number), int)


@pytest.mark.parametrize("number", [float("nan"), 1.5, 2.0, np.float64(2), True, np.True_, "3"])
def test_other_numbers_of_iterations_are_refused(number):
    with pytest.raises(ValueError, match="must be an integer"):
        checks.check_iterations(number)


@pytest.mark.parametrize("number", [-1, np.int32(-5)])
def test_negative_numbers_of_iterations_are_refused(number):
    with pytest.raises(ValueError, match=f"num_iterations={number} must not be negative"):
        checks.check_iterations(number)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(value):
    with pytest.raises(ValueError, match="not finite"):
        checks.check_values(np.array([0.0, value]))
    checks.check_values(np.array([0.0, -3.0]))
    checks.check_values(np.zeros(0))


@pytest.mark.parametrize("weights", [[1.0], [1, 2, 3.0], [0.5, -0.1], [0.5, np.nan], [0, np.inf]])
def test_weights_must_be_as_many_as_said_and_not_negative(weights):
    with pytest.raises(ValueError, match="the range must be 2 finite numbers >= 0, one per root"):
        checks.check_weights(np.array(weights), 2, "the range", "root")
    checks.check_weights(np.array([0.0, 2.0]), 2, "the range", "root")


def test_bounds_are_for_numbers():
    checks.check_at_least(1, width=1, height=np.float32(1.5))
    for number, told in ((0, "width=0 must be at least 1"), (np.nan, "width=nan must be at least")):
        with pytest.raises(ValueError, match=told):
            checks.check_at_least(1, width=number)
    for number in (None, "3"):
        with pytest.raises(ValueError, match=f"width={number!r} must be a number of at least 1"):
            checks.check_at_least(1, width=number)
