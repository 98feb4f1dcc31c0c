"""Checks of what solvers are given: what is refused, and in what words."""

import numba
import numpy as np
import pytest

from spiel_dl.solvers import checks
from spiel_dl.tree.counts import checked_count

TWO = (2, "the range", "root")
REFUSED = [
    (checks.check_num_threads, [(numba.config.NUMBA_NUM_THREADS + 1,)], "NUMBA_NUM_THREADS"),
    (checked_count, [("n", each, 0) for each in (np.nan, 2.0, np.True_, "3")], "must be an int"),
    (checked_count, [("n", -1, 0), ("n", np.int32(-5), 0)], "n=-. must be at least 0"),
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
        checked = checked_count("n", number, 0)
        assert (checked, type(checked)) == (int(number), int)
    checks.check_values(np.array([0.0, -3.0]))
    checks.check_weights(np.array([0.0, 2.0]), *TWO)
