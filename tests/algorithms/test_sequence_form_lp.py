"""Exact equilibria against values solved elsewhere, OpenSpiel's NashConv, and by hand."""

from __future__ import annotations

import pyspiel
import pytest

from spiel_dl.algorithms import exploitability, sequence_form_lp
from spiel_dl.tree import GameTree
from tests import reference

EFG_VALUES = {
    # Heads with 2/3 gives -4/3 against h1 and against h2, and more against t1 and t2.
    "fig2_biased_matching_pennies": -4 / 3,
    # Q always gives 0, and whatever plays P can be made to pay.
    "fig3_coin_game": 0.0,
    "fig3_resolving_gadget": 0.0,
    "fig3_max_margin_gadget": 0.0,
    # Player 1 twists to y, so the guess is plain matching pennies for 1 and 0.
    "fig10_pennies_with_a_twist": 1 / 2,
    # Player 1 may stay out.
    "slack_twice": 0.0,
}


@pytest.mark.parametrize("key", reference.KEYS)
def test_values_and_policies_are_exact(key: str) -> None:
    expected = reference.VALUES[key]
    tree = GameTree.from_game(expected["game"])
    value_0, value_1, policy_0, policy_1 = sequence_form_lp.solve_zero_sum_game(tree)
    assert value_0 == pytest.approx(expected["value0"], abs=1e-9)
    assert value_1 == -value_0
    assert policy_0 is policy_1
    assert 2 * abs(exploitability.exploitability(tree, policy_0)) < 1e-9
    assert exploitability.expected_value(tree, policy_0) == pytest.approx(value_0, abs=1e-9)


@pytest.mark.parametrize("name", ["kuhn_poker", "matrix_rps", "dark_hex(board_size=2)"])
def test_policies_pass_openspiels_judgement(name: str) -> None:
    game = reference.turn_based(pyspiel.load_game(name))
    _, _, policy, _ = sequence_form_lp.solve_zero_sum_game(name)
    assert pyspiel.nash_conv(game, policy.to_pyspiel()) == pytest.approx(0.0, abs=1e-9)


def test_player_0_of_kuhn_plays_the_known_family() -> None:
    """Some a <= 1/3: bets the jack with a and the king with 3a, calls with the queen at a + 1/3."""
    value, _, policy, _ = sequence_form_lp.solve_zero_sum_game("kuhn_poker")
    assert value == pytest.approx(-1 / 18, abs=1e-12)
    probability = {
        policy.tree.infoset_string(player, infoset): policy.strategies[player][
            policy.tree.treeplexes[player].sequences(infoset)
        ][1]
        for player in (0, 1)
        for infoset in range(6)
    }
    bluff = probability["0"]
    assert 0 <= bluff <= 1 / 3 + 1e-12
    assert probability["1"] == pytest.approx(0.0, abs=1e-12)
    assert probability["2"] == pytest.approx(3 * bluff, abs=1e-12)
    assert probability["1pb"] == pytest.approx(bluff + 1 / 3, abs=1e-12)
    # Player 1's equilibrium is unique: bluff with a third, call with the queen with a third.
    expected = {"0p": 1 / 3, "0b": 0, "1p": 0, "1b": 1 / 3, "2p": 1, "2b": 1}
    assert {key: probability[key] for key in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", EFG_VALUES)
def test_values_of_the_papers_small_games(name: str) -> None:
    value_0, _, policy, _ = sequence_form_lp.solve_zero_sum_game(reference.efg_game(name))
    assert value_0 == pytest.approx(EFG_VALUES[name], abs=1e-12)
    assert abs(exploitability.exploitability(policy.tree, policy)) < 1e-12


def test_a_matrix_game_of_one_column_is_solved() -> None:
    game = pyspiel.create_matrix_game([[1.0], [3.0], [2.0]], [[-1.0], [-3.0], [-2.0]])
    value_0, value_1, policy, _ = sequence_form_lp.solve_zero_sum_game(game)
    assert (value_0, value_1) == (3.0, -3.0)
    assert policy.strategies[0].tolist() == [1.0, 0.0, 1.0, 0.0]
