"""The best equilibrium against published percentages, the known equilibria of Kuhn, and RNR."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score

from experiments.responses import best_nash
from spiel_dl import ArrayPolicy, GameTree, best_response_value, compile_game
from spiel_dl.algorithms import exploitability, rnr
from spiel_dl.policies import opponent_models
from tests import reference
from tests.solvers.matrix_games import matrix_game


def goofspiel(num_cards: int) -> str:
    parameters = f"num_cards={num_cards},points_order=descending,returns_type=point_difference"
    return f"goofspiel(imp_info=true,{parameters})"


@pytest.mark.parametrize(
    ("game", "percent"),
    [
        ("leduc_poker", 32.6),
        (goofspiel(4), 77.1),
        (goofspiel(5), 50.4),
        pytest.param(goofspiel(6), 45.9, marks=pytest.mark.slow),
    ],
    ids=["leduc", "goofspiel 4", "goofspiel 5", "goofspiel 6"],
)
def test_percent_of_the_best_responses_gain_is_that_of_the_paper(game: str, percent: float) -> None:
    """Milec et al. (2024), Table 1, column "best Nash": player 0 against the uniform policy."""
    tree = compile_game(game)
    model = ArrayPolicy.uniform(tree)
    response = best_nash.best_nash(tree, 0, model)
    # The opponent's best response tells the value from below, so no other program is needed.
    value = -best_response_value(tree, response, 1)
    gain = exploitability.expected_value(tree, response, model) - value
    most = best_response_value(tree, model, 0) - value
    assert 100 * gain / most == pytest.approx(percent, abs=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_kuhn_takes_the_best_of_all_known_equilibria(seed: int) -> None:
    """They are a segment, so the best one is one of its ends; judged by OpenSpiel."""
    game = pyspiel.load_game("kuhn_poker")
    model = reference.random_pyspiel_policy(game, seed)

    def earned(bluff: float) -> float:
        table = {key: row.copy() for key, row in model.policy_table().items()}
        bets = {"0": bluff, "1": 0.0, "2": 3 * bluff, "0pb": 0.0, "1pb": bluff + 1 / 3, "2pb": 1.0}
        table |= {key: [(0, 1 - bet), (1, bet)] for key, bet in bets.items()}
        policy = pyspiel.TabularPolicy(table)
        return expected_game_score.policy_value(game.new_initial_state(), [policy, policy])[0]

    response = best_nash.best_nash(game, 0, model)
    found = exploitability.expected_value(game, response, model)
    assert found == pytest.approx(max(earned(0.0), earned(1 / 3)), abs=1e-7)


@pytest.mark.parametrize("player", [0, 1])
def test_bounds_are_kept_and_gains_are_concave_up_to_the_best_response(player: int) -> None:
    tree = compile_game("kuhn_poker")
    model = opponent_models.random_policy(tree, 3)
    bounds = np.linspace(0.0, 1.0, 11)
    gains = []
    for bound in bounds:
        response = best_nash.safe_best_response(tree, player, model, exploitability=float(bound))
        lost = exploitability.player_exploitability(tree, response, player)
        assert lost <= bound + 1e-8
        gains.append(exploitability.gain(tree, response, model, player))
        np.testing.assert_array_equal(response.strategies[1 - player], model.strategies[1 - player])
    steps = np.diff(gains)
    assert (steps >= -1e-7).all()
    assert (np.diff(steps) <= 1e-7).all()
    most = best_response_value(tree, model, player) - exploitability.game_value(tree, player)
    assert gains[0] < most - 1e-3
    anything = best_nash.safe_best_response(tree, player, model, exploitability=10.0)
    assert exploitability.gain(tree, anything, model, player) == pytest.approx(most, abs=1e-9)


@pytest.mark.parametrize(("game", "player"), [("kuhn_poker", 1), ("leduc_poker", 0)])
def test_restricted_nash_responses_lie_on_this_frontier(game: str, player: int) -> None:
    """Johanson et al. (2008): no other strategy of their exploitability earns more."""
    tree = compile_game(game)
    model = ArrayPolicy.uniform(tree)
    restricted = rnr.RNRPolicy(tree, player, model, p=0.5, exact=True).to_array_policy()
    bound = exploitability.player_exploitability(tree, restricted, player)
    response = best_nash.safe_best_response(tree, player, model, exploitability=max(bound, 0.0))
    assert exploitability.gain(tree, response, model, player) == pytest.approx(
        exploitability.gain(tree, restricted, model, player), abs=1e-6
    )


def test_wrong_input_is_refused() -> None:
    tree = GameTree.from_game("kuhn_poker")
    model = ArrayPolicy.uniform(tree)
    with pytest.raises(ValueError, match="player=2 must be 0 or 1"):
        best_nash.best_nash(tree, 2, model)
    for bound in (-0.1, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"exploitability=.* must be a finite number >= 0"):
            best_nash.safe_best_response(tree, 0, model, exploitability=bound)


@pytest.mark.parametrize(("exploitability", "unit"), [(0.0, 1.0), (0.1, 1e-6), (0.6, 1e3)])
def test_matching_pennies_by_hand(exploitability: float, unit: float) -> None:
    """Row 0 with x earns 2x - 1 against column 0, and -|2x - 1| at least: x = (1 + e) / 2."""
    form = matrix_game([[unit, -unit], [-unit, unit]])
    plan = best_nash.best_safe_plan(form, np.array([1.0, 1.0, 0.0]), unit * exploitability)
    x = (1 + exploitability) / 2
    np.testing.assert_allclose(plan, [1, x, 1 - x], atol=1e-8)
