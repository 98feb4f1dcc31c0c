"""Factored phantom games beside their lists of histories, and beside numbers of other programs."""

from collections.abc import Callable

import numpy as np
import pyspiel
import pytest

from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.algorithms import exploitability
from spiel_dl.factored.families import factored_game
from spiel_dl.tree.factored_game import FactoredGame
from tests.factored.test_families import PHANTOM, WAITING
from tests.factored_checks import random_plan, random_strategy
from tests.reference import assert_same_policy, state_after


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, three = (factored_game(PHANTOM[1], num_threads=n) for n in (1, 3))
    for player in (0, 1):
        plan = random_plan(one, 1 - player, seed=3)
        np.testing.assert_array_equal(
            one.sequence_form.values_against(player, plan),
            three.sequence_form.values_against(player, plan),
        )


@pytest.mark.parametrize("name", [WAITING[0], pytest.param(WAITING[1], marks=pytest.mark.slow)])
def test_a_policy_of_our_rules_is_judged_as_by_the_list_of_histories(name: str) -> None:
    """There players who wait have infosets, too, with a single action each."""
    tree = GameTree.from_game(name)
    game = factored_game(name)
    assert game.num_infosets(0) < tree.num_infosets(0)
    for seed in (0, 1):
        drawn = ArrayPolicy(
            game, (random_strategy(game, 0, seed), random_strategy(game, 1, seed + 2))
        )
        listed = ArrayPolicy.from_policy(tree, drawn)
        assert exploitability.nash_conv(game, drawn) == pytest.approx(
            exploitability.nash_conv(tree, listed), abs=1e-12
        )
        again = ArrayPolicy.from_policy(game, listed)
        assert_same_policy(drawn, again)


def test_who_waits_has_no_infoset() -> None:
    game = factored_game(WAITING[0])
    policy = ArrayPolicy.uniform(game)
    state = state_after(game.game, (0, 1))
    assert policy.action_probabilities(state) == {4: 1.0}
    with pytest.raises(ValueError, match=r"player 1 waits in \S*\s"):
        game.find_infoset(state, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda game: game.legal_actions(0, game.num_infosets(0)), "infoset=17 must be from 0"),
        (lambda game: game.num_infosets(2), "player=2 must be 0 or 1"),
        (lambda game: game.find_infoset(game.game.new_initial_state(), 1), "player 1 does not mo"),
        (
            lambda game: game.find_infoset(pyspiel.load_game("dark_hex").new_initial_state(), 0),
            "the state is of dark_hex",
        ),
    ],
)
def test_questions_about_nothing_are_refused(
    call: Callable[[FactoredGame], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call(factored_game(PHANTOM[0]))
