"""What trust brings: that the opponent has come, and goes on, by the network.

Between SePoT, which trusts nothing, and search without a gadget and without a choice at the leaves
(`readings`) lie searches with some trust (`solvers.trust`). Here critics are exact, and returns
against the network and exploitability are known exactly.
"""

from __future__ import annotations

import math

from experiments.sepot.readings import Rows, rows_of
from experiments.sepot.search_readings import Reading
from experiments.sepot.study import TO_THE_END, Study, within
from experiments.study import Experiment
from spiel_dl.runs.reports import Report, Table

GAMES = ("goofspiel_5_descending", "leduc", "battleships_2x2")
BLUEPRINTS = ("fixed:1", "fixed:2", "fixed:4", "mmd:{game}", "rnad:{game}")
"""As `blueprints.blueprint_of` takes them."""
NONE = (0.0, 0.0)
TRUSTS = (NONE, (0.1, 0.0), (0.3, 0.0), (0.5, 0.0), (0.7, 0.0), (0.3, 0.3), (0.5, 0.5))
"""Of how the opponent has come, and of how it goes on behind the leaves."""
_SAME = 1e-9
_LEAST = 1e-4
"""Searches stop at a gap of this, so a blueprint with less NashConv leaves them nothing to do."""
_SHOWN = ("0, 0", "0.3, 0")
"""In the headline: none, and the largest that made nothing worse where it was tried first."""
_TITLES = {
    "game": "game",
    "blueprint": "blueprint",
    "limit": "depth limit",
    "reading": "trust, behind leaves",
    "before": "blueprint's NashConv",
    "after": "with search",
    "earned": "earned against the blueprint (utility a game)",
    "most": "earned by a best response",
}
_SUMMARY = {
    "game": "game",
    "search": "trust, behind leaves",
    "ratio": "NashConv with search / blueprint's (geometric mean)",
    "worse": "worse than the blueprint",
    "lower": "less exploitable than without trust",
    "earned": "earned / a best response's (mean)",
    "more": "earns more than without trust",
}


def _compute(study: Study) -> Rows:
    readings = {
        _name((trust, leaf_trust)): Reading("", {"trust": trust, "leaf_trust": leaf_trust})
        for trust, leaf_trust in TRUSTS
    }
    return [
        row for each in study.games(*GAMES) for row in rows_of(each, BLUEPRINTS, readings, "trust")
    ]


def _name(trust: tuple[float, float]) -> str:
    return ", ".join(f"{share:g}" for share in trust)


def _summary(rows: Rows, game: str) -> Rows:
    """One line for each trust, of all its rows of a game."""
    by_trust: dict[str, Rows] = {}
    for row in within(rows):
        if row["game"] == game and row["before"] >= _LEAST:
            by_trust.setdefault(row["reading"], []).append(row)
    plain, lines = by_trust[_name(NONE)], []
    for search, own in by_trust.items():
        pairs, number = list(zip(own, plain, strict=True)), len(own)
        logarithms = [math.log(row["after"] / row["before"]) for row in own]
        lines.append(
            {
                "game": game,
                "search": search,
                "ratio": math.exp(math.fsum(logarithms) / number),
                "worse": _of(sum(row["after"] > row["before"] for row in own), number),
                "lower": _of(sum(a["after"] < b["after"] - _SAME for a, b in pairs), number),
                "earned": math.fsum(row["earned"] / row["most"] for row in own) / number,
                "more": _of(sum(a["earned"] > b["earned"] + _SAME for a, b in pairs), number),
            }
        )
    return lines


def _of(count: int, number: int) -> str:
    return f"{count} of {number}"


def _report(study: Study, rows: Rows) -> Report:
    games = study.games(*dict.fromkeys(row["game"] for row in rows))
    summary = [line for each in games for line in _summary(rows, each.name)]
    return Report(
        "",
        [
            "Critics are exact. Returns are exact means over both seats, in utility units, against "
            "a blueprint that does not search; what best responses earn is half of NashConv. "
            f"Searches make at most {study.settings.iterations:,} iterations of predictive CFR+.",
            "Trust is the share of the opponent's reach that has come by its blueprint, where a "
            "search begins; behind leaves, the share that goes on by it. 0, 0 is SePoT as it is.",
            "fixed:K is R-NaD's exact fixed point after K regularisation policies.",
            *(each.describe() + "." for each in games),
            TO_THE_END,
            f"So are blueprints with a NashConv below {_LEAST:g}.",
        ],
        {"By trust": Table(summary, _SUMMARY), "All": Table(rows, _TITLES)},
        headline="NashConv with search / blueprint's, and earned / a best response's: "
        + "; ".join(
            f"{line['game']}, trust {line['search']}: {line['ratio']:.3f}, {line['earned']:.3f}"
            for line in summary
            if line["search"] in _SHOWN
        ),
    )


TRUST = Experiment(
    "trust",
    "What trust in the opponent's network brings SePoT",
    "mean return (utility)",
    "",
    _compute,
    _report,
    ("games", "transformations", "limits", "iterations", "blueprints"),
)
