"""Tools to hold a game against its OpenSpiel twin; they know nothing but `pyspiel` states."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pyspiel

from tests.games.openspiel_conformance import possible_actions


def assert_same_game(
    ours: pyspiel.Game,
    twin: pyspiel.Game,
    players: Callable[[pyspiel.State], Sequence[int]] = lambda _: (0, 1),
) -> int:
    """Compares two sequential games at every history, infosets included.

    Args:
      ours: a game.
      twin: the game it should equal, action ids included.
      players: of our state, whose information states are compared there.

    Returns:
      The number of histories compared, so that a test can tell that there were as many as expected.
    """
    partitions = (Bijection(), Bijection())
    count = 0
    stack = [(ours.new_initial_state(), twin.new_initial_state())]
    while stack:
        mine, yours = stack.pop()
        count += 1
        assert_same_state(mine, yours)
        for player in players(mine):
            pair = [state.information_state_string(player) for state in (mine, yours)]
            partitions[player].add(*pair)
        if not mine.is_terminal():
            actions = possible_actions(mine)
            stack.extend((mine.child(action), yours.child(action)) for action in actions)
    return count


def assert_same_random_games(ours: pyspiel.Game, twin: pyspiel.Game, num_games: int) -> None:
    """Compares two sequential games along random playthroughs."""
    generator = random.Random(0)
    for _ in range(num_games):
        mine, yours = ours.new_initial_state(), twin.new_initial_state()
        while not mine.is_terminal():
            assert_same_state(mine, yours)
            action = generator.choice(possible_actions(mine))
            mine.apply_action(action)
            yours.apply_action(action)
        assert_same_state(mine, yours)


def assert_same_state(mine: pyspiel.State, yours: pyspiel.State) -> None:
    """Players, actions, chance's probabilities and returns are the same."""
    where = f"after {mine.history()}"
    assert mine.current_player() == yours.current_player(), where
    assert possible_actions(mine) == possible_actions(yours), where
    if mine.is_chance_node():
        np.testing.assert_allclose(mine.chance_outcomes(), yours.chance_outcomes(), atol=1e-15)
    assert mine.returns() == yours.returns(), where


class Bijection:
    """Checks that two ways to name things tell the same things apart."""

    def __init__(self) -> None:
        self._to_second: dict[Hashable, Hashable] = {}
        self._to_first: dict[Hashable, Hashable] = {}

    def add(self, first: Hashable, second: Hashable) -> None:
        """Asserts that both names were met together or not at all."""
        assert self._to_second.setdefault(first, second) == second, f"{first!r} joins two of theirs"
        assert self._to_first.setdefault(second, first) == first, f"{second!r} is split in two"
