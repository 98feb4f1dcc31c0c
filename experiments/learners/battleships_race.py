"""What an equilibrium player wins from uniform play in Battleships on a small board.

The game is too large to list. The *race* is smaller: whoever needs fewer shots wins, as in
Battleships, but nobody sees where the other shoots. CFR+ solves it. Infosets are one's own fleet,
the tiles that were shot at, and the other's fleets that fit the answers; histories that differ in
the order of shots alone share one, as payoffs do not depend on that order.

Against uniform play nothing is lost by not seeing its shots: there a best response of the race wins
what one of the game does, which `battleships_ceiling` computes otherwise. On boards small enough
for a linear program, race and game have the same value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pyspiel

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.learners.battleships_ceiling import (
    Fleet,
    after_shot,
    best_response_to_uniform,
    placements,
)
from experiments.settings import check_least
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs.reports import Report, Table

_SUNK, _SHOT = -1, -2
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Infosets(NamedTuple):
    """The N infosets that a player has with each own fleet, and their E histories.

    Attributes:
      offsets: [N + 1], where the histories of an infoset begin; infosets with fewer shots first.
      fleets: [E], the other's fleet in each history.
      following: [E, T], the history after a shot at each of T tiles; _SUNK: the other's fleet is
        sunk; _SHOT: that tile was shot at before.
      shots: [N], how many there were.
    """

    offsets: Integers
    fleets: Integers
    following: Integers
    shots: Integers


class Strategy(NamedTuple):
    """A player's.

    Attributes:
      fleets: [F], how likely each fleet is placed.
      tiles: [F, N, T], where to shoot, by own fleet and infoset.
    """

    fleets: Floats
    tiles: Floats


class Race:
    """The race of a game of `python_battleships` in which every tile may be shot at, and once.

    Attributes:
      infosets: what players see.
      uniform: uniform play.
    """

    def __init__(self, game: str):
        """Lists it; the game may have about nine tiles."""
        loaded = pyspiel.load_game(game)
        placed = placements(loaded)
        self.infosets = _list_infosets(list(placed), loaded.rules.num_tiles)
        legal = self.infosets.following[self.infosets.offsets[:-1]] != _SHOT
        evenly = np.broadcast_to(legal / legal.sum(-1, keepdims=True), (len(placed), *legal.shape))
        self.uniform = Strategy(np.array(list(placed.values())), evenly.copy())

    def times(self, strategy: Strategy) -> Floats:
        """Probabilities [F, F, T + 1] of the number of shots, by own fleet and the other's."""
        return _times(strategy.tiles, *self.infosets)

    def value(
        self, player: int, own: Strategy, other: Strategy, *, respond: bool = False
    ) -> tuple[Floats, Floats]:
        """What a player's fleets win, [F], and counterfactual values of its shots, [F, N, T].

        Args:
          player: 0 shoots first.
          own: how it shoots.
          other: the other player's strategy.
          respond: shoot as well as possible instead.
        """
        done = self.times(other).cumsum(-1)
        # Player 1's k-th shot follows k of player 0, player 0's only k - 1 of player 1.
        before = done if player else np.pad(done, ((0, 0), (0, 0), (1, 0)))[..., :-1]
        wins = np.ascontiguousarray((1 - 2 * before).swapaxes(0, 1))
        return _values(own.tiles, wins, other.fleets, respond, *self.infosets)

    def solve(self, num_iterations: int) -> Iterator[tuple[Strategy, Strategy]]:
        """The average strategies of both players after every iteration of CFR+."""
        shape = self.uniform.tiles.shape
        evenly = np.full(shape[0], 1 / shape[0])
        current = [Strategy(evenly.copy(), self.uniform.tiles.copy()) for _ in range(2)]
        regrets = [Strategy(np.zeros(shape[0]), np.zeros(shape)) for _ in range(2)]
        sums = [Strategy(np.zeros(shape[0]), np.zeros(shape)) for _ in range(2)]
        for iteration in range(1, num_iterations + 1):
            for player, (own, regret, total) in enumerate(zip(current, regrets, sums, strict=True)):
                values, of_shots = self.value(player, own, current[1 - player])
                total.fleets[:] += iteration * own.fleets
                weights = iteration * own.fleets
                _learn(own.tiles, regret.tiles, total.tiles, of_shots, weights, *self.infosets)
                regret.fleets[:] += values - own.fleets @ values
                regret.fleets.clip(0.0, out=regret.fleets)
                own.fleets[:] = _normalised(regret.fleets, evenly)
            first, second = (
                Strategy(_normalised(t.fleets, evenly), _normalised(t.tiles, self.uniform.tiles))
                for t in sums
            )
            yield first, second


def _normalised(values: Floats, otherwise: Floats) -> Floats:
    sums = values.sum(-1, keepdims=True)
    return np.where(sums > 0, values / np.where(sums > 0, sums, 1.0), otherwise)


def _list_infosets(fleets: list[Fleet], num_tiles: int) -> Infosets:
    """The infosets: sets of fleets that fit the answers, and tiles that were shot at, as bits."""
    found = [(tuple(range(len(fleets))), 0)]
    number = {found[0]: 0}
    after: list[dict[tuple[int, int], int]] = []  # From tile and fleet to an infoset.
    for consistent, shots in found:
        after.append({})
        for tile in (tile for tile in range(num_tiles) if not shots >> tile & 1):
            sunk, others = after_shot(fleets, consistent, shots, tile)
            after[-1] |= dict.fromkeys(((tile, fleet) for fleet in sunk), _SUNK)
            for group in others:
                infoset = (group, shots | 1 << tile)
                if infoset not in number:
                    number[infoset] = len(found)
                    found.append(infoset)
                after[-1] |= dict.fromkeys(((tile, fleet) for fleet in group), number[infoset])
    offsets = np.cumsum([0, *(len(consistent) for consistent, _ in found)])
    following = np.full((offsets[-1], num_tiles), _SHOT)
    for start, (consistent, _), next_ones in zip(offsets[:-1], found, after, strict=True):
        for (tile, fleet), next_one in next_ones.items():
            history = start + consistent.index(fleet)
            following[history, tile] = _SUNK
            if next_one != _SUNK:
                following[history, tile] = offsets[next_one] + found[next_one][0].index(fleet)
    shots_of = np.array([shots.bit_count() for _, shots in found])
    return Infosets(offsets, np.concatenate([each for each, _ in found]), following, shots_of)


@numba.njit(cache=True)
def _times(
    tiles: Floats, offsets: Integers, fleets: Integers, following: Integers, shots: Integers
) -> Floats:
    num_fleets, num_infosets, num_tiles = tiles.shape
    times, reach = np.zeros((num_fleets, num_fleets, num_tiles + 1)), np.zeros(len(fleets))
    for own in range(num_fleets):
        reach[:] = 0.0
        reach[: offsets[1]] = 1.0
        for infoset in range(num_infosets):
            for history in range(offsets[infoset], offsets[infoset + 1]):
                for tile in range(num_tiles):
                    after = following[history, tile]
                    probability = reach[history] * tiles[own, infoset, tile]
                    if after >= 0:
                        reach[after] += probability
                    elif after == _SUNK:
                        times[own, fleets[history], shots[infoset] + 1] += probability
    return times


@numba.njit(cache=True)
def _values(
    tiles: Floats,
    wins: Floats,
    placed: Floats,
    respond: bool,
    offsets: Integers,
    fleets: Integers,
    following: Integers,
    shots: Integers,
) -> tuple[Floats, Floats]:
    num_fleets, num_infosets, num_tiles = tiles.shape
    found, of_shots = np.zeros(num_fleets), np.zeros(tiles.shape)
    value, of_tile = np.zeros(len(fleets)), np.zeros((len(fleets), num_tiles))
    for own in range(num_fleets):
        for infoset in range(num_infosets - 1, -1, -1):
            first, last = offsets[infoset], offsets[infoset + 1]
            best, most = -1, -np.inf
            for tile in range(num_tiles):
                if following[first, tile] == _SHOT:
                    continue
                for history in range(first, last):
                    after, fleet = following[history, tile], fleets[history]
                    won = wins[own, fleet, shots[infoset] + 1] if after == _SUNK else value[after]
                    of_tile[history, tile] = won
                    of_shots[own, infoset, tile] += placed[fleet] * won
                if of_shots[own, infoset, tile] > most:
                    best, most = tile, of_shots[own, infoset, tile]
            for history in range(first, last):
                value[history] = of_tile[history, best]
                if not respond:
                    value[history] = 0.0
                    for tile in range(num_tiles):
                        if following[first, tile] != _SHOT:
                            value[history] += tiles[own, infoset, tile] * of_tile[history, tile]
        for history in range(offsets[1]):
            found[own] += placed[fleets[history]] * value[history]
    return found, of_shots


@numba.njit(cache=True)
def _learn(
    tiles: Floats,
    regrets: Floats,
    sums: Floats,
    of_shots: Floats,
    weights: Floats,
    offsets: Integers,
    fleets: Integers,
    following: Integers,
    shots: Integers,
) -> None:
    num_fleets, num_infosets, num_tiles = tiles.shape
    reach = np.zeros(len(fleets))  # One's own, of all histories of an infoset alike.
    for own in range(num_fleets):
        reach[:] = 0.0
        reach[: offsets[1]] = weights[own]
        for infoset in range(num_infosets):
            first, last = offsets[infoset], offsets[infoset + 1]
            expected = np.sum(tiles[own, infoset] * of_shots[own, infoset])
            for tile in range(num_tiles):
                if following[first, tile] == _SHOT:
                    continue
                probability = reach[first] * tiles[own, infoset, tile]
                sums[own, infoset, tile] += probability
                for history in range(first, last):
                    if following[history, tile] >= 0:
                        reach[following[history, tile]] += probability
                gain = of_shots[own, infoset, tile] - expected
                regrets[own, infoset, tile] = max(0.0, regrets[own, infoset, tile] + gain)
            total, legal = np.sum(regrets[own, infoset]), np.sum(following[first] != _SHOT)
            for tile in range(num_tiles):
                if following[first, tile] != _SHOT:
                    regret = regrets[own, infoset, tile]
                    tiles[own, infoset, tile] = regret / total if total > 0 else 1.0 / legal


@dataclasses.dataclass(frozen=True)
class Settings:
    """Which game, and when to look.

    Attributes:
      preset: the game.
      iterations: of CFR+, after which the strategies are measured.
    """

    preset: str = "battleships_3x3"
    iterations: tuple[int, ...] = (10, 30, 100, 300)

    def __post_init__(self) -> None:
        if not self.iterations:
            raise ValueError(f"iterations={self.iterations} must not be empty")
        check_least(self, iterations=1)


Study = experiment.Study[Settings]


def measured(game: str, iterations: tuple[int, ...]) -> list[dict[str, Any]]:
    """A row for each number of iterations; returns are means over both seats."""
    race, rows = Race(game), []
    for iteration, strategies in enumerate(race.solve(max(iterations)), start=1):
        if iteration not in iterations:
            continue
        row = {"iterations": iteration, "value": 0.0, "nash_conv": 0.0, "uniform": 0.0, "best": 0.0}
        for player, own in enumerate(strategies):
            other = strategies[1 - player]
            if not player:
                row["value"] = float(own.fleets @ race.value(player, own, other)[0])
            row["nash_conv"] += float(race.value(player, own, other, respond=True)[0].max())
            against = race.value(player, own, race.uniform)[0]
            row["uniform"] += float(own.fleets @ against) / 2
            best = race.value(player, own, race.uniform, respond=True)[0].max()
            row["best"] += float(best) / 2
        rows.append(row)
    return rows


def _compute(study: Study) -> list[dict[str, Any]]:
    settings = study.settings
    return measured(PRESETS[settings.preset].game, settings.iterations)


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    game = PRESETS[study.settings.preset].game
    last, ceiling = rows[-1], best_response_to_uniform(game)
    titles = {
        "iterations": "iterations",
        "value": "value of the race to player 0",
        "nash_conv": "NashConv in the race",
        "uniform": "against uniform play",
        "best": "a best response to uniform play in the race",
    }
    return Report(
        "",
        [
            f"`{game}`. The race is the game without sight of where the other shoots. Returns "
            f"against uniform play are means over both seats. In the game itself a best response "
            f"to uniform play wins {ceiling:.4f}.",
        ],
        {"By iterations": Table(rows, titles)},
        headline=f"{last['uniform']:.3f} at NashConv {last['nash_conv']:.2g}; a best response "
        f"{last['best']:.3f}",
    )


RACE = Experiment(
    name="equilibrium",
    title="What an equilibrium player wins from uniform play in Battleships",
    metric="mean return",
    claim="",
    study=Study,
    compute=_compute,
    render=_report,
)
ROWS = (Row(RACE, "learners/battleships_3x3", Settings(), minutes=6),)
