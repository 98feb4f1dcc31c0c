"""The exact LP: hand-calculated games, ranges and constants."""

import numpy as np
import pytest

from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import best_response, expected_value
from tests.solvers.test_regret_minimization import matrix_game, subgame


def test_ranges_and_constants_give_an_equilibrium():
    """Neither player's best response earns more than the value."""
    form = subgame()
    ranges = (np.array([0.3, 0.7]), np.array([0.9, 0.2]))
    value, plans = linear_program.solve(form, ranges)
    for player in (0, 1):
        np.testing.assert_allclose(plans[player][:2], ranges[player], atol=1e-12)
    assert expected_value(form, plans) == pytest.approx(value, abs=1e-9)
    assert best_response(form, 0, plans[1], ranges[0]).value == pytest.approx(value, abs=1e-9)
    assert best_response(form, 1, plans[0], ranges[1]).value == pytest.approx(-value, abs=1e-9)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-7, 1.0, 1e9])
def test_a_matrix_game_by_hand_in_any_unit(unit: float) -> None:
    # Row mix (p, 1-p): 3p - 2(1-p) = -p + (1-p)  =>  p = 3/7, value 1/7.
    equilibrium = linear_program.solve(matrix_game([[3, -1], [-2, 1]]).scaled(unit))
    assert equilibrium.value == pytest.approx(unit / 7, rel=1e-9)
    np.testing.assert_allclose(equilibrium.plans[0], [1, 3 / 7, 4 / 7], atol=1e-9)
    np.testing.assert_allclose(equilibrium.plans[1], [1, 2 / 7, 5 / 7], atol=1e-9)
