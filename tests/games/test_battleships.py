"""python_battleships against OpenSpiel's battleship, formulas, and boards in plain Python."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.battleships import BattleshipsRules
from tests.games import enumeration, twins


def _twin(rules: BattleshipsRules) -> pyspiel.Game:
    """OpenSpiel's game with the same parameters."""

    def listed(values: Iterable[float]) -> str:
        return f"[{';'.join(map(str, values))}]"

    return pyspiel.load_game(
        f"battleship(board_width={rules.board_width},board_height={rules.board_height},"
        f"ship_sizes={listed(rules.ship_sizes)},ship_values={listed(rules.ship_values)},"
        f"num_shots={rules.num_shots},loss_multiplier=1.0,"
        f"allow_repeated_shots={str(rules.allow_repeated_shots).lower()})"
    )


def _assert_equals_twin(rules: BattleshipsRules) -> int:
    """Compares all histories; returns how many there are."""
    partitions = (twins.Bijection(), twins.Bijection())
    count, twin_states = 0, {(): _twin(rules).new_initial_state()}
    for states, actions in enumeration.levels(rules):
        histories = list(map(tuple, actions.tolist()))
        count += len(histories)
        if count > 1:
            twin_states = {key: twin_states[key[:-1]].child(key[-1]) for key in histories}
        player, returns = rules.current_player(states).tolist(), rules.returns(states).tolist()
        legal = [np.flatnonzero(line).tolist() for line in rules.legal_actions(states).numpy()]
        tensors = [
            np.packbits(rules.information_state_tensor(states, p).numpy() > 0, axis=1)
            for p in (0, 1)
        ]
        for row, key in enumerate(histories):
            twin = twin_states[key]
            assert player[row] == twin.current_player(), key
            assert legal[row] == twin.legal_actions(), key
            assert [returns[row], -returns[row]] == twin.returns(), key
            for p, partition in enumerate(partitions):
                partition.add(tensors[p][row].tobytes(), twin.information_state_string(p))
    return count


def _by_worth(*arguments: object, **named: object) -> BattleshipsRules:
    return BattleshipsRules(*arguments, returns_type="ship_values", **named)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (_by_worth(2, 2, "[2]"), 12_373),
        # Shots may repeat, so nothing is forced: 16 * (1 + 4 + 4**2 + 4**3 + ends).
        (_by_worth(2, 2, "[2]", True, num_shots=3, ship_values="[2.5]"), None),
        # Two ships of one size, and two of different worth.
        (_by_worth(2, 2, "[2;2]", num_shots=3), None),
        (_by_worth(3, 1, "[1;1]", True, num_shots=2, ship_values="[2;3]"), None),
    ],
)
def test_equals_twin_at_every_history(rules: BattleshipsRules, expected: int | None) -> None:
    count = _assert_equals_twin(rules)
    assert count > 100
    assert expected in (None, count)


@pytest.mark.parametrize(
    ("parameters", "num_games"),
    [
        ("board_width=3,board_height=3,ship_sizes=[2;2]", 40),
        (
            "board_width=3,board_height=3,ship_sizes=[3;2;2],allow_repeated_shots=True,"
            "ship_values=[3;2;1],num_shots=7",
            40,
        ),
        ("board_width=5,board_height=5,ship_sizes=[3;2;2],num_shots=20", 15),
        ("ship_values=[1;2;4;8;16]", 3),
        ("board_width=7,board_height=10,ship_sizes=[1;5;5]", 3),
    ],
)
def test_random_games_equal_the_twins(parameters: str, num_games: int) -> None:
    ours = pyspiel.load_game(f"python_battleships({parameters},returns_type=ship_values)")
    twins.assert_same_random_games(ours, _twin(ours.rules), num_games)


def test_who_sinks_the_fleet_wins() -> None:
    by_worth = BattleshipsRules(3, 3, "[2;2]", returns_type="ship_values", num_shots=8)
    rules = BattleshipsRules(3, 3, "[2;2]", num_shots=8)
    generator, results = random.Random(5), set()
    for _ in range(40):
        *before, (state, _) = enumeration.random_game(rules, generator)
        assert all(rules.returns(each).item() == 0 for each, _ in before)
        sunk = [(state.tiles_left[0, 1 - player :: 2] == 0).sum().item() for player in (0, 1)]
        assert by_worth.returns(state).item() == sunk[0] - sunk[1]
        assert rules.returns(state).item() == (sunk[0] == 2) - (sunk[1] == 2)
        results.add(rules.returns(state).item())
    assert results == {-1, 0, 1}


def test_tensors_by_hand() -> None:
    rules = BattleshipsRules(2, 2, "[2;1]")
    # Player 0: tiles 0 1 and tile 2. Player 1: tiles 1 3 and tile 0. Shots 3 (hit), 2 (sunk).
    state = enumeration.play(rules, [4, 9, 6, 4, 3, 2])

    def pieces(tensor: torch.Tensor, shapes: dict[str, tuple[int, ...]]) -> dict[str, list]:
        sizes = [math.prod(shape) for shape in shapes.values()]
        blocks = zip(shapes.items(), tensor[0].split(sizes), strict=True)
        return {name: block.view(shape).nonzero().tolist() for (name, shape), block in blocks}

    everywhere = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert pieces(rules.public_tensor(state), rules.public_pieces(True)) == {
        "placements_made": everywhere,
        "shot_tiles": [[0, 0, 3], [0, 1, 2]],
        "shot_outcomes": [[0, 0, 1], [0, 1, 2]],
    }
    assert pieces(rules.public_tensor(state, False), rules.public_pieces(False)) == {
        "placements_made": everywhere,
        "shots_fired": [[0, 0], [0, 1]],
        "boards": [
            *([0, tile, 3 if tile == 2 else 0] for tile in range(4)),
            *([1, tile, 2 if tile == 3 else 0] for tile in range(4)),
        ],
    }
    assert pieces(rules.private_tensor(state, 0), rules.private_pieces(True)) == {
        "placements": [[0, 0], [1, 2]]
    }
    assert pieces(rules.private_tensor(state, 1, False), rules.private_pieces(False)) == {
        "ships": [[0, 1], [0, 3], [1, 0]]
    }


def test_boards_show_what_was_announced_last() -> None:
    rules = BattleshipsRules(3, 1, "[2]", allow_repeated_shots=True)
    hit_sunk_and_again = [3, 3, 0, 2, 0, 2]
    assert enumeration.play(rules, hit_sunk_and_again).boards[0].tolist() == [-1, -1, 0, 1, -1, -1]
    two_ships = BattleshipsRules(4, 1, "[2;1]", allow_repeated_shots=True)
    # Tile 0 stays a hit when tile 1 sinks the ship, until it is shot at once more.
    line = [4, 4, 7, 7, 0, 2, 1, 2]
    assert enumeration.play(two_ships, line).boards[0, 4:].tolist() == [1, 2, -1, -1]
    assert enumeration.play(two_ships, [*line, 0]).boards[0, 4:].tolist() == [2, 2, -1, -1]
