"""Search below samples against its network, and against SePoT, where few public states are small.

SePoT leaves searches of too many histories to the network; a search below samples need not. Both
are played against each other, and against the network alone.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.particle_search import matches
from experiments.particle_search.study import METHODS, Settings, Study
from experiments.study import Experiment, Judgement, Tables, verdict
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.search.sepot_config import DEFAULT_EFFORT

Rows = list[dict[str, Any]]
_NETWORK, _SEPOT = "the network", "SePoT"
_CLAIM = (
    "has no such experiment; held is that in every game some search chooses every move and wins "
    "against {}, the interval being above 0."
)
_TITLES = {
    "game": "game",
    "method": "search",
    "opponent": "opponent",
    "games": "games",
    "without_luck": "mean return (utility)",
    "half_width_without_luck": "± (95 %)",
    "share_searched": "share of moves searched",
    "seconds_per_move": "seconds per move",
    "slowest_move": "slowest move (s)",
    "share_searched_of_second": "share of moves searched, opponent",
    "seconds_per_move_of_second": "seconds per move, opponent",
    "mean": "mean return, luck included",
    "half_width": "± (95 %), luck included",
}


def _search(method: str, settings: Settings) -> dict[str, Any]:
    """How both sides search: with the same effort, where they solve subgames."""
    own = {"effort": settings.iterations, "max_histories": settings.max_histories}
    return matches.options_of(method, settings) | own


def _rows(study: Study, opponents: Sequence[str]) -> Rows:
    settings, rows = study.settings, []
    for game in settings.large_games:
        for method in settings.methods:
            first, network = matches.names_of(game, method, settings)
            told = {
                **matches.told_of(game, method, settings),
                "max_histories": settings.max_histories,
            }
            for opponent in opponents:
                second = f"sepot:{network}" if opponent == _SEPOT else network
                name = file_name(
                    "against", opponent, game, method, settings.budget, settings.num_games
                )
                row = matches.play(
                    study,
                    name,
                    {**told, "opponent": opponent},
                    game,
                    (first, second),
                    _search(method, settings),
                    pairs_at_once=10,
                    control_variates=network,
                )
                rows.append({**row, "game": game, "method": METHODS[method], "opponent": opponent})
    return rows


def _is_above(row: Mapping[str, Any]) -> bool:
    """Whether every move was searched, and the interval is above 0."""
    above = row["without_luck"] > row["half_width_without_luck"]
    return bool(above and row["share_searched"] == 1)


def _report(study: Study, rows: Rows) -> Report:
    settings = study.settings
    return Report(
        "",
        [
            "Returns are in utility units, of pairs of games with both seats and the same luck, "
            "less the luck that the network's critic tells. Moves searched are those of several "
            "actions that a search chose, of all such moves.",
            f"Searches below samples start from at most {settings.budget} histories; those below "
            f"particles solve their subgames by {_effort(settings)}, and mirror-descent search "
            f"makes a step of size {settings.stepsize} (in utility ranges) by at least "
            f"{settings.num_rollouts} rollouts. The network is `{settings.network}`. "
            + _of_sepot(settings, rows),
        ],
        {"Matches": Table(rows, _TITLES)},
    )


def _judge(tables: Tables, opponent: str) -> Judgement:
    """Whether in every game some search wins against an opponent, and searches every move."""
    [rows] = tables.values()
    games = dict.fromkeys(row["game"] for row in rows)
    winners = {row["game"] for row in rows if row["opponent"] == opponent and _is_above(row)}
    return Judgement(
        verdict({game: game in winners for game in games}),
        "; ".join(
            f"{row['game']}, {row['method']} against {row['opponent']}: "
            f"{row['without_luck']:.3f} ± {row['half_width_without_luck']:.3f}"
            for row in rows
        ),
    )


def _of_sepot(settings: Settings, rows: Rows) -> str:
    """How SePoT searches, if it does."""
    if all(row["opponent"] != _SEPOT for row in rows):
        return ""
    return (
        f"SePoT solves its subgames alike, and leaves searches of more than "
        f"{settings.max_histories:,} histories to the network."
    )


def _effort(settings: Settings) -> str:
    """How subgames are solved, in words."""
    return (
        f"at most {settings.iterations} iterations of predictive CFR+, or until the gap is "
        f"{DEFAULT_EFFORT.tolerance:g}"
    )


OPPONENTS = Experiment(
    "opponents",
    "Search below samples against its network and against SePoT",
    "mean return (utility)",
    _CLAIM.format(_SEPOT),
    functools.partial(_rows, opponents=(_NETWORK, _SEPOT)),
    _report,
    (*matches.USES, "num_games", "max_histories"),
    functools.partial(_judge, opponent=_SEPOT),
)
AGAINST_NETWORK = Experiment(
    "against_network",
    "Search below samples against its network, many games",
    "mean return (utility)",
    _CLAIM.format(_NETWORK),
    functools.partial(_rows, opponents=(_NETWORK,)),
    _report,
    (*matches.USES, "num_games"),
    functools.partial(_judge, opponent=_NETWORK),
)
