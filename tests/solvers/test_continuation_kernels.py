"""An update at leaves by blocks of payoffs, by hand."""

import numpy as np
import pytest

from spiel_dl.solvers import continuation_kernels
from spiel_dl.solvers.continuation_kernels import Blocks
from spiel_dl.solvers.kernels import Learned


def second_side(is_fixed: list[bool]) -> Learned:
    """Two infosets with two choices each; the sequences are two roots, then the choices."""
    return Learned(
        regret=np.array([0, 0, 1.0, 0, 0, 0]),
        strategy=np.array([1, 1, 1.0, 0, 0.5, 0.5]),
        realization=np.ones(6),
        average=np.zeros(6),
        inflow=np.zeros(0),
        is_fixed=np.array(is_fixed),
    )


@pytest.mark.parametrize("is_fixed", [False, True])
def test_an_update_by_hand(is_fixed):
    """The first side comes to its two infosets with weights 2 and 1, and has one choice in each.

    Infoset 0 shares histories with both, infoset 1 with the second one only. Payoffs are the first
    side's: the choices of infoset 0 earn -(2 * 1 + 1 * 0) = -2 and -(2 * -1 + 1 * 1) = 1, those of
    infoset 1 earn -3 and -1.
    """
    blocks = Blocks(
        np.array([[1.0, -1], [0, 1], [3, 1]]), np.array([0, 1, 1], np.int32), np.array([0, 2, 3])
    )
    learner, cfv = second_side([False, is_fixed]), np.full(6, np.nan)
    now = (1.0, 0.0, 0.0)
    continuation_kernels.update_second(
        blocks,
        np.array([2.0, 1]),
        np.array([0.5, 0]),
        learner,
        now,
        3.0,
        1e-12,
        cfv,
    )
    # Values under the old choices: -2, and (-3 - 1) / 2.
    np.testing.assert_array_equal(cfv, [-2, -2, -2, 1, -3, -1])
    # The average takes the old choices, times the range and the weight 3.
    np.testing.assert_array_equal(learner.average[2:], [1.5, 0, 0, 0])
    # Regrets: 1 + 0 and 0 + 3; -1 + 0, which is dropped, and 1, unless infoset 1 is fixed.
    regrets, choices = ([0, 0], [0.5, 0.5]) if is_fixed else ([0, 1], [0, 1])
    np.testing.assert_array_equal(learner.regret[2:], [1, 3, *regrets])
    np.testing.assert_array_equal(learner.strategy[2:], [0.25, 0.75, *choices])
