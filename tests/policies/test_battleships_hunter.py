"""The scripted player of Battleships shoots where it says."""

from __future__ import annotations

import pickle

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import load_policy, play_match
from spiel_dl.policies.battleships_hunter import HunterPolicy
from tests.reference import decisions, state_after

FIVE = "python_battleships(board_width=5,board_height=5,ship_sizes=[3;2;2])"


def _shot_at(game_string: str, moves: list[tuple[int, int]]) -> dict[int, float]:
    """Player 0's next action, shots only, after pairs of its move and the other player's."""
    game = pyspiel.load_game(game_string)
    state = state_after(game, [action for pair in moves for action in pair])
    answer = HunterPolicy(game).action_probabilities(state)
    assert list(answer) == state.legal_actions()
    return {action: p for action, p in answer.items() if p > 0}


def test_ships_are_placed_at_random() -> None:
    answer = _shot_at("python_battleships(board_width=3,board_height=1,ship_sizes=[2])", [])
    assert answer == {3: 0.5, 4: 0.5}


def test_before_a_hit_it_shoots_where_most_ships_may_lie() -> None:
    # A ship of 2 on 3x3 tiles covers the centre in 4 of 12 ways, an edge in 3, a corner in 2.
    game = "python_battleships(board_width=3,board_height=3,ship_sizes=[2])"
    place = (9, 9)
    assert _shot_at(game, [place]) == {4: 1.0}
    # After a miss in the centre all others are alike; after one in a corner those next to it lose.
    assert _shot_at(game, [place, (4, 8)]) == pytest.approx({t: 1 / 8 for t in range(9) if t != 4})
    expected = pytest.approx(dict.fromkeys((0, 3, 6, 7, 8), 0.2))
    assert _shot_at(game, [place, (4, 8), (2, 7)]) == expected


def test_after_a_hit_it_shoots_next_to_it_and_along_the_line() -> None:
    game = "python_battleships(board_width=4,board_height=4,ship_sizes=[3])"
    # The other's ship lies on 5, 6 and 7. A hit at 6 leaves 2 placements upright and 2 along.
    place = (16, 16 + 5)
    assert _shot_at(game, [place, (6, 15)]) == {5: 0.5, 10: 0.5}
    # A second one next to it makes it lie along the row: on 4, or on 7.
    assert _shot_at(game, [place, (6, 15), (5, 14)]) == {4: 0.5, 7: 0.5}


def test_what_is_sunk_is_done_with() -> None:
    # Ships of 3 and 2 in a row of 6: one of 2 is sunk on 0 and 1, so that 3 are left on 2 to 5.
    game = "python_battleships(board_width=6,board_height=1,ship_sizes=[3;2])"
    places = [(6 + 0, 6 + 2), (6 + 3, 6 + 0)]
    assert _shot_at(game, [*places, (0, 5), (1, 4)]) == {3: 0.5, 4: 0.5}
    # If both hits may be of either ship, they stay open: a 3 sunk on 3 to 5, or a 2 on 4 and 5.
    places = [(6 + 0, 6 + 3), (6 + 3, 6 + 0)]
    assert _shot_at(game, [*places, (3, 5), (4, 4), (5, 3)]) == {2: 1.0}


@pytest.mark.parametrize("game_string", [FIVE, FIVE[:-1] + ",allow_repeated_shots=true)"])
def test_it_answers_everywhere_and_many_states_as_one(game_string: str) -> None:
    game = pyspiel.load_game(game_string)
    policy = pickle.loads(pickle.dumps(HunterPolicy(game)))
    states = decisions(game, 6, seed=0)
    answers = policy.probabilities_of(states)
    for state, answer in zip(states[::3], answers[::3], strict=True):
        assert sum(answer.values()) == pytest.approx(1)
        assert policy.action_probabilities(state) == answer


def test_it_beats_uniform_play() -> None:
    hunter, uniform = load_policy("hunter", FIVE), load_policy("uniform", FIVE)
    result = play_match(hunter, uniform)
    assert result.mean_return > 0.93


def test_other_games_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kuhn_poker.* is not Battleships"):
        load_policy("hunter", "kuhn_poker")
    policy = HunterPolicy(pyspiel.load_game(FIVE))
    state = pyspiel.load_game("python_battleships").new_initial_state()
    with pytest.raises(ValueError, match="ask in states of that game"):
        policy.action_probabilities(state)
