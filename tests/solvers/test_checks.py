"""Checks of what solvers are given: what is refused, and in what words."""

import numba
import numpy as np
import pytest

from spiel_dl.solvers import checks

TWO = (2, "the range", "root")
REFUSED = [
    (checks.check_num_threads, [(0,), (numba.config.NUMBA_NUM_THREADS + 1,)], "NUMBA_NUM_THREADS"),
    (checks.check_iterations, [(np.nan,), (2.0,), (np.True_,), ("3",)], "must be an integer"),
    (checks.check_iterations, [(-1,), (np.int32(-5),)], "must not be negative"),
    (checks.check_values, [(np.array([0.0, value]),) for value in (np.nan, -np.inf)], "not finite"),
    (
        checks.check_weights,
        [(np.array(each), *TWO) for each in ([1.0], [1, 2, 3.0], [0.5, -0.1], [0.5, np.nan])],
        "the range must be 2 finite numbers >= 0, one per root",
    ),
]


@pytest.mark.parametrize(("check", "given", "message"), REFUSED)
def test_what_is_refused(check, given, message):
    for arguments in given:
        with pytest.raises(ValueError, match=message):
            check(*arguments)


def test_what_is_accepted():
    checks.check_num_threads(1)
    for number in (0, np.int8(7), np.uint64(7)):
        checked = checks.check_iterations(number)
        assert (checked, type(checked)) == (int(number), int)
    checks.check_values(np.array([0.0, -3.0]))
    checks.check_weights(np.array([0.0, 2.0]), *TWO)


def test_bounds_are_for_numbers():
    checks.check_at_least(1, width=1, height=np.float32(1.5))
    for number, told in (
        (0, "width=0 must be at least 1"),
        (np.nan, "width=nan must be at least"),
        (None, "width=None must be a number of at least 1"),
    ):
        with pytest.raises(ValueError, match=told):
            checks.check_at_least(1, width=number)
