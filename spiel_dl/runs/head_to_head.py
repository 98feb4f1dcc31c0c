"""A match of two policies, in as many processes as there are, and what it was worth."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spiel_dl.play import matches, presets, registry
from spiel_dl.play.matches import MatchResult, PairResults, Policies
from spiel_dl.play.requests import SearchOptions
from spiel_dl.play.tally import Tally
from spiel_dl.runs import reports
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system import distributed
from spiel_dl.system.distributed import IN_PROCESS, Engine
from spiel_dl.tree.load import turn_based_game

if TYPE_CHECKING:
    from spiel_dl.play.control_variates import HistoryValues

_TITLES = {
    "first": "first",
    "second": "second",
    "games": "games",
    "mean": "mean return of the first",
    "half_width": "± (95 %, over pairs)",
    "without_luck": "mean, with control variates",
    "half_width_without_luck": "± (95 %, over pairs), with control variates",
    "share_searched": "moves searched, first",
    "mean_as_0": "as player 0",
    "mean_as_1": "as player 1",
    "seconds_per_move": "seconds per move, first (what it has found before is remembered)",
    "slowest_move": "slowest move (s), first",
    "half_width_as_0": "± as player 0",
    "half_width_as_1": "± as player 1",
    "variance_left": "variance that control variates leave",
}
_SEARCH = {
    "depth_limit": "searches look ahead",
    "max_histories": "histories, at most",
    "budget": "particles, at most",
    "gadget": "gadget",
    "order": "order of knowledge",
    "safety": "safety",
    "num_expansions": "expansions",
    "stepsize": "stepsize",
    "num_rollouts": "rollouts, at least",
    "iterations": "iterations",
    "tolerance": "tolerance",
    "seconds": "seconds, at most",
    "variant": "variant of CFR",
    "leaf_choice": "choice at leaves",
    "player": "who responds",
}
_SEARCH_OPTIONS = SearchOptions()
# What `_load` takes: the game string, both policies' names, how they search, the device, and the
# digests of both policies.
_Players = tuple[str, tuple[str, str], SearchOptions, str, tuple[str, str]]
# What `_load_values` takes: a checkpoint's name, the game string, the device, and the digest.
_Values = tuple[str, str, str, str]


def play(
    game: str,
    first: str,
    second: str,
    *,
    num_games: int = 1000,
    seed: int = 0,
    search: SearchOptions = _SEARCH_OPTIONS,
    pairs_at_once: int = 64,
    control_variates: str | None = None,
    device: str = "cpu",
    engine: Engine = IN_PROCESS,
    workspace: Workspace | None = None,
    description: str | None = None,
) -> MatchResult:
    """Plays a match; returns are the same for every engine and number of workers.

    Args:
      game: game string, or the name of one of `presets.PRESETS`.
      first: a policy's name, see `play.registry`.
      second: another one's.
      num_games: how many games, an even number; half of them in each seat.
      seed: of chance and of both players' choices.
      search: how those who search do so.
      pairs_at_once: pairs of games in one part of the match.
      control_variates: a checkpoint whose values take luck out, without bias.
      device: where networks live.
      engine: who does the work; each of its processes loads, or solves for, both policies. A
        workspace has an engine of its own.
      workspace: where finished parts of the match are kept, and found by a later start; None:
        nowhere.
      description: what the progress bar on standard error says; None: no bar.

    Raises:
      ValueError: if there is no such game or policy, if a number is out of range, or if the
        workspace is of another match.
    """
    if seed < 0:
        raise ValueError(f"seed={seed} must not be negative")
    if search.safety == "updated":
        raise ValueError(
            "safety='updated' makes answers depend on earlier games, so that games of a match are "
            "not independent; use 'allocated', or another search"
        )
    parts = matches.parts_of(num_games, pairs_at_once)
    game_string, names = presets.game_string(game), (first, second)
    files = (registry.digest(first), registry.digest(second))
    players: _Players = (game_string, names, search, device, files)
    _load(*players)  # what is wrong with them is better told before workers are started
    values: _Values | None = None
    if control_variates is not None:
        values = (control_variates, game_string, device, registry.digest(control_variates))
        _load_values(*values)
    items = [(players, pairs, seed, values) for pairs in parts]
    if workspace is None:
        found = distributed.map(_play_part, items, engine, description=description)
    else:
        settings = _settings(players, seed, values)
        named = [(_part_name(pairs), settings) for pairs in parts]
        found = workspace.parts(named, _play_part, items, description)
    return MatchResult.of_pairs(map(PairResults.from_json, found))


def measure(
    game: str,
    first: str,
    second: str,
    *,
    num_games: int = 1000,
    seed: int = 0,
    search: SearchOptions = _SEARCH_OPTIONS,
    pairs_at_once: int = 64,
    control_variates: str | None = None,
    device: str = "cpu",
    engine: Engine = IN_PROCESS,
    workspace: Workspace | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """Plays a match and says how it went, as a row of a report.

    Means and half widths are in utility units; `wall_clock` is this start's seconds.

    Args:
      game: game string, or the name of one of `presets.PRESETS`.
      first: a policy's name, see `play.registry`.
      second: another one's.
      num_games: how many games, an even number; half of them in each seat.
      seed: of chance and of both players' choices.
      search: how those who search do so.
      pairs_at_once: pairs of games in one part of the match.
      control_variates: a checkpoint whose values take luck out, without bias.
      device: where networks live.
      engine: as for `play`.
      workspace: as for `play`.
      description: as for `play`.

    Raises:
      ValueError: as `play`.
    """
    start = time.perf_counter()
    result = play(
        game,
        first,
        second,
        num_games=num_games,
        seed=seed,
        search=search,
        pairs_at_once=pairs_at_once,
        control_variates=control_variates,
        device=device,
        engine=engine,
        workspace=workspace,
        description=description,
    )
    wall_clock = time.perf_counter() - start
    return {
        "game": presets.game_string(game),
        "first": first,
        "second": second,
        "seed": seed,
        **outcome(result, control_variates),
        "wall_clock": wall_clock,
        **registry.options_used(search, first, second),
        "threads": (workspace.engine if workspace else engine).threads,
    }


def outcome(result: MatchResult, control_variates: str | None = None) -> dict[str, Any]:
    """What a row of `measure` says of how a match went.

    Args:
      result: the match.
      control_variates: what told the luck in it; None: nothing did.
    """
    return {
        "games": result.num_games,
        "mean": result.mean_return,
        "half_width": _known(result.half_width),
        **_without_luck(result, control_variates),
        **_seat(0, result.seats[0]),
        **_seat(1, result.seats[1]),
        "seconds_per_move": result.times[0].seconds_per_move,
        "slowest_move": result.times[0].slowest,
        "share_searched": result.times[0].share_searched,
        "seconds_per_move_of_second": result.times[1].seconds_per_move,
        "slowest_move_of_second": result.times[1].slowest,
        "share_searched_of_second": result.times[1].share_searched,
    }


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """How matches went, of rows of `measure`."""
    return Table(rows, _TITLES)


def searches(rows: Sequence[dict[str, Any]]) -> Table | None:
    """How those who searched did so; None if nobody did."""
    found = [row for row in rows if any(name in row for name in _SEARCH)]
    return Table(found, {"first": "first", "second": "second", **_SEARCH}) if found else None


def report(rows: Sequence[dict[str, Any]]) -> Report:
    """What matches were worth, of rows of `measure`."""
    games = ", ".join(dict.fromkeys(row["game"] for row in rows))
    looked = searches(rows)
    notes = ["Returns are in utility units, of pairs of games with both seats and the same luck."]
    if used := {row["control_variates"]: None for row in rows if "control_variates" in row}:
        notes.append(
            f"Control variates are values of {', '.join(used)}: the luck of chance and of both "
            "players by them is taken off each return, which leaves the mean as it is."
        )
    return Report(
        f"Head to head in {games}",
        notes,
        {"Matches": table(rows)} | ({} if looked is None else {"Searches": looked}),
    )


def write(
    path: str,
    rows: Sequence[dict[str, Any]],
    environment: dict[str, Any],
    workspace: Workspace | None = None,
) -> Path:
    """Writes the report of rows of `measure` to `path`.json and `path`.md.

    Args:
      path: where, without the ending.
      rows: what was measured.
      environment: command, time, commit and machine, as `environment.describe_environment`
        says them.
      workspace: where parts of the matches were kept; None: nowhere.

    Returns:
      The path of the Markdown file.
    """
    return reports.write(
        report(rows),
        path,
        environment,
        seconds=sum(row["wall_clock"] for row in rows),
        workspace=workspace,
        used=", ".join({row["threads"]: None for row in rows}),
    )


def _part_name(pairs: range) -> str:
    return f"pairs-{pairs.start:06}-{pairs.stop:06}"


def _settings(players: _Players, seed: int, values: _Values | None) -> dict[str, Any]:
    """What the games of a match depend on."""
    game_string, names, search, _, files = players
    also = {} if values is None else {"control_variates": [values[0], values[-1]]}
    return {
        "game": game_string,
        "policies": names,
        "files": files,
        "search": registry.options_used(search, *names),
        "seed": seed,
        **also,
    }


def _play_part(item: tuple[_Players, range, int, _Values | None]) -> dict[str, Any]:
    """Some pairs of games, as JSON can hold them."""
    players, pairs, seed, known = item
    values = None if known is None else _load_values(*known)
    return matches.play_pairs(players[0], _load(*players), pairs, seed, values).to_json()


@functools.lru_cache(maxsize=1)
def _load_values(name: str, game_string: str, device: str, file: str) -> HistoryValues:
    """Each process loads them once, and again if the digest of their file is another."""
    del file
    from spiel_dl.play import history_networks  # With torch, which not all players need.

    return history_networks.load_values(name, game_string, device)


@functools.lru_cache(maxsize=1)
def _load(
    game_string: str,
    names: tuple[str, str],
    search: SearchOptions,
    device: str,
    files: tuple[str, str],
) -> Policies:
    """Both policies. Each process loads them once, and again if a digest of files is another."""
    del files
    game = turn_based_game(game_string)
    first, second = (
        registry.load_policy(name, game, device=device, **registry.keywords_of(search, name))
        for name in names
    )
    return first, second


def _without_luck(result: MatchResult, control_variates: str | None) -> dict[str, Any]:
    """What control variates say of a match; nothing without any."""
    if result.without_luck is None:
        return {}
    return {
        "without_luck": result.without_luck.mean,
        "half_width_without_luck": _known(result.without_luck.half_width),
        "variance_left": result.variance_left,
        "control_variates": control_variates,
    }


def _seat(player: int, tally: Tally) -> dict[str, float | None]:
    return {
        f"mean_as_{player}": tally.mean,
        f"half_width_as_{player}": _known(tally.half_width),
    }


def _known(number: float) -> float | None:
    """None for NaN, which JSON does not have."""
    return None if math.isnan(number) else number
