"""Matches whose outcome is known."""

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.algorithms.matches import HighestActionPolicy, play_match


def test_the_highest_card_against_itself_always_draws():
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
    greedy = HighestActionPolicy(game, [0, 1])
    result = play_match(game, greedy, greedy, 4)
    assert result[:3] == (4, 0.0, 0.0)
    assert 0 < result.seconds_per_move <= result.slowest_move


def test_the_interval_holds_the_expected_return():
    """Kuhn poker: always betting against uniform play, half of the games in each seat."""
    game = pyspiel.load_game("kuhn_poker")
    bets, uniform = HighestActionPolicy(game, [0, 1]), openspiel_policy.UniformRandomPolicy(game)
    expected = 0.0
    for order, sign in (((bets, uniform), 1), ((uniform, bets), -1)):
        value = expected_value(game, order)
        expected += sign * value / 2
    result = play_match(game, bets, uniform, 2000, seed=3)
    assert result.mean_return == pytest.approx(expected, abs=1.5 * result.half_width)
    assert 0.02 < result.half_width < 0.1


def expected_value(game, policies):
    """Player 0's, by walking the game."""

    def value(state):
        if state.is_terminal():
            return state.returns()[0]
        if state.is_chance_node():
            choices = state.chance_outcomes()
        else:
            choices = policies[state.current_player()].action_probabilities(state).items()
        return sum(p * value(state.child(action)) for action, p in choices)

    return value(game.new_initial_state())


def test_too_few_games():
    game = pyspiel.load_game("kuhn_poker")
    uniform = openspiel_policy.UniformRandomPolicy(game)
    with pytest.raises(ValueError, match="num_games=1"):
        play_match(game, uniform, uniform, 1)
