"""Classical phantom games by our rules against OpenSpiel's: the same but for waits."""

from __future__ import annotations

import collections
import random

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.classical_phantom import ClassicalPhantomRules, dark_hex, phantom_ttt
from tests.games import conformance, twins
from tests.games.openspiel_conformance import all_states

_PAIRS = {
    "python_phantom_ttt": "phantom_ttt",
    "python_dark_hex": "dark_hex",
    "python_dark_hex(num_rows=4,num_cols=2)": "dark_hex(num_rows=4,num_cols=2)",
}
_SMALL = "python_dark_hex(num_rows=2,num_cols=2)"
_SMALL_TWIN = "dark_hex(num_rows=2,num_cols=2)"


def waits(state: pyspiel.State) -> bool:
    """Whether the player to move can only wait."""
    return state.legal_actions() == [state.get_game().num_distinct_actions() - 1]


def check_against_the_twin(state: pyspiel.State, twin_state: pyspiel.State) -> None:
    """Who acts, legal actions and returns are the same where nobody waits."""
    assert state.current_player() == twin_state.current_player(), state.history()
    assert state.returns() == twin_state.returns()
    assert state.legal_actions() == twin_state.legal_actions()


def test_equals_the_twin_at_every_history() -> None:
    ours, twin = pyspiel.load_game(_SMALL), pyspiel.load_game(_SMALL_TWIN)
    to_twin: dict[tuple, tuple] = {}
    to_ours: dict[tuple, tuple] = {}
    num_terminals = 0
    for state in all_states(ours):
        if waits(state):
            continue
        twin_state = twin.new_initial_state()
        for action in state.history():
            if action != ours.rules.board.num_cells:
                twin_state.apply_action(action)
        check_against_the_twin(state, twin_state)
        num_terminals += state.is_terminal()
        player = state.current_player()
        if player >= 0:
            mine = (player, state.information_state_string(player))
            theirs = (player, *twin_state.information_state_tensor(player))
            assert to_twin.setdefault(mine, theirs) == theirs
            assert to_ours.setdefault(theirs, mine) == mine
    assert (len(to_ours), num_terminals) == (len(_infosets(twin)), _num_terminals(twin))


def _infosets(game: pyspiel.Game) -> set[tuple]:
    return {
        (player, *state.information_state_tensor(player))
        for state in all_states(game)
        if (player := state.current_player()) >= 0
    }


def _num_terminals(game: pyspiel.Game) -> int:
    return sum(state.is_terminal() for state in all_states(game))


@pytest.mark.parametrize("name", _PAIRS)
def test_equals_the_twin_in_random_playthroughs(name: str) -> None:
    ours, twin = pyspiel.load_game(name), pyspiel.load_game(_PAIRS[name])
    assert ours.num_distinct_actions() == twin.num_distinct_actions() + 1
    generator = random.Random(0)
    lengths = set()
    for _ in range(60):
        state, twin_state = ours.new_initial_state(), twin.new_initial_state()
        while not state.is_terminal():
            check_against_the_twin(state, twin_state)
            action = generator.choice(state.legal_actions())
            state.apply_action(action)
            twin_state.apply_action(action)
            while waits(state):
                state.apply_action(state.legal_actions()[0])
        check_against_the_twin(state, twin_state)
        lengths.add(len(state.history()))
    assert len(lengths) > 3


def test_value_is_the_twins() -> None:
    ours, twin = pyspiel.load_game(_SMALL), pyspiel.load_game(_SMALL_TWIN)
    assert twins.game_value(ours) == pytest.approx(twins.game_value(twin), abs=1e-9)


def test_rules_keep_their_contract() -> None:
    conformance.check_rules(dark_hex(2, 2))


@pytest.mark.slow
def test_rules_keep_their_contract_on_a_larger_board() -> None:
    conformance.check_rules(dark_hex(3, 2), max_histories=3_000_000)


@pytest.mark.parametrize("name", ["python_phantom_ttt", _SMALL])
def test_openspiel_game_keeps_its_contract(name: str) -> None:
    conformance.check_openspiel_game(pyspiel.load_game(name), num_walks=3)


def test_turns_are_as_long_as_all_their_tries_may_be() -> None:
    assert phantom_ttt().turn_lengths == [1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert dark_hex(2, 2).turn_lengths == [1, 2, 2, 3]
    game = pyspiel.load_game("python_phantom_ttt")
    state = game.new_initial_state()
    for action in (0, 0, 1, 2):
        state.apply_action(action)
    # Player 1 failed at 0 and laid a stone on 1, two steps of two; player 0 laid 2, and waits.
    assert (state.current_player(), state.legal_actions()) == (0, [9])
    assert state.action_to_string(9) == "wait"
    state.apply_action(9)
    assert (state.current_player(), state.legal_actions()) == (1, [2, 3, 4, 5, 6, 7, 8])


def infosets_of_histories(rules: ClassicalPhantomRules) -> dict[tuple, set[tuple[int, ...]]]:
    """The histories of both players' infosets in games that go on, by player and tensors."""
    found: dict[tuple, set[tuple[int, ...]]] = collections.defaultdict(set)
    states, histories = rules.initial_state(1), torch.zeros((1, 0), dtype=torch.int64)
    while states.batch_size:
        public = rules.public_tensor(states)
        for player in (0, 1):
            private = rules.private_tensor(states, player)
            for row in (~states.over).nonzero()[:, 0].tolist():
                key = (player, tuple(public[row].tolist()), tuple(private[row].tolist()))
                found[key].add(tuple(histories[row].tolist()))
        children = rules.expand(states)
        states = children.states
        histories = torch.cat([histories[children.parent], children.action[:, None]], dim=1)
    return found


def check_drawn(
    rules: ClassicalPhantomRules, key: tuple, count: int, seed: int = 0
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
    for seed in range(400):
        found, copies = check_drawn(rules, key, 2, seed)
        assert copies == len(histories) / 2
        counts.update(found)
    assert counts.keys() == histories
    expected = 800 / len(histories)
    assert max(abs(n - expected) for n in counts.values()) < 5 * expected**0.5


@pytest.mark.parametrize("rules", [phantom_ttt(), dark_hex(3, 3)])
def test_drawn_histories_of_large_games_have_the_observations(
    rules: ClassicalPhantomRules,
) -> None:
    generator = np.random.default_rng(0)
    for _ in range(10):
        state = rules.initial_state(1)
        while not state.over[0]:
            for player in (0, 1):
                key = (
                    player,
                    rules.public_tensor(state)[0].tolist(),
                    rules.private_tensor(state, player)[0].tolist(),
                )
                check_drawn(rules, key, 20)
            legal = rules.legal_actions(state)[0].nonzero()[:, 0].tolist()
            state = rules.apply(state, torch.tensor([generator.choice(legal)]))


@pytest.mark.parametrize(
    ("history", "failed"),
    [((), []), ((), [0]), ((0, 1, 4), [0]), ((0, 1, 4), [1, 2])],
)
def test_observations_of_no_history_are_refused(
    history: tuple[int, ...], failed: list[int]
) -> None:
    """Of a player 0 that has tried cells before it could, or failed where no stone can lie."""
    rules = dark_hex(2, 2)
    state = rules.initial_state(1)
    for action in history:
        state = rules.apply(state, torch.tensor([action]))
    public, private = rules.public_tensor(state)[0], torch.zeros(20)
    private[:16].view(4, 4)[[0, 1], [0, 1]] = 1.0
    private[16:][failed] = 1.0
    with pytest.raises(ValueError, match="no history has these observations"):
        rules.draw_histories(public, 5, np.random.default_rng(0), 0, private)


def test_strings_for_people() -> None:
    state = pyspiel.load_game("python_phantom_ttt").new_initial_state()
    for action in (4, 4, 0, 1, 9):
        state.apply_action(action)
    assert state.action_to_string(5) == "(1, 2)"
    assert str(state).splitlines() == [
        "ox.",
        ".x.",
        "...",
        "P0 failed at: -",
        "P1 failed at: (1, 1)",
    ]


@pytest.mark.parametrize("parameters", ["num_rows=1", "num_cols=6"])
def test_bad_parameters_are_refused(parameters: str) -> None:
    with pytest.raises(ValueError, match="are out of range; use 2 or more of each"):
        pyspiel.load_game(f"python_dark_hex({parameters})")
