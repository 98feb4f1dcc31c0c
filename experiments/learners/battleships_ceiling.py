"""The exact best-response value against uniform play in Battleships on a small board.

The number of uniform shots that sink a fleet depends neither on its placement nor on the other
player's actions. So a best response only has to shoot well: at uniformly placed ships, given the
announcements so far, so as to sink the fleet first.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import pyspiel

from spiel_dl.games.battleships import BattleshipsRules

Fleet = tuple[int, ...]
"""The tiles of each ship, as bits."""


def best_response_to_uniform(game: str) -> float:
    """The mean return of a best response to uniform play, over both seats.

    Args:
      game: of `python_battleships`, on about nine tiles at most.

    Raises:
      ValueError: if shots may be repeated, or are too few to sink all ships, or not who sinks the
        other's fleet wins.
    """
    loaded = pyspiel.load_game(game)
    rules: BattleshipsRules = loaded.rules
    tiles, ships = rules.num_tiles, sum(rules.ship_sizes)
    if rules.allow_repeated_shots or rules.num_shots < tiles or rules.returns_type != "win_loss":
        raise ValueError(
            f"{game} has other rules than all shots at different tiles; its ceiling is not known"
        )
    placed = _placements(loaded)
    fleets, weights = list(placed), list(placed.values())

    def wins(seat: int) -> float:
        """The probability of sinking the other's fleet first."""

        @functools.cache
        def best(consistent: tuple[int, ...], shots: int) -> float:
            # Player 1's k-th shot follows k of player 0, player 0's only k - 1 of player 1.
            fired = shots.bit_count() + seat
            in_time = 1.0 - math.comb(fired, ships) / math.comb(tiles, ships)
            largest = 0.0
            for tile in range(tiles):
                if shots >> tile & 1:
                    continue
                sunk, others = _after_shot(fleets, consistent, shots, tile)
                sunk_now = sum(weights[index] for index in sunk)
                later = sum(best(group, shots | 1 << tile) for group in others)
                largest = max(largest, sunk_now * in_time + later)
            return largest

        return best(tuple(range(len(fleets))), 0)

    return wins(0) + wins(1) - 1.0


def _placements(game: pyspiel.Game) -> dict[Fleet, float]:
    """The probability of each fleet under uniform placement; equal ships are exchangeable."""
    rules: BattleshipsRules = game.rules
    probabilities: dict[Fleet, float] = defaultdict(float)

    def place(state: pyspiel.State, weight: float, fleet: Fleet) -> None:
        if len(fleet) == rules.num_ships:
            probabilities[tuple(sorted(fleet))] += weight
            return
        state.apply_action(state.legal_actions()[0])  # player 0's next ship, anywhere
        actions = state.legal_actions()
        for action in actions:
            covers = rules.fleets.covers[len(fleet), action - rules.num_tiles]
            ship = sum(1 << tile for tile in itertools.compress(range(rules.num_tiles), covers))
            place(state.child(action), weight / len(actions), (*fleet, ship))

    place(game.new_initial_state(), 1.0, ())
    return probabilities


def _after_shot(
    fleets: Sequence[Fleet], consistent: Sequence[int], shots: int, tile: int
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Groups the consistent fleets by the announcement after a shot.

    Args:
      fleets: all fleets.
      consistent: indices of the fleets that fit the earlier announcements.
      shots: the tiles of earlier shots, as bits.
      tile: the tile of this shot.

    Returns:
      The consistent fleets that the shot sinks; and the others, grouped by announcement.
    """
    after = shots | 1 << tile
    sunk, groups = list[int](), dict[str, list[int]]()
    for index in consistent:
        if all(ship & after == ship for ship in fleets[index]):
            sunk.append(index)
        else:
            groups.setdefault(_announcement(fleets[index], tile, after), []).append(index)
    return sunk, list(map(tuple, groups.values()))


def _announcement(fleet: Fleet, tile: int, shots: int) -> str:
    """The announcement after the last shot."""
    ship = next((ship for ship in fleet if ship >> tile & 1), 0)
    return "miss" if not ship else "sunk" if ship & shots == ship else "hit"
