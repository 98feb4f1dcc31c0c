"""What abrupt and classical phantom games by our rules share with OpenSpiel's: all but waits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import abrupt_phantom, classical_phantom
from spiel_dl.games.phantom import PhantomRules
from tests.games import conformance, twins
from tests.games.openspiel_conformance import all_states

_BOARDS = {
    "ttt": ("phantom_ttt", ()),
    "hex": ("dark_hex", ()),
    "hex 2x2": ("dark_hex", ("num_rows=2", "num_cols=2")),
    "hex 4x2": ("dark_hex", ("num_rows=4", "num_cols=2")),
}
"""Games and their parameters, by what they are played on."""


class Version(NamedTuple):
    """One of the two versions of phantom games.

    Attributes:
      prefix: of our games' names.
      of_openspiel: the parameters that OpenSpiel's games take for it, by their names.
      dark_hex: our rules of a board of so many rows and columns.
      num_more_actions: those that OpenSpiel does not have.
      num_infosets: of dark hex on 2x2 cells, if it is known from elsewhere.
    """

    prefix: str
    of_openspiel: dict[str, tuple[str, ...]]
    dark_hex: Callable[[int, int], PhantomRules]
    num_more_actions: int
    num_infosets: int | None = None

    def load(self, board: str) -> tuple[pyspiel.Game, pyspiel.Game]:
        """Our game on one of `_BOARDS`, and OpenSpiel's."""
        name, size = _BOARDS[board]
        ours = f"{self.prefix}{name}({','.join(size)})"
        twin = f"{name}({','.join((*size, *self.of_openspiel[name]))})"
        return pyspiel.load_game(ours), pyspiel.load_game(twin)


_VERSIONS = {
    "abrupt": Version(
        "python_abrupt_",
        {"phantom_ttt": ("gameversion=abrupt",), "dark_hex": ("gameversion=adh",)},
        abrupt_phantom.abrupt_dark_hex,
        num_more_actions=0,
        num_infosets=94,
    ),
    "classical": Version(
        "python_",
        {"phantom_ttt": (), "dark_hex": ()},
        classical_phantom.dark_hex,
        num_more_actions=1,
    ),
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


def test_equals_the_twin_at_every_history(version: Version) -> None:
    ours, twin = version.load("hex 2x2")
    to_twin: dict[tuple, tuple] = {}
    to_ours: dict[tuple, tuple] = {}
    num_states = num_terminals = 0
    for state in all_states(ours):
        if _waits(state):
            continue
        twin_state = _twin_state(state, twin)
        twins.assert_same_state(state, twin_state)
        num_states += 1
        num_terminals += state.is_terminal()
        # The twin does not tell who waits whether the game is over, nor how many tries there were.
        player = state.current_player()
        if player >= 0:
            mine = (player, state.information_state_string(player))
            theirs = (player, *twin_state.information_state_tensor(player))
            assert to_twin.setdefault(mine, theirs) == theirs
            assert to_ours.setdefault(theirs, mine) == mine
    twin_states = list(all_states(twin))
    assert num_states == len(twin_states)
    assert num_terminals == sum(state.is_terminal() for state in twin_states)
    infosets = {
        (player, *state.information_state_tensor(player))
        for state in twin_states
        if (player := state.current_player()) >= 0
    }
    assert to_ours.keys() == infosets
    assert version.num_infosets in (None, len(to_ours))


@pytest.mark.parametrize("board", ["ttt", "hex", "hex 4x2"])
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
    ours, twin = version.load("hex 2x2")
    assert twins.game_value(ours) == pytest.approx(twins.game_value(twin), abs=1e-9)


def test_rules_keep_their_contract(version: Version) -> None:
    conformance.check_rules(version.dark_hex(2, 2))


@pytest.mark.slow
def test_rules_keep_their_contract_on_a_larger_board(version: Version) -> None:
    conformance.check_rules(version.dark_hex(3, 2), max_histories=3_000_000)


@pytest.mark.parametrize("board", ["ttt", "hex 2x2"])
def test_openspiel_game_keeps_its_contract(board: str, version: Version) -> None:
    conformance.check_openspiel_game(version.load(board)[0], num_walks=3)
