"""Strings that identify infosets, by what a game tells."""

import pyspiel
import pytest

from spiel_dl.tree.information_states import (
    information_string_function,
    turn_based_string_function,
)
from tests import tiny_games


def after(game: pyspiel.Game, actions: list[int]) -> pyspiel.State:
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def test_the_games_own_strings_are_used() -> None:
    game = pyspiel.load_game("kuhn_poker")
    state = after(game, [2, 0, 1])
    string = information_string_function(game)
    assert string(state, 0) == state.information_state_string(0) == "2b"
    assert string(state, 1) == "0b"


def test_games_of_perfect_information_are_told_by_their_histories() -> None:
    game = pyspiel.load_game("breakthrough(rows=3,columns=2)")
    assert not game.get_type().provides_information_state_string
    string = information_string_function(game)
    legal = game.new_initial_state().legal_actions()
    first, second = (after(game, [action]) for action in legal[:2])
    assert string(first, 0) == string(first, 1) == first.history_str()
    assert string(first, 0) != string(second, 0)


def test_observations_are_joined_with_own_actions() -> None:
    game = tiny_games.HiddenMoves(tells="observation")
    string = information_string_function(game)
    state = after(game, [1, 0])
    assert string(state, 0) == "move 0\naction 1\nmove 1\nmove 2"
    assert string(state, 1) == "move 0\nmove 1\naction 0\nmove 2"


def test_a_game_that_tells_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="neither information_state_string nor observation_string"):
        information_string_function(tiny_games.HiddenMoves(tells="nothing"))


def test_states_before_joint_moves_are_told_as_after_conversion() -> None:
    original = pyspiel.load_game("goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    converted = pyspiel.convert_to_turn_based(original)
    string = turn_based_string_function(converted)
    simultaneous, turns = original.new_initial_state(), converted.new_initial_state()
    assert string(simultaneous, 0) == string(turns, 0)
    assert string(simultaneous, 1) == string(turns.child(2), 1)
    assert string(simultaneous, 0) != string(simultaneous, 1)
