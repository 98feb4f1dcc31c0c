"""Classical phantom games by our rules, apart from what both versions share."""

from __future__ import annotations

import collections

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.classical_phantom import ClassicalPhantomRules, dark_hex, phantom_ttt


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
