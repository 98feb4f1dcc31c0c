"""Matches of two policies, computed in parallel, and their reports."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spiel_dl.play import matches, presets, registry
from spiel_dl.play.match_results import MatchResult, PairResults
from spiel_dl.play.matches import Policies
from spiel_dl.runs import reports
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system import distributed
from spiel_dl.system.distributed import IN_PROCESS, Engine
from spiel_dl.tree.counts import check_counts
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
_EFFORT_COLUMNS = ("tolerance", "seconds", "variant")
_NO_OPTIONS: dict[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class Match:
    """The configuration of a match.

    Attributes:
      num_games: games in all, an even number; half of them in each seat.
      seed: of chance and of both players' choices.
      pairs_at_once: pairs of games in one part of the match.
      control_variates: a checkpoint whose values reduce the variance, without bias.
      device: torch device of the networks.
    """

    num_games: int = 1000
    seed: int = 0
    pairs_at_once: int = 64
    control_variates: str | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        matches.parts_of(self.num_games, self.pairs_at_once)
        check_counts(self, 0, "seed")


class _Players(NamedTuple):
    """A game, two policies, their options, and digests of their and the control variates' files."""

    game: str
    names: tuple[str, str]
    options: tuple[tuple[str, Any], ...]
    match: Match
    files: tuple[str, str, str | None]


def play(
    game: str,
    first: str,
    second: str,
    *,
    options: Mapping[str, Any] = _NO_OPTIONS,
    engine: Engine = IN_PROCESS,
    workspace: Workspace | None = None,
    description: str | None = None,
    **match: Any,
) -> MatchResult:
    """Plays a match; returns are the same for every engine and number of workers.

    Only searches that stop by time, as by `Effort(seconds=...)`, are not reproducible.

    Args:
      game: game string, or the name of one of `presets.PRESETS`.
      first: name of the first policy, see `play.registry`.
      second: name of the second policy.
      options: options of the policies, as `load_policy` takes them; each uses its own.
      engine: computes the match; each of its processes loads, or solves for, both policies. A
        workspace has an engine of its own.
      workspace: keeps finished parts of the match for later starts; None: nothing is kept.
      description: label of the progress bar on standard error; None: no bar.
      **match: fields of `Match`.

    Raises:
      ValueError: if there is no such game or policy, if a number is out of range, if neither policy
        has an option, or if the workspace is of another match.
    """
    config = Match(**match)
    unknown = options.keys() - registry.options_of(first, second).keys()
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: no options of {first} or {second}; leave them out")
    variates = config.control_variates
    players = _Players(
        presets.game_string(game),
        (first, second),
        tuple(options.items()),
        config,
        (
            registry.digest(first),
            registry.digest(second),
            None if variates is None else registry.digest(variates),
        ),
    )
    _load(players)  # Raises errors before workers are started.
    parts = matches.parts_of(config.num_games, config.pairs_at_once)
    items = [(players, pairs) for pairs in parts]
    if workspace is None:
        results = distributed.map(_play_part, items, engine, description=description)
    else:
        settings = _settings(players)
        keys = [(f"pairs-{pairs.start:06}-{pairs.stop:06}", settings) for pairs in parts]
        results = workspace.parts(keys, _play_part, items, description)
    return MatchResult.of_pairs(map(PairResults.from_json, results))


def measure(
    game: str, first: str, second: str, *, options: Mapping[str, Any] = _NO_OPTIONS, **others: Any
) -> dict[str, Any]:
    """Plays a match and returns its results as a row of a report.

    Means and half widths are in utility units; `wall_clock` is this start's seconds. Arguments and
    errors are those of `play`.
    """
    start = time.perf_counter()
    result = play(game, first, second, options=options, **others)
    wall_clock = time.perf_counter() - start
    workspace, engine = others.get("workspace"), others.get("engine", IN_PROCESS)
    return {
        "game": presets.game_string(game),
        "first": first,
        "second": second,
        "seed": others.get("seed", Match.seed),
        **outcome(result, others.get("control_variates")),
        "wall_clock": wall_clock,
        **registry.reported_options(presets.game_string(game), options, first, second),
        "threads": (workspace.engine if workspace else engine).threads,
    }


def outcome(result: MatchResult, control_variates: str | None = None) -> dict[str, Any]:
    """The entries of a row of `measure` that hold a match's results.

    Args:
      result: the match.
      control_variates: the checkpoint of the control variates; None: there were none.
    """
    row: dict[str, Any] = {
        "games": result.num_games,
        "mean": result.mean_return,
        "half_width": _or_none(result.half_width),
    }
    if result.without_luck is not None:
        row |= {
            "without_luck": result.without_luck.mean,
            "half_width_without_luck": _or_none(result.without_luck.half_width),
            "variance_left": result.variance_left,
            "control_variates": control_variates,
        }
    for player, seat in enumerate(result.seats):
        row |= {
            f"mean_as_{player}": seat.mean,
            f"half_width_as_{player}": _or_none(seat.half_width),
        }
    for suffix, times in zip(("", "_of_second"), result.times, strict=True):
        row |= {
            f"seconds_per_move{suffix}": times.seconds_per_move,
            f"slowest_move{suffix}": times.slowest,
            f"share_searched{suffix}": times.share_searched,
        }
    return row


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """The table of matches from rows of `measure`."""
    return Table(rows, _TITLES)


def report(rows: Sequence[dict[str, Any]]) -> Report:
    """The report of matches from rows of `measure`."""
    games = ", ".join(dict.fromkeys(row["game"] for row in rows))
    notes = ["Returns are in utility units, of pairs of games with both seats and the same luck."]
    if variates := {row["control_variates"]: None for row in rows if "control_variates" in row}:
        notes.append(
            f"Control variates are values of {', '.join(variates)}: the luck of chance and of both "
            "players by them is taken off each return, which leaves the mean as it is."
        )
    options = [
        registry.reported_options(row["game"], {}, row["first"], row["second"]) for row in rows
    ]
    names = dict.fromkeys(name for each in options for name in each)
    columns = ("first", "second", *names, *_EFFORT_COLUMNS)
    titles = {name: name.replace("_", " ") for name in columns}
    tables = {"Matches": table(rows)} | ({"Searches": Table(rows, titles)} if names else {})
    return Report(f"Head to head in {games}", notes, tables)


def write(
    path: str,
    rows: Sequence[dict[str, Any]],
    environment: dict[str, Any],
    workspace: Workspace | None = None,
) -> Path:
    """Writes the report of rows of `measure` to `path`.json and `path`.md.

    Args:
      path: without the ending.
      rows: of `measure`.
      environment: command, time, commit and machine, from `environment.describe_environment`.
      workspace: of the matches' parts; None: there was none.

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


def _settings(players: _Players) -> dict[str, Any]:
    """The settings that determine the games of a match."""
    variates, file = players.match.control_variates, players.files[2]
    return {
        "game": players.game,
        "policies": players.names,
        "files": players.files[:2],
        "search": registry.reported_options(players.game, dict(players.options), *players.names),
        "seed": players.match.seed,
        **({} if variates is None else {"control_variates": [variates, file]}),
    }


def _play_part(item: tuple[_Players, range]) -> dict[str, Any]:
    """Plays some pairs of games; a JSON-serialisable result."""
    players, pairs = item
    policies, values = _load(players)
    return matches.play_pairs(players.game, policies, pairs, players.match.seed, values).to_json()


@functools.lru_cache(maxsize=1)
def _load(players: _Players) -> tuple[Policies, HistoryValues | None]:
    """Both policies, and the control variates; loaded once per process, unless files change."""
    match, options = players.match, dict(players.options)
    game = turn_based_game(players.game)
    first, second = (
        registry.load_policy(
            name, game, device=match.device, **registry.select_options(options, name)
        )
        for name in players.names
    )
    if match.control_variates is None:
        return (first, second), None
    from spiel_dl.play import history_networks  # Imports torch, which not all policies need.

    values = history_networks.load_values(match.control_variates, players.game, match.device)
    return (first, second), values


def _or_none(number: float) -> float | None:
    """None for NaN, which JSON does not have."""
    return None if math.isnan(number) else number
