"""Depth-limited CFR with the optimal value function."""

import pytest

from spiel_dl import DepthLimit, ExactValue, ValueFunction, ZeroValue
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.trunk_exploitability import trunk_losses
from spiel_dl.tree.depth_limit import BEYOND_THE_GAME
from tests.made_up_values import broken_value
from tests.reference import assert_same_arrays, assert_same_policy

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"


def test_beyond_the_game_it_is_plain_cfr_plus():
    plain = CFRPlusSolver("leduc_poker")
    limited = DLCFRSolver("leduc_poker", ZeroValue(), DepthLimit(moves=99))
    plain.run(20)
    limited.run(20)
    assert_same_policy(limited.average_policy(), plain.average_policy())


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
        game, ExactValue(tolerance=1e-3), limit, alternating_updates=alternating_updates
    )
    solver.run(200)
    assert 0 <= trunk_losses(solver.trunk, solver.average_policy()).nash_conv < bound


def test_a_wrong_value_function_is_asked_and_misleads():
    """With leaves valued at zero, the trunk is much worse: the values do matter."""
    solver = DLCFRSolver(GOOFSPIEL_4, ZeroValue(), DepthLimit(rounds=2))
    solver.run(200)
    assert trunk_losses(solver.trunk, solver.average_policy()).nash_conv > 0.1


@pytest.mark.parametrize("limit", [DepthLimit(plies=30), BEYOND_THE_GAME])
def test_a_value_function_that_is_never_asked_is_refused(limit):
    with pytest.raises(
        ValueError, match=r"kuhn_poker\(\) ends above .* the ExactValue would never"
    ):
        DLCFRSolver("kuhn_poker", ExactValue(), limit)
    for function in (None, ZeroValue()):
        DLCFRSolver("kuhn_poker", function, limit).run(1)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("alternating", [False, True])
def test_values_that_are_not_finite_are_told(player, alternating):
    solver = DLCFRSolver(
        "kuhn_poker", broken_value(player, 2), DepthLimit(moves=1), alternating_updates=alternating
    )
    with pytest.raises(ValueError, match="values that are not finite"):
        solver.run(10)
    # The iteration that was broken off is as if it had not begun.
    done = solver.iteration
    whole = DLCFRSolver(
        "kuhn_poker", broken_value(0, 99), DepthLimit(moves=1), alternating_updates=alternating
    )
    whole.run(done)
    assert done > 0
    assert_same_arrays(solver.state(), whole.state())


def test_states_of_other_trunks_change_nothing():
    solver = DLCFRSolver("kuhn_poker", ExactValue(), DepthLimit(moves=1))
    solver.run(3)
    before = solver.state()
    for other in (
        DLCFRSolver("kuhn_poker", ExactValue(), DepthLimit(moves=2)),
        DLCFRSolver("kuhn_poker", None, BEYOND_THE_GAME),
    ):
        other.run(1)
        with pytest.raises(ValueError, match="saved for another game"):
            solver.load_state(other.state())
        assert_same_arrays(before, solver.state())


def test_a_value_function_that_binds_nothing_is_refused() -> None:
    class Forgets(ValueFunction):
        def bind(self, leaves):
            pass

    limit, message = DepthLimit(moves=1), r"Forgets.bind returned NoneType; let it return a Leaf"
    with pytest.raises(ValueError, match=message):
        DLCFRSolver("kuhn_poker", Forgets(), limit)
    policy = ContinualResolvingPolicy("kuhn_poker", Forgets(), limit)
    with pytest.raises(ValueError, match=message):
        policy.to_array_policy()
