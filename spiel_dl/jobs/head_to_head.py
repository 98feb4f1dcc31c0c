"""A match between two policies, in as many processes as there are, and what it was worth."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import time
from typing import Any

import numpy as np

from spiel_dl.play import matches, registry
from spiel_dl.play.matches import DecisionTime, MatchResult, PairResults, Policies
from spiel_dl.play.presets import PRESETS, TABLE_1
from spiel_dl.play.requests import SearchOptions
from spiel_dl.play.tally import Tally
from spiel_dl.runs import distributed, reports
from spiel_dl.runs.distributed import IN_PROCESS, Engine
from spiel_dl.runs.parts import Parts
from spiel_dl.tree.load import turn_based_game

_TITLES = {
    "first": "first",
    "second": "second",
    "games": "games",
    "mean": "mean return of the first",
    "half_width": "± (95 %, over pairs)",
    "mean_as_0": "as player 0",
    "half_width_as_0": "± (95 %)",
    "mean_as_1": "as player 1",
    "half_width_as_1": "± (95 %)",
    "seconds_per_move": "seconds per move, first (what it has found before is remembered)",
    "slowest_move": "slowest move (s), first",
    "depth_limit": "searches look ahead",
    "max_histories": "histories, at most",
    "budget": "particles, at most",
    "iterations": "iterations",
    "leaf_choice": "choice at leaves",
    "paper": "paper, SePoT against R-NaD",
}


@dataclasses.dataclass(frozen=True)
class HeadToHeadConfig:
    """A match between two policies.

    Attributes:
      game: game string, or the name of one of `presets.PRESETS`.
      first: a policy's name, see `play.registry`.
      second: another one's.
      num_games: how many games, an even number; half of them in each seat.
      seed: of chance and of both players' choices.
      search: how those who search do so.
      pairs_at_once: pairs of games that are one piece of work; networks are asked for all of its
        games at a time.
      device: where networks live.
    """

    game: str
    first: str
    second: str
    num_games: int = 1000
    seed: int = 0
    search: SearchOptions = dataclasses.field(default_factory=SearchOptions)
    pairs_at_once: int = 64
    device: str = "cpu"

    @property
    def game_string(self) -> str:
        """The game string."""
        return PRESETS.get(self.game, self.game)


def play(
    config: HeadToHeadConfig,
    engine: Engine = IN_PROCESS,
    *,
    parts: Parts | None = None,
    description: str | None = None,
) -> MatchResult:
    """Plays a match; returns are the same for every engine and number of workers.

    Args:
      config: who plays what.
      engine: who does the work; each of its processes loads, or solves for, both policies.
      parts: where finished pieces of work are kept, and found by a later start; None: nowhere.
      description: what the progress bar on standard error says; None: no bar.

    Raises:
      ValueError: if there is no such game or policy, if a number is out of range, or if the
        parts are of another match.
    """
    if config.seed < 0:
        raise ValueError(f"seed={config.seed} must not be negative")
    pieces = matches.parts_of(config.num_games, config.pairs_at_once)
    _policies(config)  # what is wrong with them is better told before workers are started
    settings = _settings(config) if parts else {}
    found: dict[range, PairResults] = {}
    if parts:
        kept = {pairs: parts.find(_piece_name(pairs), settings) for pairs in pieces}
        found = {pairs: _from_json(piece) for pairs, piece in kept.items() if piece is not None}
    missing = [pairs for pairs in pieces if pairs not in found]

    def keep(number: int, result: PairResults) -> None:
        found[missing[number]] = result
        if parts:
            kept = {"returns": result.returns.tolist(), "times": result.times}
            parts.keep(_piece_name(missing[number]), settings, kept)

    items = [(config, pairs) for pairs in missing]
    distributed.for_each(_play_part, items, keep, engine, description=description)
    return MatchResult.of_pairs(found[pairs] for pairs in pieces)


def measure(
    config: HeadToHeadConfig,
    engine: Engine = IN_PROCESS,
    *,
    parts: Parts | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """Plays a match and says how it went, as a row of a report; arguments are those of `play`.

    Means and half widths are in utility units; `wall_clock` is this start's seconds.
    """
    start = time.perf_counter()
    result = play(config, engine, parts=parts, description=description)
    wall_clock = time.perf_counter() - start
    row: dict[str, Any] = {
        "game": config.game_string,
        "first": config.first,
        "second": config.second,
        "games": result.num_games,
        "seed": config.seed,
        "mean": result.mean_return,
        "half_width": _known(result.half_width),
        **_seat(0, result.seats[0]),
        **_seat(1, result.seats[1]),
        "seconds_per_move": result.times[0].seconds_per_move,
        "slowest_move": result.times[0].slowest,
        "seconds_per_move_of_second": result.times[1].seconds_per_move,
        "slowest_move_of_second": result.times[1].slowest,
        "wall_clock": wall_clock,
    }
    row.update(
        registry.options_used(config.search, config.first, config.second), threads=engine.threads
    )
    said = paper_result(config)
    return row if said is None else {**row, "paper": said}


def paper_result(config: HeadToHeadConfig) -> str | None:
    """Table 1's result, in utility units, of SePoT against R-NaD in a game that it has."""
    if not config.first.startswith("sepot:"):
        return None
    game = next((name for name, text in PRESETS.items() if text == config.game_string), "")
    found = TABLE_1.get(config.search.max_histories, {}).get(game)
    return None if found is None else f"{found[0] / 100:.4f} ± {found[1] / 100:.4f}"


def table(rows: list[dict[str, Any]]) -> str:
    """Rows of `measure` as Markdown, without the columns that none of them has."""
    titles = {name: title for name, title in _TITLES.items() if any(name in row for row in rows)}
    return reports.Table(rows, titles).to_markdown()


def write(
    path: str,
    rows: list[dict[str, Any]],
    environment: dict[str, Any],
    parts: Parts | None = None,
) -> None:
    """Writes rows of `measure` to `path`.json and `path`.md.

    Args:
      path: where, without the ending.
      rows: what was measured.
      environment: command, time, commit and machine, as `io.run_directory.describe_environment`
        says them.
      parts: where pieces of the matches were kept; None: nowhere.
    """
    games = ", ".join(dict.fromkeys(row["game"] for row in rows))
    commits = sorted(parts.commits) if parts else []
    seconds = sum(row["wall_clock"] for row in rows)
    text = "\n".join(
        [
            f"# Head to head in {games}\n",
            "Returns are in utility units, of pairs of games with both seats and the same luck.\n",
            table(rows),
            reports.describe_run(environment),
            reports.describe_machine(environment, ", ".join({row["threads"]: None for row in rows}))
            + f" Wall-clock of this start: {seconds:.0f} s."
            + reports.describe_parts(commits),
        ]
    )
    content = {"rows": rows, "environment": environment, "commits_of_parts": commits}
    reports.write_report(path, content, text)


def _piece_name(pairs: range) -> str:
    return f"pairs-{pairs.start:06}-{pairs.stop:06}"


def _from_json(kept: dict[str, Any]) -> PairResults:
    first, second = (DecisionTime(*times) for times in kept["times"])
    return PairResults(np.array(kept["returns"]), (first, second))


def _settings(config: HeadToHeadConfig) -> dict[str, Any]:
    """What the games of a match depend on."""
    names = (config.first, config.second)
    return {
        "game": config.game_string,
        "policies": names,
        "files": [_digest(name) for name in names],
        "search": registry.options_used(config.search, *names),
        "seed": config.seed,
    }


def _digest(name: str) -> str:
    """A hash of the files that a policy is made of; empty if there are none."""
    path = registry.path_in(name)
    if path is None:
        return ""
    files = [path] if path.is_file() else sorted(path.glob("*.safetensors"))
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest() if files else ""


def _play_part(item: tuple[HeadToHeadConfig, range]) -> PairResults:
    config, pairs = item
    policies = _policies(config)
    return matches.play_pairs(config.game_string, policies, pairs, config.seed)


def _policies(config: HeadToHeadConfig) -> Policies:
    """Both policies. Each process loads them once."""
    names = (config.first, config.second)
    return _load(config.game_string, names, config.search, config.device)


@functools.lru_cache(maxsize=1)
def _load(game_string: str, names: tuple[str, str], search: SearchOptions, device: str) -> Policies:
    game = turn_based_game(game_string)
    settings = search.keywords()
    first, second = (registry.load_policy(name, game, device=device, **settings) for name in names)
    return first, second


def _seat(player: int, tally: Tally) -> dict[str, float | None]:
    return {
        f"mean_as_{player}": tally.mean,
        f"half_width_as_{player}": _known(tally.half_width),
    }


def _known(number: float) -> float | None:
    """None for NaN, which JSON does not have."""
    return None if math.isnan(number) else number
