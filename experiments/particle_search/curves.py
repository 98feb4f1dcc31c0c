"""Exact exploitability of search against its budget of histories.

Every infoset of the game is searched as if its player had just come there, and the table that comes
out is judged by best responses in the whole game. A budget of all histories is SePoT for particles,
and exact order 1 for knowledge-limited search.
"""

from __future__ import annotations

import textwrap
import time
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Experiment, Row
from experiments.particle_search.study import (
    KLSS,
    METHODS,
    Settings,
    Study,
    blueprint_of,
    budget_of,
    compiled,
    part_settings,
    searched,
)
from experiments.verdicts import FAILS, REPRODUCED, Judgement, Tables
from spiel_dl.algorithms import exploitability
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name

_CLAIM = (
    "knowledge-limited search of order 1 at every infoset always lowered exploitability, though "
    "nothing guarantees it (2106.06068, section 6, where subgames reach to the end of the game; "
    "ours look one round ahead)."
)
_MEANS = "By game, method and budget"
_TITLE_WIDTH = 65
"""Characters in a line of a picture's title."""
_WORSE = 1e-6
"""Less is the error of arithmetic."""
_TITLES = {
    "game": "game",
    "method": "method",
    "share": "share of the largest public state",
    "before": "blueprint's exploitability (mean)",
    "after": "with search (mean)",
    "rise": "worst rise (utility)",
    "worse": "blueprints that became worse",
    "seconds": "processor seconds per infoset",
}


class Case(NamedTuple):
    """One search on top of one blueprint."""

    game: str
    blueprint: str
    method: str
    share: float
    seed: int
    settings: Settings

    @property
    def named(self) -> tuple[str, dict[str, Any]]:
        """The name and the settings of a part."""
        told = self._asdict()
        del told["settings"]
        return file_name("curve", *told.values()), part_settings(self.settings, **told)


def evaluate(case: Case) -> dict[str, Any]:
    """Exploitability before and after, in utility units; for `distributed.for_each`."""
    tree = compiled(case.game)
    budget = budget_of(tree, case.share)
    before = exploitability.exploitability(tree, blueprint_of(case.game, case.blueprint))
    start = time.process_time()
    policy = searched(case.game, case.blueprint, case.method, budget, case.settings, case.seed)
    table = ArrayPolicy.from_policy(tree, policy)
    seconds = time.process_time() - start
    return {
        "budget": budget,
        "before": before,
        "after": exploitability.exploitability(tree, table),
        "seconds": seconds / sum(tree.num_infosets(player) for player in (0, 1)),
    }


def _cases(settings: Settings) -> list[Case]:
    return [
        Case(game, blueprint, method, share, seed, settings)
        for game in settings.games
        for blueprint in settings.blueprints
        for method in settings.methods
        for share in settings.shares
        for seed in settings.seeds
    ]


def _compute(study: Study) -> list[dict[str, Any]]:
    cases = _cases(study.settings)
    found = study.workspace.parts([c.named for c in cases], evaluate, cases, "searches")
    rows = []
    for case, result in zip(cases, found, strict=True):
        told = case._asdict()
        del told["settings"]
        rows.append({**told, **result})
    return rows


def _report(study: Study, rows: list[dict[str, Any]]) -> Report:
    settings = study.settings
    means, pictures = [], []
    for game in settings.games:
        curves: dict[str, list[dict[str, Any]]] = {}
        for method in settings.methods:
            told = [_mean(rows, game, method, share) for share in settings.shares]
            means += told
            curves[METHODS[method]] = told
        panel = Panel(
            "share", "after", _TITLES["share"], "exploitability (utility)", "log", "linear"
        )
        level = {"after": float(np.mean([r["before"] for r in rows if r["game"] == game]))}
        name = textwrap.fill(str(compiled(game).game).replace(",", ", "), _TITLE_WIDTH)
        pictures.append(
            Picture(file_name("curves", game), name, [panel], curves, {"blueprints": level})
        )
    return Report(
        "",
        [
            "Exploitability is half of NashConv, in utility units; mean over the blueprints "
            f"{', '.join(settings.blueprints)}. All infosets are searched, {settings.iterations} "
            "iterations of CFR+, one round ahead, with exact critics at leaves and roots.",
            "A budget is a number of histories, at least 2; most public states are smaller than "
            "the largest one, and are held whole by smaller budgets.",
            f"Mirror-descent search makes one step of size {settings.stepsize} (in utility "
            f"ranges) by at least {settings.num_rollouts} rollouts.",
        ],
        {_MEANS: Table(means, _TITLES), "All": Table.of(rows)},
        pictures,
    )


def _judge(tables: Tables) -> Judgement:
    """Of knowledge-limited search with all histories, if it is there."""
    means = tables[_MEANS]
    largest = max(row["share"] for row in means)
    told = "; ".join(
        f"{row['method']} {row['after']:.3g}, worse in {row['worse']}"
        for row in means
        if row["share"] == largest
    )
    before = np.mean([row["before"] for row in means])
    whole = [row for row in means if (row["method"], row["share"]) == (METHODS[KLSS], 1.0)]
    held = all(int(row["worse"].split(" of ")[0]) == 0 for row in whole)
    return Judgement(
        (REPRODUCED if held else FAILS) if whole else "",
        f"{told} (blueprints {before:.3g}; {largest:.0%} of the histories)",
    )


def _mean(rows: list[dict[str, Any]], game: str, method: str, share: float) -> dict[str, Any]:
    own = [r for r in rows if (r["game"], r["method"], r["share"]) == (game, method, share)]
    rises = [row["after"] - row["before"] for row in own]
    return {
        "game": game,
        "method": METHODS[method],
        "share": share,
        **{name: float(np.mean([r[name] for r in own])) for name in ("before", "after")},
        "rise": max(rises),
        "worse": f"{sum(rise > _WORSE for rise in rises)} of {len(rises)}",
        "seconds": float(np.mean([row["seconds"] for row in own])),
    }


CURVES = Experiment(
    name="curves",
    title="Exploitability of search below samples of public states, by budget",
    metric="exploitability (utility) against the share of histories",
    claim=_CLAIM,
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        CURVES,
        "particle_search/goofspiel_4_descending",
        Settings(("goofspiel_4_descending",)),
        minutes=10,
    ),
    Row(
        CURVES,
        "particle_search/leduc",
        Settings(("leduc",), shares=(0.1, 0.3, 1.0)),
        minutes=10,
        short_of="the budget of 1 %, which is 2 histories, as that of 10 % is 3",
    ),
    Row(
        CURVES,
        "particle_search/goofspiel_5_descending",
        Settings(("goofspiel_5_descending",)),
        minutes=25,
    ),
    Row(
        CURVES,
        "particle_search/battleships_2x2",
        Settings(("battleships_2x2",), shares=(1.0,)),
        minutes=25,
        short_of="one budget of four",
    ),
)
