"""Strings that identify infosets, by what a game tells."""

import pyspiel

from spiel_dl.tree.information_states import (
    information_string_function,
)
from tests import tiny_games


def after(game: pyspiel.Game, actions: list[int]) -> pyspiel.State:
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


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
