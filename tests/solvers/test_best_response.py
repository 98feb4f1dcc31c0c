"""Best responses and values on a sequence form, by hand in Kuhn poker and a matrix game."""

import numpy as np
import pytest

from spiel_dl.solvers.best_response import (
    FixedStrategy,
    best_response,
    evaluate,
    expected_value,
    realization_plan,
)
from spiel_dl.tree import GameTree, SequenceForm
from tests.solvers.matrix_games import matrix_game


@pytest.fixture(scope="module")
def kuhn() -> SequenceForm:
    return GameTree.from_game("kuhn_poker").sequence_form


def uniform_plans(form: SequenceForm) -> tuple[np.ndarray, np.ndarray]:
    first, second = (realization_plan(t, t.uniform_strategy()) for t in form.treeplexes)
    return first, second


def test_both_best_responses_at_once(kuhn):
    found = evaluate(kuhn, uniform_plans(kuhn))
    assert found.value == pytest.approx(1 / 8, abs=1e-15)
    assert found.best == pytest.approx((1 / 2, 5 / 12), abs=1e-15)
    assert found.exploitability == pytest.approx(11 / 24, abs=1e-15)


@pytest.mark.parametrize("player", [0, 1])
def test_a_best_response_is_pure_and_earns_its_value(kuhn, player):
    plans = list(uniform_plans(kuhn))
    response = best_response(kuhn, player, plans[1 - player])
    assert set(response.strategy) == {0.0, 1.0}
    treeplex = kuhn.treeplexes[player]
    np.testing.assert_array_equal(treeplex.sum_per_infoset(response.strategy), 1)
    plans[player] = realization_plan(treeplex, response.strategy)
    value = expected_value(kuhn, (plans[0], plans[1]))
    assert (value if player == 0 else -value) == pytest.approx(response.value, abs=1e-15)


def test_a_player_bound_everywhere_earns_what_its_strategy_does(kuhn):
    treeplex, plans = kuhn.treeplexes[0], uniform_plans(kuhn)
    everywhere = np.ones(treeplex.num_infosets, np.bool_)
    fixed = FixedStrategy(everywhere, treeplex.uniform_strategy())
    response = best_response(kuhn, 0, plans[1], fixed=fixed)
    assert response.value == pytest.approx(1 / 8, abs=1e-15)
    np.testing.assert_array_equal(response.strategy, treeplex.uniform_strategy())
    np.testing.assert_array_equal(fixed.plan(treeplex), plans[0])


def test_a_player_bound_in_its_first_infosets_only(kuhn):
    treeplex, plans = kuhn.treeplexes[0], uniform_plans(kuhn)
    # Its first decisions hang from the empty sequence.
    first = treeplex.parent_sequence == 0
    fixed = FixedStrategy(first, treeplex.uniform_strategy())
    response = best_response(kuhn, 0, plans[1], fixed=fixed)
    assert 1 / 8 < response.value < 1 / 2
    below = treeplex.sequences_of(~first)
    assert set(response.strategy[below]) == {0.0, 1.0}
    plan = fixed.plan(treeplex)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(plan)), below)
    np.testing.assert_array_equal(plan[treeplex.sequences_of(first)], 0.5)


def test_ranges_and_constants_by_hand():
    """Rows earn 1 or 2 more by a constant; player 1 is paid 0.5 for its second column."""
    form = matrix_game([[3, -1], [0, 1]])
    constants = (np.array([0, 1.0, 2.0]), np.array([0, 0, 0.5]))
    form = SequenceForm(form.treeplexes, form.payoffs, form.utility_range, constants)
    opponent = np.array([1, 0.25, 0.75])
    # Rows: 3/4 - 3/4 + 1 = 1 and 3/4 + 2 = 2.75, less what player 1 gets for itself, 0.375.
    response = best_response(form, 0, opponent)
    assert response.value == pytest.approx(2.75 - 0.375, abs=1e-15)
    np.testing.assert_array_equal(response.strategy, [1, 0, 1])
    np.testing.assert_allclose(response.cfv, [2.75, 1, 2.75], atol=1e-15)
    found = evaluate(form, (np.array([1, 0.5, 0.5]), opponent))
    assert found.value == pytest.approx((1 + 2.75) / 2 - 0.375, abs=1e-15)
    assert found.best[0] == pytest.approx(response.value, abs=1e-15)
    # Columns: -1.5 and 0.5, plus 0.5 for the second, less what the rows get for themselves, 1.5.
    assert found.best[1] == pytest.approx(0.5 - 1.5, abs=1e-15)
    # With half the weight, half of it.
    half = best_response(form, 0, opponent, root_range=np.array([0.5]))
    assert half.value == pytest.approx(0.5 * 2.75 - 0.375, abs=1e-15)
    plan = realization_plan(form.treeplexes[0], response.strategy, np.array([0.5]))
    np.testing.assert_array_equal(plan, [0.5, 0, 0.5])
    assert expected_value(form, (plan, opponent)) == pytest.approx(half.value, abs=1e-15)
