"""python_oshi_zumo_ii against OpenSpiel's oshi_zumo, a plain Python model, and known counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from tests.games import twins
from tests.games.openspiel_conformance import all_states


@dataclasses.dataclass(frozen=True)
class _Model:
    """The game written down once more: pairs of bids, read from the start, without tensors."""

    coins: int
    min_bid: int
    start_location: int
    optimal_endgame: bool
    horizon: int = 1000

    def histories(self) -> Iterator[tuple[list[int], list[int]]]:
        """All pairs of both players' bids so far; player 0 may be one ahead."""
        stack: list[tuple[list[int], list[int]]] = [([], [])]
        while stack:
            first, second = stack.pop()
            yield first, second
            if len(first) > len(second):
                stack.extend((first, [*second, bid]) for bid in self.legal(second))
            elif self.utility(first, second) is None:
                stack.extend(([*first, bid], second) for bid in self.legal(first))

    def legal(self, bids: list[int]) -> list[int]:
        left = self.coins - sum(bids)
        return list(range(self.min_bid, left + 1)) or [left]

    def winners(self, first: list[int], second: list[int]) -> list[int]:
        return [(a > b) - (a < b) for a, b in zip(first, second, strict=False)]

    def utility(self, first: list[int], second: list[int]) -> int | None:
        """Player 0's utility after a closed round; None if the game goes on."""
        location = sum(self.winners(first, second))
        left = [self.coins - sum(bids) for bids in (first, second)]
        rounds_left = self.horizon - len(first)
        if abs(location) <= self.start_location:
            if self.optimal_endgame and min(left) < self.min_bid:
                pushes = [min(coins // self.min_bid, rounds_left) for coins in left]
                location += pushes[0] - pushes[1]
            elif rounds_left and sum(left):
                return None
        return (location > 0) - (location < 0)


_SETTINGS = [
    {"coins": 5, "min_bid": 1, "start_location": 3, "optimal_endgame": True},
    {"coins": 7, "min_bid": 2, "start_location": 1, "optimal_endgame": True},
    {"coins": 6, "min_bid": 1, "start_location": 2, "optimal_endgame": True, "horizon": 3},
    {"coins": 5, "min_bid": 1, "start_location": 1, "optimal_endgame": False},
    {"coins": 5, "min_bid": 2, "start_location": 0, "optimal_endgame": False},
    {"coins": 4, "min_bid": 0, "start_location": 1, "optimal_endgame": False, "horizon": 3},
]


def _game(parameters: dict) -> pyspiel.Game:
    return pyspiel.load_game("python_oshi_zumo_ii", parameters)


@pytest.mark.parametrize("parameters", _SETTINGS)
def test_equals_model_at_every_history(parameters: dict) -> None:
    model = _Model(**parameters)
    expected = {}
    for first, second in model.histories():
        history = [bid for pair in zip(first, second, strict=False) for bid in pair]
        expected[tuple(history + first[len(second) :])] = (first, second)
    partition: dict[tuple, str] = {}
    states = list(all_states(_game(parameters)))
    assert {tuple(state.history()) for state in states} == expected.keys()
    for state in states:
        first, second = expected[tuple(state.history())]
        utility = model.utility(first, second) if len(first) == len(second) else None
        assert state.is_terminal() == (utility is not None)
        assert state.returns() == ([0, 0] if utility is None else [utility, -utility])
        if not state.is_terminal():
            player = len(first) - len(second)
            assert state.current_player() == player
            assert state.legal_actions() == model.legal((first, second)[player])
        # A player knows its own bids, who won, whose turn it is, and whether the game is over.
        seen = (model.winners(first, second), len(first) > len(second), utility is not None)
        for player, bids in enumerate((first, second)):
            string = state.information_state_string(player)
            known = (player, tuple(bids), *map(str, seen))
            assert partition.setdefault(known, string) == string
    assert len(set(partition.values())) == len(partition)


@pytest.mark.parametrize(
    "parameters",
    [
        {"coins": 5, "min_bid": 1, "start_location": 1},
        {"coins": 5, "min_bid": 1, "start_location": 3, "horizon": 2},
        {"coins": 4, "min_bid": 0, "start_location": 1, "horizon": 3},
    ],
)
def test_equals_twin_at_every_history(parameters: dict) -> None:
    """The twin has no information states to compare."""
    names = {"start_location": "size"}
    listed = ",".join(f"{names.get(name, name)}={value}" for name, value in parameters.items())
    twin = pyspiel.load_game(f"turn_based_simultaneous_game(game=oshi_zumo({listed}))")
    ours = _game({**parameters, "optimal_endgame": False})
    assert twins.assert_same_game(ours, twin, lambda _: ()) > 20


@pytest.mark.parametrize(
    ("parameters", "bids", "utility"),
    [
        ({"coins": 4}, [1, 1, 1, 1, 1, 1, 1, 1], 0),
        ({"coins": 4}, [4, 3], 0),  # to 1, and back by player 1's last coin
        ({"coins": 4}, [4, 1], -1),  # to 1, then player 1 pushes three times
        ({"coins": 4}, [1, 4], 1),  # the same with the players' parts exchanged
        ({"coins": 4}, [2, 1, 2, 1], 0),  # to 2, and back by two coins
        ({"coins": 7, "min_bid": 2}, [3, 2, 4, 2], 1),  # to 2; three coins are only one push
        ({"coins": 4, "start_location": 0}, [2, 1], 1),  # off the board, so no coin counts any more
        ({"coins": 6, "horizon": 2}, [6, 1], 0),  # to 1, and back in the one round that is left
        ({"coins": 6, "horizon": 1}, [6, 1], 1),  # to 1, and there is no round left
    ],
)
def test_optimal_endgame_by_hand(parameters: dict, bids: list[int], utility: int) -> None:
    state = _game(parameters).new_initial_state()
    for bid in bids:
        assert not state.is_terminal()
        state.apply_action(bid)
    assert state.is_terminal()
    assert state.returns() == [utility, -utility]
