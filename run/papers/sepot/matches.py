"""What search adds in games that are too large to judge: Kubíček et al. (2023), 2 and 5.1.

`table_1`: SePoT on top of every network head to head with the networks of the other seeds. The
paper trains networks without critic for these; here a critic changes nothing for the network that
it is trained with, so any other seed's will do. With one seed only, it is the same network.

`position`: how much of each network's policy is on the rational tiles in the Battleships position
of section 2, before and after search.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from papers.sepot import position as sepot_position
from papers.sepot.study import TRAINED, GameStudy, Study
from papers.study import Experiment, verdict
from spiel_dl.jobs import head_to_head
from spiel_dl.learning import checkpoints
from spiel_dl.play.presets import TABLE_1 as TABLE_1_BY_BOUND
from spiel_dl.play.presets import game_string
from spiel_dl.play.requests import SearchOptions
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.solvers.effort import Effort

POSITION_GAME = "battleships_5x5"
Rows = list[dict[str, Any]]
_MATCHES = {
    "game": "game",
    "max_histories": "largest search (unique histories)",
    "network": "SePoT's network",
    "opponent": "opponent",
    "games": "games",
    "mean": "SePoT's mean return (utility)",
    "half_width": "± (95 %)",
    "share_searched": "moves searched",
}
_TABLE_1 = {
    "game": "game",
    "max_histories": "largest search (unique histories)",
    "games": "games",
    "mean": "SePoT's mean return (utility)",
    "half_width": "± (95 %, over pairs of games)",
    "paper": "paper",
    "share_searched": "moves searched",
    "seconds_per_move": "seconds per move",
}


def _table_1(study: Study) -> tuple[Rows, Rows]:
    """Mean returns of SePoT against networks by bound of public states, and all matches."""
    matches, summary = [], []
    for each in study.games("goofspiel_8_descending", "battleships_3x3", "battleships_5x5"):
        each.train()
        for most in TABLE_1_BY_BOUND:
            rows = [
                _match(each, seed, other, most)
                for seed in study.settings.seeds
                for other in _opponents(study.settings.seeds, seed)
            ]
            matches += rows
            summary.append(pooled(rows))
    return summary, matches


def _table_1_report(study: Study, found: tuple[Rows, Rows]) -> Report:
    summary, matches = found
    games = study.games(*dict.fromkeys(row["game"] for row in summary))
    return Report(
        TABLE_1.title,
        [
            "Returns are in utility units, of pairs of games with both seats and the same luck; "
            "the paper's Table 1 shows them times 100. SePoT searches with its defaults. Moves "
            "searched are those of several actions that a search chose, of all such moves.",
            *(f"{each.describe()}; searches look {each.limits[0]} ahead." for each in games),
        ],
        {"Table 1": Table(summary, _TABLE_1), "All matches": Table(matches, _MATCHES)},
        verdict=verdict(row["mean"] > 0 for row in summary if row["paper"]),
    )


TABLE_1 = Experiment(
    "table_1",
    "SePoT head to head with policy networks",
    "mean return (utility)",
    "SePoT wins against R-NaD in all games (Table 1); held against the means, which are of "
    "networks that have learned much less.",
    _table_1,
    _table_1_report,
    (*TRAINED, "num_games"),
)


def _position(study: Study) -> Rows:
    """Section 2: the rational tiles, by the network and by search.

    Raises:
      ValueError: if a game is another one.
    """
    rows = []
    for each in study.games(POSITION_GAME):
        if each.game != str(sepot_position.position().get_game()):
            raise ValueError(
                f"the position is one of {game_string(POSITION_GAME)}, not of {each.game}; use "
                f"games={POSITION_GAME}"
            )
        each.train()
        for step in study.settings.steps:
            rows += [_answer(each, seed, step) for seed in study.settings.seeds]
    return rows


def _position_report(study: Study, rows: Rows) -> Report:
    search = sepot_position.SEARCH
    last = [row for row in rows if row["step"] == study.settings.num_steps]
    return Report(
        POSITION.title,
        [
            "Probability of shooting at one of the five tiles that can hold anything: "
            f"{', '.join(sepot_position.RATIONAL_TILES)}.",
            f"Search: {search.depth_limit} ahead, {search.effort.iterations} iterations of CFR+.",
        ],
        {
            "By seed and step": Table.of(
                rows,
                step="learner steps",
                network="network, on rational tiles",
                search="search, on rational tiles",
                seconds="seconds of search",
            )
        },
        verdict=verdict(row["search"] > row["network"] for row in last),
    )


POSITION = Experiment(
    "position",
    "The Battleships position of section 2",
    "probability of the rational tiles",
    "the network had slightly above 0.4 after three days of training; search sees what matters.",
    _position,
    _position_report,
    TRAINED,
)


def match_seed(seed: int, other: int) -> int:
    """The seed of the match of two networks, of these seeds: another one for every pair.

    Intervals over all matches take them to be independent. (It is Cantor's pairing function.)
    """
    return (seed + other) * (seed + other + 1) // 2 + other


def _opponents(seeds: Sequence[int], seed: int) -> list[int]:
    others = [other for other in seeds if other != seed]
    return others or [seed]


def _match(study: GameStudy, seed: int, other: int, most: int) -> dict[str, Any]:
    settings = study.settings
    own, others = (str(study.checkpoint(number)) for number in (seed, other))
    match = match_seed(seed, other)
    name = file_name("match", seed, other, settings.num_steps, most, settings.num_games)
    told = {
        "game": study.game,
        "depth_limit": str(study.limits[0]),
        "iterations": settings.iterations,
        "seed": match,
    }
    measure = functools.partial(
        head_to_head.measure,
        study.name,
        f"sepot:{own}",
        others,
        num_games=settings.num_games,
        seed=match,
        search=SearchOptions(study.limits[0], most, Effort(settings.iterations)),
        device=settings.device,
        engine=study.workspace.engine,
        description=name if study.workspace.show_progress else None,
    )
    row = study.workspace.part(name, told, measure)
    labels = {"game": study.name, "network": f"seed {seed}", "opponent": f"seed {other}"}
    return {**row, **labels, "max_histories": most}


def pooled(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of Table 1, of all matches of a game and bound.

    They are taken to be of equal size, and to have luck of their own.
    """
    widths = [row["half_width"] for row in rows]
    known = [width for width in widths if width is not None]
    found = {
        "game": rows[0]["game"],
        "max_histories": rows[0]["max_histories"],
        "matches": len(rows),
        "games": sum(row["games"] for row in rows),
        "mean": math.fsum(row["mean"] for row in rows) / len(rows),
        "half_width": None,
    }
    if len(known) == len(rows):
        found["half_width"] = math.sqrt(sum(width**2 for width in known)) / len(rows)
    # What `head_to_head.paper_result` says is the same for all of them.
    for name in ("share_searched", "seconds_per_move"):
        told = [row[name] for row in rows if row.get(name) is not None]
        found[name] = math.fsum(told) / len(told) if told else None
    return {**found, "paper": rows[0].get("paper")}


def _answer(study: GameStudy, seed: int, step: int) -> dict[str, Any]:
    search = sepot_position.SEARCH
    settings = {
        "game": study.game,
        "depth_limit": str(search.depth_limit),
        "iterations": search.effort.iterations,
    }

    def measure() -> dict[str, float]:
        blueprint, critic = checkpoints.load(study.checkpoint(seed, step))
        assert isinstance(blueprint, NetworkPolicy)  # The game is too large for tables.
        return sepot_position.measure(blueprint, critic)._asdict()

    name = file_name("position seed", seed, "step", step)
    return {"seed": seed, "step": step, **study.workspace.part(name, settings, measure)}
