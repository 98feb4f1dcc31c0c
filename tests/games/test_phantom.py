"""Abrupt and classical phantom games by our rules, which are OpenSpiel's but for waits."""

from __future__ import annotations

import collections
import random

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import boards
from spiel_dl.games.phantom import PhantomRules, dark_hex, phantom_ttt
from tests.games import enumeration, twins
from tests.games.openspiel_conformance import all_states
from tests.reference import state_after

_VERSIONS = {
    "abrupt": (
        "python_abrupt_",
        {"phantom_ttt": "gameversion=abrupt", "dark_hex": "gameversion=adh"},
    ),
    "classical": ("python_", {"phantom_ttt": "", "dark_hex": ""}),
}
"""The beginning of our games' names, and the parameters of OpenSpiel's games."""


@pytest.fixture(params=_VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return request.param


def _load(version: str, name: str, size: str = "") -> tuple[pyspiel.Game, pyspiel.Game]:
    """Our game and OpenSpiel's."""
    prefix, of_openspiel = _VERSIONS[version]
    twin = ",".join(filter(None, (size, of_openspiel[name])))
    return pyspiel.load_game(f"{prefix}{name}({size})"), pyspiel.load_game(f"{name}({twin})")


def _waits(state: pyspiel.State) -> bool:
    """Whether the player to move can only wait."""
    return state.legal_actions() == [state.get_game().rules.board.num_cells]


def _twin_state(state: pyspiel.State, twin: pyspiel.Game) -> pyspiel.State:
    found = twin.new_initial_state()
    for action in state.history():
        if action != state.get_game().rules.board.num_cells:
            found.apply_action(action)
    return found


def test_equals_the_twin_at_every_history(version: str) -> None:
    ours, twin = _load(version, "dark_hex", "num_rows=2,num_cols=2")
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
    assert version == "classical" or len(to_ours) == 94


@pytest.mark.parametrize(
    ("name", "size"), [("phantom_ttt", ""), ("dark_hex", ""), ("dark_hex", "num_rows=4,num_cols=2")]
)
def test_equals_the_twin_in_random_playthroughs(name: str, size: str, version: str) -> None:
    ours, twin = _load(version, name, size)
    assert ours.num_distinct_actions() == twin.num_distinct_actions() + (version == "classical")
    if version == "abrupt":
        assert ours.max_game_length() == twin.max_game_length()
    generator = random.Random(0)
    lengths = set()
    for _ in range(30):
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


def test_turns_are_as_long_as_all_their_tries_may_be() -> None:
    assert phantom_ttt().turn_lengths == [1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert dark_hex(2, 2).turn_lengths == [1, 2, 2, 3]
    game = pyspiel.load_game("python_phantom_ttt")
    state = state_after(game, (0, 0, 1, 2))
    # Player 1 failed at 0 and laid a stone on 1, two steps of two; player 0 laid 2, and waits.
    assert (state.current_player(), state.legal_actions()) == (0, [9])
    assert state.action_to_string(9) == "wait"
    state.apply_action(9)
    assert (state.current_player(), state.legal_actions()) == (1, [2, 3, 4, 5, 6, 7, 8])


def infosets_of_histories(rules: PhantomRules) -> dict[tuple, set[tuple[int, ...]]]:
    """The histories of both players' infosets in games that go on, by player and tensors."""
    found: dict[tuple, set[tuple[int, ...]]] = collections.defaultdict(set)
    for states, histories in enumeration.levels(rules):
        public = rules.public_tensor(states)
        for player in (0, 1):
            private = rules.private_tensor(states, player)
            for row in (~states.over).nonzero()[:, 0].tolist():
                key = (player, tuple(public[row].tolist()), tuple(private[row].tolist()))
                found[key].add(tuple(histories[row].tolist()))
    return found


def check_drawn(
    rules: PhantomRules, key: tuple, count: int, seed: int = 0
) -> tuple[list[tuple[int, ...]], float]:
    """Histories drawn of an infoset, all of it and different, and how many one stands for."""
    player, public, private = key[0], torch.tensor(key[1]), torch.tensor(key[2])
    drawn = rules.draw_histories(public, count, np.random.default_rng(seed), player, private)
    assert drawn is not None
    histories, copies = drawn
    assert torch.equal(
        rules.public_tensor(histories.states), public.expand(len(copies), len(public))
    )
    assert torch.equal(
        rules.private_tensor(histories.states, player), private.expand(len(copies), len(private))
    )
    found = [tuple(row) for row in histories.actions.tolist()]
    assert len(set(found)) == len(found)
    return found, float(copies[0])


def test_all_histories_of_an_infoset_are_drawn() -> None:
    rules = dark_hex(2, 2)
    for key, histories in infosets_of_histories(rules).items():
        found, copies = check_drawn(rules, key, 9999)
        assert (set(found), copies) == (histories, 1.0)


def test_histories_are_drawn_evenly() -> None:
    rules = dark_hex(2, 2)
    key, histories = max(infosets_of_histories(rules).items(), key=lambda each: len(each[1]))
    counts: collections.Counter = collections.Counter()
    for seed in range(100):
        found, copies = check_drawn(rules, key, 2, seed)
        assert copies == len(histories) / 2
        counts.update(found)
    assert counts.keys() == histories
    expected = 200 / len(histories)
    assert max(abs(n - expected) for n in counts.values()) < 5 * expected**0.5


@pytest.mark.parametrize("rules", [phantom_ttt(), dark_hex(3, 3)])
def test_drawn_histories_of_large_games_have_the_observations(rules: PhantomRules) -> None:
    generator = random.Random(0)
    for _ in range(2):
        *states, _ = enumeration.random_game(rules, generator)
        for state, _ in states:
            for player in (0, 1):
                key = (
                    player,
                    rules.public_tensor(state)[0].tolist(),
                    rules.private_tensor(state, player)[0].tolist(),
                )
                check_drawn(rules, key, 20)


@pytest.mark.parametrize(
    ("history", "failed"), [((), []), ((), [0]), ((0, 1, 4), [0]), ((0, 1, 4), [1, 2])]
)
def test_observations_of_no_history_are_refused(
    history: tuple[int, ...], failed: list[int]
) -> None:
    """Of a player 0 that has tried cells before it could, or failed where no stone can lie."""
    rules = dark_hex(2, 2)
    state = enumeration.play(rules, history)
    public, private = rules.public_tensor(state)[0], torch.zeros(20)
    private[:16].view(4, 4)[[0, 1], [0, 1]] = 1.0
    private[16:][failed] = 1.0
    with pytest.raises(ValueError, match="no history has these observations"):
        rules.draw_histories(public, 5, np.random.default_rng(0), 0, private)


def test_observations_of_different_positions_are_refused_unless_they_belong_together() -> None:
    rules = dark_hex(2, 2)
    infosets = infosets_of_histories(rules)
    for player in (0, 1):
        keys = [key for key in infosets if key[0] == player]
        for public in {key[1] for key in keys}:
            for private in {key[2] for key in keys}:
                key = (player, public, private)
                if key in infosets:
                    assert set(check_drawn(rules, key, 9999)[0]) == infosets[key]
                else:
                    with pytest.raises(ValueError, match="no history has these observations"):
                        check_drawn(rules, key, 9999)


def test_a_large_board_is_refused() -> None:
    with pytest.raises(ValueError, match="the board has 17 cells; use one of at most 16"):
        PhantomRules(boards.Board(17, boards.tic_tac_toe().wins), 17, is_abrupt=True)
