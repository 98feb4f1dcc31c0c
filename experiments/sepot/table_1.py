"""The gain of search in games too large for exact evaluation: Table 1 of Kubíček et al. (2023).

SePoT on top of a network plays the same network; `protocol` trains separate networks for both. A
critic does not change the network that it is trained with or for.

Returns have the luck removed that the searching network's critic estimates
(`play.control_variates`). Finished matches, and every 64 pairs of games, are not played again.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from experiments.experiment import Experiment, Row
from experiments.sepot import study as sepot_study
from experiments.sepot.study import GameStudy
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.play import registry, zoo
from spiel_dl.runs import head_to_head
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.depth_limit import DepthLimit

Rows = list[dict[str, Any]]
_SUMMARY = "Table 1"
MATCHES = {
    "game": "game",
    "max_histories": "largest search (unique histories)",
    "network": "SePoT's network",
    "opponent": "opponent",
    "games": "games",
    "without_luck": "SePoT's mean return (utility)",
    "half_width_without_luck": "± (95 %)",
    "variance_left": "variance left by control variates",
    "mean": "mean without control variates",
    "half_width": "± without control variates",
}
"""The columns of a table of matches."""
SUMMARY = {
    "game": "game",
    "max_histories": "largest search (unique histories)",
    "played": "networks, games",
    "mean": "SePoT's mean return (utility)",
    "half_width": "± (95 %, over pairs of games)",
    "paper": "paper",
    "searched": "moves searched, seconds per move",
}
"""The columns of a table of `pooled` rows."""


_PAPER = {
    25_000: {
        "goofspiel_8_descending": (1.42, 0.01),
        "goofspiel_8_random": (3.71, 0.03),
        "goofspiel_13_descending": (6.31, 0.01),
        "goofspiel_13_random": (1.17, 0.01),
        "battleships_3x3": (0.44, 0.06),
        "battleships_5x5": (34.58, 0.16),
    },
    100_000: {
        "goofspiel_8_descending": (1.66, 0.02),
        "goofspiel_8_random": (4.47, 0.11),
        "goofspiel_13_descending": (6.28, 0.08),
        "goofspiel_13_random": (1.47, 0.16),
        "battleships_3x3": (2.83, 0.06),
        "battleships_5x5": (36.54, 0.2),
    },
}
"""The paper's mean returns of SePoT against R-NaD, times 100, and half widths of 95% intervals.

By the largest number of unique histories of a search, and by game.
"""


def paper_result(game: str, max_histories: int) -> str | None:
    """The paper's mean return of SePoT against R-NaD ± half its interval, in utility units.

    Args:
      game: name of a preset.
      max_histories: the largest number of unique histories of a search.

    Returns:
      None, if the table has no such game or searches.
    """
    result = _PAPER.get(max_histories, {}).get(game)
    return None if result is None else f"{result[0] / 100:.4f} ± {result[1] / 100:.4f}"


def paper_mean(game: str, max_histories: int) -> float:
    """The mean return of `paper_result` alone; 0 if the table has none."""
    return _PAPER.get(max_histories, {}).get(game, (0.0, 0.0))[0] / 100


@dataclasses.dataclass(frozen=True)
class Settings(sepot_study.Pretrained):
    """Networks, searches and matches; each seed is of another match.

    Attributes:
      bounds: the most unique histories of a search.
      num_games: games of each match.
    """

    bounds: tuple[int, ...] = (25_000, 100_000)
    num_games: int = 1000


Study = sepot_study.Study[Settings]


def _table_1(study: Study) -> Rows:
    """Plays all matches.

    Raises:
      ValueError: if there is no such network, or it has no critic.
    """
    settings, rows = study.settings, []
    for each in study.games():
        name = sepot_study.network_with_critic(settings.network, each.name)
        for bound, seed in itertools.product(settings.bounds, settings.seeds):
            row = play(each, (name, name), (seed, seed), bound, settings.num_games)
            rows.append({**row, "network": name, "opponent": name})
    return rows


def _learned(names: Iterable[str]) -> list[str]:
    """Sentences about the learner steps of networks in the zoo, and of their critics."""
    models = zoo.models()
    return [
        f"{name} learned for {model.blueprint['num_steps']:,} steps, its critic for "
        f"{model.num_steps:,}."
        for name in names
        if (model := models.get(name)) is not None and model.blueprint is not None
    ]


def _table_1_report(study: Study, matches: Rows) -> Report:
    summary = [pooled(own) for own in grouped(matches, "game", "max_histories").values()]
    return Report(
        TABLE_1.title,
        [
            "Returns are in utility units, of pairs of games with both seats and the same luck, "
            "less the luck that the critic tells; the paper's Table 1 shows them times 100. SePoT "
            "searches with its defaults. Moves searched are those of several actions that a search "
            "chose, of all such moves.",
            "Each network has the critic that its file has.",
            *_learned(grouped(matches, "network")),
            *(
                f"{each.describe()}; searches look {each.limits[0]} ahead."
                for each in study.games()
            ),
        ],
        {_SUMMARY: Table(summary, SUMMARY), "All matches": Table(matches, MATCHES)},
    )


def wins(mean: float, half_width: float | None, paper: float = 0.0) -> bool | None:
    """Whether a mean return is above 0, by its interval.

    Args:
      mean: in utility units.
      half_width: half the interval; None: no interval.
      paper: the paper's number; 0: none.

    Returns:
      None if there is no interval, or if it contains both 0 and the paper's number.
    """
    if half_width is None:
        return None
    if mean > half_width:
        return True
    return None if mean + half_width >= paper else False


def _judge(tables: Tables) -> Judgement:
    parts, headlines = {}, []
    for row in tables[_SUMMARY]:
        game, bound, mean = row["game"], row["max_histories"], row["mean"]
        if row["paper"]:
            parts[f"{game}, {bound:,}"] = wins(mean, row["half_width"], paper_mean(game, bound))
        headlines.append(f"{mean:.3f} ± {row['half_width'] or math.nan:.2g} ({bound:,} histories)")
    return Judgement(verdict(parts), "; ".join(headlines))


TABLE_1 = Experiment(
    name="table_1",
    title="SePoT head to head with policy networks",
    metric="mean return (utility)",
    claim=(
        "SePoT wins against R-NaD in all games (Table 1); held against the intervals over "
        "games, of networks that have learned less."
    ),
    study=Study,
    compute=_table_1,
    render=_table_1_report,
    judge=_judge,
    version=2,
)
IN_BATTLESHIPS = "ours: given cfvs, and where searches start"
"""The cause in Battleships 3x3, by `gains`."""
ONE_MOVE = (DepthLimit(moves=1),)
"""In Battleships, so that searches start where the player itself decides, not a shot before."""
# Networks of the zoo and their critics; reports give their learner steps.
ROWS = tuple(
    Row(
        TABLE_1,
        f"sepot/{game}",
        Settings((game,), (0,), limits=limits, bounds=(100_000,), num_games=number),
        "Table 1",
        minutes,
        "one network of three, against itself; one bound of two",
        paper=paper_result(game, 100_000) or "",
        cause="smaller: one network",
    )
    for game, number, minutes, limits in (
        ("goofspiel_8_descending", 1002, 30, ()),
        ("goofspiel_8_random", 1002, 60, ()),
        ("battleships_3x3", 1002, 40, ONE_MOVE),
        ("goofspiel_13_descending", 504, 15, ()),
        ("goofspiel_13_random", 504, 75, ()),
        ("battleships_5x5", 504, 35, ONE_MOVE),
    )
)


def match_seed(seed: int, other: int) -> int:
    """The seed of the match of two networks, different for every pair of their seeds.

    Intervals over all matches assume independent matches. (It is Cantor's pairing function.)
    """
    return (seed + other) * (seed + other + 1) // 2 + other


def play(
    study: GameStudy[Any],
    names: tuple[str, str],
    seeds: tuple[int, int],
    bound: int | None,
    num_games: int,
    **search: Any,
) -> dict[str, Any]:
    """Plays a network, with search on top of it, against another network; returns a row.

    Args:
      study: the game's study; searches look its first limit ahead.
      names: the networks' names in `play.registry`; the first one has a critic.
      seeds: the networks' seeds.
      bound: the most unique histories of a search; None: no search.
      num_games: games of the match.
      search: options of the search, where they are not the defaults; none without search.
    """
    settings, limit, (own, opponent) = study.settings, study.limits[0], names
    match = match_seed(*seeds)
    name = file_name("match", *seeds, bound or "control", num_games, *search.values())
    inputs = {
        "game": study.game,
        "depth_limit": str(limit),
        "iterations": settings.iterations,
        "seed": match,
        "files": [registry.digest(each) for each in names],
        **search,
    }
    options = {
        "depth_limit": limit,
        "max_histories": bound,
        "effort": settings.iterations,
        **search,
    }
    measure = functools.partial(
        head_to_head.measure,
        study.name,
        own if bound is None else f"sepot:{own}",
        opponent,
        num_games=num_games,
        seed=match,
        options={} if bound is None else options,
        control_variates=own,
        device=settings.device,
        workspace=study.workspace.within(name),
        description=name if study.workspace.show_progress else None,
    )
    row = study.workspace.part(name, inputs, measure)
    network, other = (f"seed {seed}" for seed in seeds)
    labels = {"game": study.name, "network": network, "opponent": other}
    return {**row, **labels, "max_histories": bound}


def pooled(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of Table 1 from all matches of a game and bound, with control variates.

    Assumes independent matches of equal size. The interval is over games, for these networks.
    """
    networks = {row["network"] for row in rows}
    widths = [row["half_width_without_luck"] for row in rows]
    defined = [width for width in widths if width is not None]
    half_width = None
    if len(defined) == len(rows):
        half_width = math.sqrt(sum(width**2 for width in defined)) / len(rows)
    games = sum(row["games"] for row in rows)
    line = {
        "game": rows[0]["game"],
        "max_histories": rows[0]["max_histories"],
        "matches": len(rows),
        "games": games,
        "played": f"{len(networks)}, {games:,}",
        "mean": math.fsum(row["without_luck"] for row in rows) / len(rows),
        "half_width": half_width,
    }
    for name in ("share_searched", "seconds_per_move"):
        values = [row[name] for row in rows if row.get(name) is not None]
        line[name] = math.fsum(values) / len(values) if values else None
    share = "-" if line["share_searched"] is None else f"{line['share_searched']:.1%}"
    line["searched"] = f"{share}, {line['seconds_per_move']:.3g} s"
    return {**line, "paper": paper_result(line["game"], line["max_histories"])}
