"""The compiled forms of rules do what the tensor rules say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.games.battleships import BattleshipsRules
from spiel_dl.games.compiled import NO_ACTION, Games
from spiel_dl.games.compiled_environment import CompiledEnvironment
from spiel_dl.games.environments import BatchedEnvironment, sample
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.liars_dice import LiarsDiceRules
from spiel_dl.games.phantom import abrupt_dark_hex, abrupt_phantom_ttt, dark_hex, phantom_ttt
from spiel_dl.games.rules import CHANCE_PLAYER, Rules, StateBatch
from tests.games.flips import FlipsRules

SMALL: dict[str, Rules] = {
    "goofspiel 3, descending": GoofspielIIRules(3, "descending"),
    "goofspiel 3, ascending, differences": GoofspielIIRules(3, "ascending", "point_difference"),
    "goofspiel 3, random, last round": GoofspielIIRules(3, forced_last_round=True),
    "goofspiel 4, three turns": GoofspielIIRules(4, "descending", num_turns=3),
    "abrupt dark hex 2x2": abrupt_dark_hex(2, 2),
    "dark hex 2x2": dark_hex(2, 2),
    "liar's dice 1x3": LiarsDiceRules(1, 3, "reset-quantity"),
    "liar's dice 2x2": LiarsDiceRules(2, 2),
    "battleships 2x2, repeated": BattleshipsRules(2, 2, "[2]", True, num_shots=2),
    "battleships 1x3, values": BattleshipsRules(
        3, 1, "[2;1]", False, "ship_values", "[2.5;1]", num_shots=2
    ),
}
LARGE: dict[str, Rules] = {
    "goofspiel 13, random": GoofspielIIRules(),
    "goofspiel 8": GoofspielIIRules(8, "descending", "point_difference"),
    "abrupt dark hex 3x3": abrupt_dark_hex(),
    "dark hex 3x3": dark_hex(),
    "phantom tic-tac-toe": phantom_ttt(),
    "abrupt phantom tic-tac-toe": abrupt_phantom_ttt(),
    "liar's dice 2x5": LiarsDiceRules(2, 5),
    "battleships 5x5": BattleshipsRules(5, 5, "[3;2;2]"),
    "battleships 3x3, values": BattleshipsRules(
        3, 3, "[3;3;2]", False, "ship_values", "[0.5;2;1]", num_shots=4
    ),
    "battleships 4x3, repeated": BattleshipsRules(4, 3, "[2;3]", True, "ship_values", num_shots=12),
}


def check_same(rules: Rules, states: StateBatch, arrays: tuple, games: Games) -> None:
    """The compiled arrays agree with the rules about the states."""
    for mine, theirs in zip(arrays, states.arrays(), strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(games.player, rules.current_player(states))
    assert np.array_equal(games.legal, rules.legal_actions(states))
    assert np.array_equal(games.returns, rules.returns(states))
    check_features(rules, states)


def check_features(rules: Rules, states: StateBatch) -> None:
    """Compiled features are those of the tensors, whoever looks, and whatever the rows held."""
    compiled = rules.compiled()
    assert compiled is not None
    batch = states.batch_size
    observers = [np.full(batch, 0), np.full(batch, 1), np.arange(batch) % 3 - 1]
    seen = np.stack([rules.features(states, player).numpy() for player in (0, 1)])
    for observer in observers:
        looks = np.flatnonzero(observer >= 0)
        rows = np.full((len(looks), rules.num_features), np.nan, np.float32)
        compiled.write_features(states.arrays(), observer.astype(np.int8), rows)
        assert np.array_equal(rows, seen[observer[looks], looks])


@pytest.mark.parametrize("name", SMALL)
def test_every_history_of_small_games_is_the_same(name: str) -> None:
    rules = SMALL[name]
    compiled = rules.compiled()
    assert compiled is not None
    states = rules.initial_state(1)
    arrays, games = states.arrays(), CompiledEnvironment(rules, 1).roots
    generator = np.random.default_rng(0)
    while states.batch_size:
        check_same(rules, states, arrays, games)
        check_chance(rules, states, games, generator)
        parent, action, _ = rules.successors(states)
        arrays = tuple(array[parent.numpy()].copy() for array in states.arrays())
        no_numbers = np.zeros((0, len(parent)))
        games = Games(action.numpy(), no_numbers, *(x[parent.numpy()].copy() for x in games[2:]))
        compiled.advance(arrays, games)
        states = rules.apply(states.take(parent), action)


def check_chance(
    rules: Rules, states: StateBatch, games: Games, generator: np.random.Generator
) -> None:
    """Chance takes the outcomes that its probabilities say, number by number."""
    rows = np.flatnonzero(games.player == CHANCE_PLAYER)
    if not len(rows):
        return
    rows = np.repeat(rows, 20)
    uniform = generator.random((1, len(rows)))
    before = states.take(torch.from_numpy(rows))
    outcome = sample(
        rules.chance_probabilities(before), torch.from_numpy(uniform[0]), torch.float64
    )
    arrays = tuple(array[rows].copy() for array in states.arrays())
    copied = Games(np.full(len(rows), NO_ACTION), uniform, *(x[rows].copy() for x in games[2:]))
    compiled = rules.compiled()
    compiled.advance(arrays, copied)
    check_same(rules, rules.apply(before, outcome), arrays, copied)


@pytest.mark.parametrize("name", LARGE)
def test_random_games_are_those_of_the_tensor_rules(name: str) -> None:
    """From the same random numbers, move by move, until each row's first game is over."""
    rules = LARGE[name]
    ours, theirs = CompiledEnvironment(rules, 40, seed=3), BatchedEnvironment(rules, 40, seed=3)
    chooser = torch.Generator().manual_seed(4)
    for _ in range(2):
        goes_on = torch.ones(40, dtype=torch.bool)
        for _ in range(rules.max_game_length):
            compare(ours, theirs, goes_on)
            wish = torch.rand(theirs.legal_actions().shape, generator=chooser)
            action = (wish * theirs.legal_actions()).argmax(dim=1)
            move(ours, action)
            ended = theirs.step(action)
            over = torch.from_numpy(ours.games.player) == -4
            returns = torch.from_numpy(ours.games.returns)
            assert torch.equal(over & goes_on, ended.finished & goes_on)
            assert torch.equal(returns * goes_on, ended.returns * goes_on)
            goes_on &= ~ended.finished
            assert torch.equal(over, ~goes_on)
            assert not ours.games.legal[~goes_on].any()
        assert not bool(goes_on.any())
        ours.restart()
        theirs.restart()


def move(environment: CompiledEnvironment, action: torch.Tensor) -> None:
    environment.move(action.numpy(), environment.random_numbers(1)[0].numpy())


def compare(ours: CompiledEnvironment, theirs: BatchedEnvironment, rows: torch.Tensor) -> None:
    for mine, other in zip(ours.state.arrays(), theirs.state.arrays(), strict=True):
        assert np.array_equal(mine[rows], other[rows])
    assert np.array_equal(ours.games.player[rows], theirs.current_player()[rows])
    assert np.array_equal(ours.games.legal[rows], theirs.legal_actions()[rows])
    check_features(ours.rules, ours.state)


def test_random_numbers_may_be_drawn_before() -> None:
    one, other = (CompiledEnvironment(GoofspielIIRules(4), 30, seed=5) for _ in "ab")
    numbers = other.random_numbers(4)
    for uniform in numbers:
        action = one.games.legal.argmax(axis=1)
        move(one, torch.from_numpy(action))
        other.move(action, uniform.numpy())
    assert all(map(np.array_equal, one.state.arrays(), other.state.arrays()))


def test_rules_without_a_compiled_form_are_refused() -> None:
    with pytest.raises(ValueError, match="FlipsRules has no compiled form"):
        CompiledEnvironment(FlipsRules(), 2)
