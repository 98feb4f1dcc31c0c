"""What abrupt and classical phantom games by our rules share with OpenSpiel's: all but waits."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import abrupt_phantom, classical_phantom
from spiel_dl.games.phantom import PhantomRules
from tests.games import conformance, twins
from tests.games.openspiel_conformance import all_states


class Version(NamedTuple):
    """One of the two versions of phantom games.

    Attributes:
      prefix: of our games' names.
      of_ttt: what OpenSpiel's phantom tic-tac-toe takes for it.
      of_dark_hex: what its dark hex takes for it.
      dark_hex: our rules of a board of so many rows and columns.
      num_more_actions: those that OpenSpiel does not have.
    """

    prefix: str
    of_ttt: str
    of_dark_hex: str
    dark_hex: Callable[[int, int], PhantomRules]
    num_more_actions: int

    def load(self, board: str) -> tuple[pyspiel.Game, pyspiel.Game]:
        """Our game, and OpenSpiel's; a board is "ttt" or rows and columns of dark hex."""
        if board == "ttt":
            ours, twin = "phantom_ttt", f"phantom_ttt({self.of_ttt})"
        else:
            rows, cols = board.split("x")
            size = f"num_rows={rows},num_cols={cols}"
            ours, twin = f"dark_hex({size})", f"dark_hex({size},{self.of_dark_hex})"
        twin = twin.replace(",)", ")")
        return pyspiel.load_game(self.prefix + ours), pyspiel.load_game(twin)


_VERSIONS = {
    "abrupt": Version(
        "python_abrupt_", "gameversion=abrupt", "gameversion=adh", abrupt_phantom.abrupt_dark_hex, 0
    ),
    "classical": Version("python_", "", "", classical_phantom.dark_hex, 1),
}


@pytest.fixture(params=_VERSIONS)
def version(request: pytest.FixtureRequest) -> Version:
    return _VERSIONS[request.param]


def _waits(state: pyspiel.State) -> bool:
    """Whether the player to move can only wait."""
    return state.legal_actions() == [state.get_game().rules.board.num_cells]


def _twin_state(state: pyspiel.State, twin: pyspiel.Game) -> pyspiel.State:
    found = twin.new_initial_state()
    for action in state.history():
        if action != state.get_game().rules.board.num_cells:
            found.apply_action(action)
    return found


def _infosets(pairs: Iterator[tuple[pyspiel.State, pyspiel.State]]) -> int:
    """How many infosets there are; ours and the twin's are the same."""
    to_twin: dict[tuple, tuple] = {}
    to_ours: dict[tuple, tuple] = {}
    for state, twin_state in pairs:
        player = state.current_player()
        if player >= 0:
            mine = (player, state.information_state_string(player))
            # The twin does not tell who waits whether the game is over, nor how many tries there
            # were.
            theirs = (player, *twin_state.information_state_tensor(player))
            assert to_twin.setdefault(mine, theirs) == theirs
            assert to_ours.setdefault(theirs, mine) == mine
    return len(to_ours)


def test_equals_the_twin_at_every_history(version: Version) -> None:
    ours, twin = version.load("2x2")
    states = [state for state in all_states(ours) if not _waits(state)]
    theirs = list(all_states(twin))
    pairs = [(state, _twin_state(state, twin)) for state in states]
    for pair in pairs:
        twins.assert_same_state(*pair)
    assert _infosets(iter(pairs)) == len(
        {
            (player, *state.information_state_tensor(player))
            for state in theirs
            if (player := state.current_player()) >= 0
        }
    )
    assert len(states) == len(theirs)


@pytest.mark.parametrize("board", ["ttt", "3x3", "4x2"])
def test_equals_the_twin_in_random_playthroughs(board: str, version: Version) -> None:
    ours, twin = version.load(board)
    assert ours.num_distinct_actions() == twin.num_distinct_actions() + version.num_more_actions
    if not version.num_more_actions:
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
            while _waits(state):
                state.apply_action(state.legal_actions()[0])
        twins.assert_same_state(state, twin_state)
        lengths.add(len(state.history()))
    assert len(lengths) > 3


def test_value_is_the_twins(version: Version) -> None:
    ours, twin = version.load("2x2")
    assert twins.game_value(ours) == pytest.approx(twins.game_value(twin), abs=1e-9)


def test_rules_keep_their_contract(version: Version) -> None:
    conformance.check_rules(version.dark_hex(2, 2))


@pytest.mark.slow
def test_rules_keep_their_contract_on_a_larger_board(version: Version) -> None:
    conformance.check_rules(version.dark_hex(3, 2), max_histories=3_000_000)


@pytest.mark.parametrize("board", ["ttt", "2x2"])
def test_openspiel_game_keeps_its_contract(board: str, version: Version) -> None:
    conformance.check_openspiel_game(version.load(board)[0], num_walks=3)
