"""CDBR: Table 1 of its paper, its definition step by step as linear programs, and play."""

from __future__ import annotations

import itertools

import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, ExactValue, GameTree
from spiel_dl.algorithms import best_response, exploitability
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.tree.pieces import SCHEMES
from tests import reference
from tests.algorithms import response_checks as checks
from tests.reference import state_after


def percent_of_best_response(tree: GameTree, plies: int, **settings: object) -> float:
    """Against the uniform policy, of player 0."""
    model = ArrayPolicy.uniform(tree)
    response = CDBRPolicy(tree, 0, model, DepthLimit(plies=plies), **settings).to_array_policy()  # type: ignore[arg-type]
    value = exploitability.game_value(tree, 0)
    best = best_response.best_response_value(tree, model, 0)
    return 100 * (exploitability.expected_value(tree, response, model) - value) / (best - value)


@pytest.mark.parametrize(
    ("game", "percents"),
    [
        ("leduc_poker", (74.4, 96.0, 97.1)),
        (checks.GOOFSPIEL.format(4), (98.5, 100.0, 100.0)),
        (checks.GOOFSPIEL.format(5), (93.5, 100.0, 100.0)),
    ],
)
def test_table_1_of_the_paper(game, percents):
    """CDBR 1, 3 and 5 in percent of what a best response gains against the uniform policy."""
    tree = GameTree.from_game(game)
    for plies, percent in zip((2, 4, 6), percents, strict=True):
        found = percent_of_best_response(tree, plies, exact=True)
        assert found == pytest.approx(percent, abs=0.06)
        if game == "leduc_poker":
            by_cfr = percent_of_best_response(tree, plies, effort=Effort(1000, 1e-4))
            assert by_cfr == pytest.approx(percent, abs=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("moves", "value"), [(1, 2.0), (2, 2 / 3), (3, 10 / 3), (10**6, 10 / 3)])
def test_looking_further_may_earn_less(moves, value, exact, scheme):
    """Two moves see that tails lead to a decision, in which a rational opponent pays 1.

    Heads then earn 2/3, tails 1/3; but the model pays 10: tails earn 10/3. One move lets both
    players guess anew: uniform, which earns (2/3 + 10/3) / 2.
    """
    tree = GameTree.from_game(reference.efg_game("fig10_pennies_with_a_twist"))
    model = checks.named_model(tree, {"h": 2 / 3, "t": 1 / 3, "x": 1.0, "y": 0.0})
    response = CDBRPolicy(tree, 0, model, DepthLimit(moves=moves), scheme=scheme, exact=exact)
    found = exploitability.expected_value(tree, response.to_array_policy(), model)
    assert found == pytest.approx(value, abs=1e-9 if exact else 1e-4)


@pytest.mark.parametrize("game", checks.GAMES)
def test_every_step_is_optimal_and_nothing_is_lost(game):
    tree = checks.load(game)
    model = checks.random_model(tree, seed=0)
    cases = [(player, scheme, 2) for player in (0, 1) for scheme in SCHEMES]
    if tree.num_histories < 1000:
        cases += [
            (player, scheme, k) for player, scheme, k in itertools.product((0, 1), SCHEMES, (1, 3))
        ]
    for player, scheme, plies in cases:
        limit = DepthLimit(plies=plies)
        response = CDBRPolicy(
            tree, player, model, limit, scheme=scheme, exact=True
        ).to_array_policy()
        regret = checks.largest_step_regret(tree, response, model, player, 1.0, limit, scheme)
        assert regret < 1e-6
        assert exploitability.gain(tree, response, model, player) > -1e-9


@pytest.mark.parametrize("game", ["kuhn_poker", checks.LIARS_DICE, checks.GOOFSPIEL.format(4)])
def test_the_gap_of_cfr_is_certified(game):
    """Each step's regret, by linear programs, is at most the sum of all gaps."""
    tree = GameTree.from_game(game)
    model, limit = checks.random_model(tree, seed=1), DepthLimit(plies=2)
    for player, iterations in ((0, 20), (1, 300)):
        policy = CDBRPolicy(tree, player, model, limit, effort=Effort(iterations, 1e-5))
        response = policy.to_array_policy()
        regret = checks.largest_step_regret(tree, response, model, player, 1.0, limit, "sliding")
        assert -1e-9 < regret < policy.gap + 1e-9
        assert policy.gap < 0.3


@pytest.mark.parametrize("game", ["kuhn_poker", checks.GOOFSPIEL_3])
def test_value_function_at_the_leaves(game):
    """The optimal value function from outside, queried at the leaves, gives the same response."""
    tree = GameTree.from_game(game)
    model, limit = checks.random_model(tree, seed=2), DepthLimit(moves=2)
    for player, scheme in itertools.product((0, 1), SCHEMES):
        function = ExactValue(tolerance=1e-4, max_iterations=2000)
        response = CDBRPolicy(
            tree,
            player,
            model,
            limit,
            scheme=scheme,
            value_function=function,
            effort=Effort(iterations=100),
        ).to_array_policy()
        regret = checks.largest_step_regret(tree, response, model, player, 1.0, limit, scheme)
        assert regret < 0.02
        assert exploitability.gain(tree, response, model, player) > -0.02


def test_a_response_is_a_policy_of_both_players():
    tree = GameTree.from_game("kuhn_poker")
    model = checks.random_model(tree, seed=0)
    response = CDBRPolicy(tree, 0, model, DepthLimit(moves=1))
    state = state_after(tree.game, (0, 1, 1))
    assert response.action_probabilities(state) == model.action_probabilities(state)
    best = CDBRPolicy(tree, 0, model, DepthLimit(moves=3)).to_array_policy()
    value = exploitability.expected_value(tree, best)
    assert value == pytest.approx(best_response.best_response_value(tree, model, 0), abs=1e-12)


@pytest.mark.slow
def test_goofspiel_6_of_table_1():
    tree = GameTree.from_game(checks.GOOFSPIEL.format(6))
    model = ArrayPolicy.uniform(tree)
    for plies, percent, iterations in ((2, 90.7, 5000), (4, 100.0, 1000), (6, 100.0, 500)):
        effort = Effort(iterations, 1e-3)
        response = CDBRPolicy(tree, 0, model, DepthLimit(plies=plies), effort=effort)
        # The game is symmetric; a best response gains 35/12.
        value = exploitability.expected_value(tree, response.to_array_policy(), model)
        assert 100 * value * 12 / 35 == pytest.approx(percent, abs=0.1)
