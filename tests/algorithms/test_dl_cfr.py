"""Depth-limited CFR with the optimal value function."""

import numpy as np
import pytest

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions import ExactValue, ZeroValue

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"


def test_beyond_the_game_it_is_plain_cfr_plus():
    plain = CFRPlusSolver("leduc_poker")
    limited = DLCFRSolver("leduc_poker", DepthLimit(moves=99), ZeroValue())
    plain.run(20)
    limited.run(20)
    for player in (0, 1):
        np.testing.assert_array_equal(
            plain.average_policy().strategies[player], limited.average_policy().strategies[player]
        )


@pytest.mark.parametrize("alternating_updates", [True, False])
@pytest.mark.parametrize(
    ("game", "limit", "bound"),
    [
        ("kuhn_poker", DepthLimit(moves=1), 0.01),
        ("leduc_poker", DepthLimit(plies=3), 0.03),
        (GOOFSPIEL_4, DepthLimit(rounds=1), 0.01),
    ],
)
def test_trunk_nash_conv_falls(game, limit, bound, alternating_updates):
    solver = DLCFRSolver(
        game, limit, ExactValue(tolerance=1e-3), alternating_updates=alternating_updates
    )
    solver.run(200)
    assert 0 <= trunk_losses(solver.trunk, solver.average_policy()).nash_conv < bound


def test_a_wrong_value_function_is_asked_and_misleads():
    """With leaves valued at zero, the trunk is much worse: the values do matter."""
    solver = DLCFRSolver(GOOFSPIEL_4, DepthLimit(rounds=2), ZeroValue())
    solver.run(200)
    assert trunk_losses(solver.trunk, solver.average_policy()).nash_conv > 0.1


def test_leaves_without_value_function_are_refused():
    with pytest.raises(ValueError, match="pass value_function="):
        DLCFRSolver("leduc_poker", DepthLimit(moves=2))
