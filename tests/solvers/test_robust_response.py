"""Safe responses by linear programming, against hand calculations and best responses."""

import numpy as np
import pytest

from spiel_dl.solvers.best_response import best_response, expected_value, realization_plan
from spiel_dl.solvers.robust_response import best_safe_plan, plan_against_floors
from spiel_dl.tree import GameTree, SequenceForm
from tests.solvers.matrix_games import matrix_game

KUHN_VALUE = -1 / 18


@pytest.fixture(scope="module")
def kuhn() -> SequenceForm:
    return GameTree.from_game("kuhn_poker").sequence_form


@pytest.fixture(scope="module")
def model(kuhn) -> np.ndarray:
    """The plan of the uniform player 1."""
    return realization_plan(kuhn.treeplexes[1], kuhn.treeplexes[1].uniform_strategy())


def guaranteed(form: SequenceForm, plan: np.ndarray) -> float:
    """What a plan of player 0 earns at least."""
    return -best_response(form, 1, plan).value


@pytest.mark.parametrize("exploitability", [0.0, 0.1, 0.6, 1.0])
def test_matching_pennies_by_hand(exploitability):
    """Row 0 with x earns 2x - 1 against column 0, and -|2x - 1| at least: x = (1 + e) / 2."""
    form = matrix_game([[1, -1], [-1, 1]])
    plan = best_safe_plan(form, np.array([1.0, 1.0, 0.0]), exploitability)
    x = (1 + exploitability) / 2
    np.testing.assert_allclose(plan, [1, x, 1 - x], atol=1e-8)


@pytest.mark.parametrize("exploitability", [0.0, 0.05, 0.2])
def test_safe_plans_in_kuhn_poker_lose_at_most_what_is_allowed(kuhn, model, exploitability):
    plan = best_safe_plan(kuhn, model, exploitability)
    assert guaranteed(kuhn, plan) >= KUHN_VALUE - exploitability - 1e-7


def test_the_more_may_be_lost_the_more_is_gained_up_to_a_best_response(kuhn, model):
    allowed = [0.0, 0.05, 0.2, 5.0]
    values = [expected_value(kuhn, (best_safe_plan(kuhn, model, e), model)) for e in allowed]
    assert KUHN_VALUE < values[0] < values[1] < values[2] < values[3]
    # The best response to the uniform player 1 earns 1/2.
    assert values[3] == pytest.approx(1 / 2, abs=1e-8)


@pytest.mark.parametrize("floor", [0.0, 0.5, 0.7, 1.0])
def test_floors_in_matching_pennies_by_hand(floor):
    """Column 0 has at least this probability: above 1/2, row 0 is best, with 2 floor - 1."""
    form = matrix_game([[1, -1], [-1, 1]])
    plan = plan_against_floors(form, np.array([0, floor, 0.0]))
    worst = min(
        expected_value(form, (plan, np.array([1, y, 1 - y]))) for y in np.linspace(floor, 1, 11)
    )
    assert worst == pytest.approx(max(0.0, 2 * floor - 1), abs=1e-8)
    if floor > 0.5:
        np.testing.assert_allclose(plan, [1, 1, 0], atol=1e-8)


def test_floors_in_kuhn_poker_lead_from_an_equilibrium_to_a_best_response(kuhn, model):
    uniform = kuhn.treeplexes[1].uniform_strategy()
    equilibrium = plan_against_floors(kuhn, 0.0 * uniform)
    assert guaranteed(kuhn, equilibrium) == pytest.approx(KUHN_VALUE, abs=1e-8)
    response = plan_against_floors(kuhn, uniform)
    assert expected_value(kuhn, (response, model)) == pytest.approx(1 / 2, abs=1e-8)


def test_bad_input_is_refused(kuhn, model):
    for exploitability in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="exploitability="):
            best_safe_plan(kuhn, model, exploitability)
    floors = kuhn.treeplexes[1].uniform_strategy()
    with pytest.raises(ValueError, match="the largest sum 2"):
        plan_against_floors(kuhn, 2 * floors)
    with pytest.raises(ValueError, match=r"the smallest is -0\.5"):
        plan_against_floors(kuhn, -floors)
    constants = (np.zeros(len(kuhn.payoffs.indptr) - 1), np.zeros(len(model)))
    gadget = SequenceForm(kuhn.treeplexes, kuhn.payoffs, kuhn.utility_range, constants)
    with pytest.raises(ValueError, match="constants"):
        plan_against_floors(gadget, floors)


@pytest.mark.parametrize("unit", [1e-10, 1e-6])
def test_the_unit_of_utility_does_not_matter(kuhn, model, unit):
    small = kuhn.scaled(unit)
    found = best_safe_plan(small, model, 0.05 * unit)
    expected = best_safe_plan(kuhn, model, 0.05)
    assert kuhn.values_against(0, model) @ found == pytest.approx(
        kuhn.values_against(0, model) @ expected, abs=1e-6
    )
    assert guaranteed(kuhn, found) >= KUHN_VALUE - 0.05 - 1e-6
    floors = np.full(kuhn.treeplexes[1].num_sequences, 0.5)  # Then player 1 has no choice.
    plan = plan_against_floors(small, floors)
    assert expected_value(kuhn, (plan, model)) == pytest.approx(1 / 2, abs=1e-6)
