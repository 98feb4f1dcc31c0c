"""Abrupt phantom games by our rules against OpenSpiel's."""

from __future__ import annotations

import random

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import boards
from spiel_dl.games.abrupt_phantom import AbruptPhantomRules, abrupt_dark_hex
from tests.games import conformance, twins
from tests.games.openspiel_conformance import all_states

_PAIRS = {
    "python_abrupt_phantom_ttt": "phantom_ttt(gameversion=abrupt)",
    "python_abrupt_dark_hex": "dark_hex(gameversion=adh)",
    "python_abrupt_dark_hex(num_rows=4,num_cols=2)": (
        "dark_hex(gameversion=adh,num_rows=4,num_cols=2)"
    ),
}
_SMALL = "python_abrupt_dark_hex(num_rows=2,num_cols=2)"
_SMALL_TWIN = "dark_hex(gameversion=adh,num_rows=2,num_cols=2)"


def test_equals_the_twin_at_every_history() -> None:
    ours, twin = pyspiel.load_game(_SMALL), pyspiel.load_game(_SMALL_TWIN)
    to_twin: dict[tuple, tuple] = {}
    to_ours: dict[tuple, tuple] = {}
    for state in all_states(ours):
        twin_state = twin.new_initial_state()
        for action in state.history():
            twin_state.apply_action(action)
        twins.assert_same_state(state, twin_state)
        # The twin does not tell who waits whether the game is over, nor how many tries there were.
        player = state.current_player()
        if player >= 0:
            mine = (player, state.information_state_string(player))
            theirs = (player, *twin_state.information_state_tensor(player))
            assert to_twin.setdefault(mine, theirs) == theirs
            assert to_ours.setdefault(theirs, mine) == mine
    assert len(to_ours) == 94


@pytest.mark.parametrize("name", _PAIRS)
def test_equals_the_twin_in_random_playthroughs(name: str) -> None:
    ours, twin = pyspiel.load_game(name), pyspiel.load_game(_PAIRS[name])
    assert ours.num_distinct_actions() == twin.num_distinct_actions()
    assert ours.max_game_length() == twin.max_game_length()
    generator = random.Random(0)
    lengths = set()
    for _ in range(60):
        state, twin_state = ours.new_initial_state(), twin.new_initial_state()
        while not state.is_terminal():
            twins.assert_same_state(state, twin_state)
            action = generator.choice(state.legal_actions())
            state.apply_action(action)
            twin_state.apply_action(action)
        twins.assert_same_state(state, twin_state)
        lengths.add(len(state.history()))
    assert len(lengths) > 3


def test_value_is_the_twins() -> None:
    ours, twin = pyspiel.load_game(_SMALL), pyspiel.load_game(_SMALL_TWIN)
    assert twins.game_value(ours) == pytest.approx(twins.game_value(twin), abs=1e-9)


def test_rules_keep_their_contract() -> None:
    conformance.check_rules(abrupt_dark_hex(2, 2))


@pytest.mark.slow
def test_rules_keep_their_contract_on_a_larger_board() -> None:
    conformance.check_rules(abrupt_dark_hex(3, 2), max_histories=3_000_000)


@pytest.mark.parametrize("name", ["python_abrupt_phantom_ttt", _SMALL])
def test_openspiel_game_keeps_its_contract(name: str) -> None:
    conformance.check_openspiel_game(pyspiel.load_game(name), num_walks=3)


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
