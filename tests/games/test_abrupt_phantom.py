"""Abrupt phantom games by our rules, apart from what both versions share."""

from __future__ import annotations

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import boards
from spiel_dl.games.abrupt_phantom import AbruptPhantomRules


def test_strings_for_people() -> None:
    state = pyspiel.load_game("python_abrupt_phantom_ttt").new_initial_state()
    for action in (4, 4, 0, 1, 1):
        state.apply_action(action)
    assert state.action_to_string(5) == "(1, 2)"
    assert str(state).splitlines() == [
        "xo.",
        ".x.",
        "...",
        "P0 failed at: (0, 1)",
        "P1 failed at: (1, 1)",
    ]
    assert state.information_state_string(1) == (
        "player=1; tries=0+1+2+3+4; game_over=; own_tries=4 1; failed=4"
    )
    assert state.observation_string(1) == (
        "player=1; current_player=1; game_over=; cells=0 1 0 0 2 0 0 0 0"
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("num_rows=1", "num_rows=1 and num_cols=3 are out of range; use 2 or more of each"),
        ("num_cols=6", "num_rows=3 and num_cols=6 are out of range; use .* at most 16 cells"),
    ],
)
def test_bad_parameters_are_refused(parameters: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(f"python_abrupt_dark_hex({parameters})")


def test_a_large_board_is_refused() -> None:
    with pytest.raises(ValueError, match="the board has 17 cells; use one of at most 16"):
        AbruptPhantomRules(boards.Board(17, boards.tic_tac_toe().wins), 17)
