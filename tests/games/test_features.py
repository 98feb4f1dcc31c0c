"""What networks see of games with and without rules of this package."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl.games.features import features, num_features
from tests.games.openspiel_conformance import possible_actions


def _random_states(game: pyspiel.Game, num_games: int) -> list[pyspiel.State]:
    generator = np.random.default_rng(0)
    states = []
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            states.append(state.clone())
            state.apply_action(int(generator.choice(possible_actions(state))))
        states.append(state)
    return states


@pytest.mark.parametrize("name", ["leduc_poker", "kuhn_poker", "phantom_ttt"])
def test_other_games_are_seen_by_both_their_tensors(name: str) -> None:
    game = pyspiel.load_game(name)
    length = game.observation_tensor_size()
    assert num_features(game) == length + game.information_state_tensor_size()
    for state in _random_states(game, 5):
        for player in (0, 1):
            seen = features(state, player)
            assert seen.dtype == np.float32
            assert seen[:length].tolist() == state.observation_tensor(player)
            assert seen[length:].tolist() == state.information_state_tensor(player)


@pytest.mark.parametrize("name", ["goofspiel(imp_info=True,num_cards=3)", "oshi_zumo(coins=4)"])
def test_simultaneous_games_are_seen_converted(name: str) -> None:
    game = pyspiel.convert_to_turn_based(pyspiel.load_game(name))
    kind = game.get_type()
    for state in _random_states(game, 3):
        for player in (0, 1):
            seen = features(state, player)
            assert len(seen) == num_features(game)
            expected = state.observation_tensor(player)
            if kind.provides_information_state_tensor:
                expected = expected + state.information_state_tensor(player)
            assert seen.tolist() == expected


@pytest.mark.parametrize("name", ["tic_tac_toe", "battleship"])
def test_a_game_with_one_tensor_is_seen_by_it(name: str) -> None:
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    observed = game.get_type().provides_observation_tensor
    ask = state.observation_tensor if observed else state.information_state_tensor
    assert features(state, 1).tolist() == ask(1)
    assert num_features(game) == len(ask(1))


def test_games_of_this_package_are_seen_by_their_rules() -> None:
    game = pyspiel.load_game("python_leduc")
    assert num_features(game) == game.rules.num_features
    for state in _random_states(game, 3):
        for player in (0, 1):
            seen = features(state, player)
            assert seen.tolist() == game.rules.features(state.batch, player)[0].tolist()


def test_what_has_no_tensors_is_refused() -> None:
    game = pyspiel.load_game("coordinated_mp")
    with pytest.raises(ValueError, match=r"coordinated_mp\(\) has neither an observation"):
        num_features(game)
    with pytest.raises(ValueError, match=r"has neither an observation tensor nor"):
        features(game.new_initial_state(), 0)
    with pytest.raises(ValueError, match="player=2 cannot look; use 0 to 1"):
        features(pyspiel.load_game("kuhn_poker").new_initial_state(), 2)
