"""`dl.solve`: what it reaches, that it says so, and when it stops."""

import time

import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability as openspiel_exploitability

import spiel_dl as dl
from spiel_dl.algorithms import solve as solve_module
from spiel_dl.factored.families import factored_game
from tests import tiny_games


def test_leduc_is_solved_to_1e_9_as_openspiel_judges_it():
    policy = dl.solve("leduc_poker", seconds=300, exploitability=1e-9)
    assert policy.exploitability <= 1e-9
    assert 10_000 < policy.iterations < 150_000
    found = openspiel_exploitability.exploitability(policy.tree.game, policy)
    assert found == pytest.approx(policy.exploitability, abs=1e-12)
    value = dl.solve_lp("leduc_poker")[0]
    assert dl.expected_value("leduc_poker", policy) == pytest.approx(value, abs=1e-8)


def test_the_best_policy_that_was_seen_is_returned(monkeypatch):
    values = {"average": [3.0, 2.0, 5.0], "current": [4.0, 1.0, 0.5]}
    iterates = []

    def pretended(_tree, _policy):
        which = ("average", "current")[len(iterates) % 2]
        iterates.append(which)
        return values[which][(len(iterates) - 1) // 2]

    monkeypatch.setattr(solve_module, "exploitability_of", pretended)
    policy = dl.solve("kuhn_poker", exploitability=1.0)
    assert (policy.exploitability, policy.iterate) == (1.0, "current")
    assert policy.iterations == 8 + solve_module._MIN_STRETCH
    assert len(iterates) == 4


def test_it_stops_after_its_time_and_does_the_fewest_iterations():
    tree = dl.compile_game("liars_dice(numdice=1,dice_sides=4)")
    dl.solve(tree, seconds=0.1)
    start = time.perf_counter()
    policy = dl.solve(tree, seconds=1e-6, exploitability=0.0)
    assert policy.iterations == 8
    assert 0 < policy.seconds <= time.perf_counter() - start
    longer = dl.solve(tree, seconds=0.3, exploitability=0.0)
    assert longer.iterations > 10
    assert longer.exploitability < policy.exploitability


def test_tiny_utilities_are_solved_to_their_share_of_the_default():
    """Matching pennies of the stakes 1e-9 and 2e-9: at 1e-9, uniform play was as good as any."""
    text = (
        tiny_games.ROOT
        + """p "" 1 1 "first" { "L" "R" } 0
p "" 2 1 "second" { "l" "r" } 0
t "" 1 "" { 2e-9, -2e-9 }
t "" 2 "" { -1e-9, 1e-9 }
p "" 2 1 "second" { "l" "r" } 0
t "" 3 "" { -1e-9, 1e-9 }
t "" 4 "" { 1e-9, -1e-9 }
"""
    )
    policy = dl.solve(pyspiel.load_efg_game(text), seconds=60)
    assert policy.exploitability <= 1e-9 * 3e-9
    first = policy.strategies[0][1]
    assert first == pytest.approx(2 / 5, abs=1e-6)


def test_a_variant_may_be_chosen():
    policy = dl.solve("kuhn_poker", variant="dcfr", exploitability=1e-3)
    assert policy.variant == "dcfr"
    assert policy.exploitability <= 1e-3
    assert dl.exploitability("kuhn_poker", policy) == pytest.approx(policy.exploitability)


def test_factored_games_are_solved():
    game = "dark_hex(board_size=2)"
    policy = dl.solve(factored_game(game), exploitability=1e-6)
    assert policy.exploitability <= 1e-6
    found = openspiel_exploitability.exploitability(policy.tree.game, policy)
    assert found == pytest.approx(policy.exploitability, abs=1e-9)
    assert dl.expected_value(game, policy) == pytest.approx(dl.solve_lp(game)[0], abs=1e-5)
