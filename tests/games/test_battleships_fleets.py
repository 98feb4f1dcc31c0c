"""Fleets of python_battleships, counted by hand and in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from spiel_dl.games.battleships_fleets import consistent_fleets, fleet_tables


def ship_tiles(width: int, height: int, size: int, action: int) -> set[int]:
    """The tiles of a ship in plain Python, as its placement says."""
    tile = action % (width * height)
    step = 1 if action < 2 * width * height else width
    return {tile + step * index for index in range(size)}


def count_fleets(width: int, height: int, ship_sizes: list[int]) -> int:
    """The number of fleets, ships of equal size told apart, before any shot."""
    tables = fleet_tables(width, height, ship_sizes)
    return consistent_fleets(tables, [], [], len(ship_sizes), limit=100_000)[0]


def test_number_of_fleets() -> None:
    assert count_fleets(2, 2, [2]) == 4
    assert count_fleets(3, 2, [2]) == 7
    # 12 places for a first ship of two; the second has 12 - 5 in a corner's, and so on.
    assert count_fleets(3, 3, [2, 2]) == 88
    assert count_fleets(5, 5, [3, 2, 2]) == 25_596
    assert count_fleets(3, 1, [1, 2]) == 2
    assert count_fleets(3, 1, [1, 1, 1]) == 6
    for width, height, sizes in [(3, 3, [2, 2]), (4, 2, [3, 1, 2]), (3, 2, [2, 2, 2])]:
        ships = [
            [
                ship
                for action in range(width * height, 3 * width * height)
                if _fits(width, height, size, action)
                for ship in [frozenset(ship_tiles(width, height, size, action))]
            ]
            for size in sizes
        ]
        fleets = [fleet for fleet in itertools.product(*ships) if _disjoint(fleet)]
        assert count_fleets(width, height, sizes) == len(fleets)


def _fits(width: int, height: int, size: int, action: int) -> bool:
    kind, tile = divmod(action, width * height)
    row, column = divmod(tile, width)
    return column + size <= width if kind == 1 else row + size <= height and size > 1


def _disjoint(fleet: Iterable[frozenset[int]]) -> bool:
    fleet = list(fleet)
    return len(frozenset().union(*fleet)) == sum(map(len, fleet))
