"""Gain against exploitability of every method: Figures 4 to 7 and 15 of Milec et al. (2024).

`frontier` sweeps all methods in a game against models, and computes whether the paper's claims
hold. `gadgets` asks which p leads CDRNR with which gadget to which response, and how far that is
from the Pareto set; `biased_rps` is `frontier` in the game of Figure 15.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from papers.report import Picture, Report
from papers.responses import sweeps
from papers.responses.contests import Contest
from papers.responses.study import Study
from spiel_dl.algorithms.best_nash import safe_best_response
from spiel_dl.runs.parts import file_name
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Table
from spiel_dl.tree.depth_limit import DepthLimit

FRONTIER_GAMES = ("leduc", "liars_dice")
FRONTIER_MODELS = ("uniform", "cfr:5", "random:0")
GADGET_CONTESTS = (("lost_by_resolving", "fool"), ("lost_by_max_margin", "fool"))
GADGET_LIMIT = DepthLimit(moves=2)
"""Sliding: in a step, player 0's choice is seen only with what the fool does next."""
_RPS_LIMIT = DepthLimit(moves=2)
_NUM_PROBABILITIES = 40
_SAME = 1e-6
# What "almost no exploitability" is taken to be: this part of the gain.
_ALMOST_NONE = 0.1
# "Only slightly above the best Nash equilibrium": less than this times its gain.
_SLIGHTLY = 1.1

_GAIN, _EXPLOITABILITY = "gain (utility)", "exploitability (utility)"
_PANELS = (
    Panel("parameter", "gain", "p, alpha or weight", _GAIN, "linear", "linear"),
    Panel("parameter", "exploitability", "p, alpha or weight", _EXPLOITABILITY, "linear", "linear"),
    Panel("exploitability", "gain", _EXPLOITABILITY, _GAIN, "linear", "linear"),
)
_LABELS = {"game": "game", "model": "model", "player": "player"}
_POINT = {
    "parameter": "parameter",
    "gain": "gain",
    "percent": "percent of best response's gain",
    "exploitability": "exploitability",
    "seconds": "seconds",
}
_NOTES = (
    "Gain and exploitability are in utility units of the game; exploitability is the responding "
    "player's own. All but LBR and the CFR averages come from linear programs, with the optimal "
    "value function; all are judged exactly.",
    "The parameter is p in CDRNR and RNR, alpha in SES, the weight of CDBR in the mix, the bound "
    "of exploitability as a part of a best response's in the Pareto set, and the number of "
    "iterations of the CFR average, which knows no model.",
)

Points = Mapping[str, list[dict[str, Any]]]
"""From a method to its points."""


def frontier(study: Study) -> Report:
    """Figures 5 to 7."""
    contests = [
        (game, model, player)
        for game in study.games(FRONTIER_GAMES)
        for model in study.models(FRONTIER_MODELS)
        for player in study.choices.players
    ]
    return _frontier("frontier", "Gain and exploitability", study, contests, study.choices.sweep)


def biased_rps(study: Study) -> Report:
    """Figure 15: two rounds of biased rock, paper, scissors."""
    sweep = dataclasses.replace(study.choices.sweep, depth_limit=_RPS_LIMIT)
    contests = [("biased_rps", model, 0) for model in study.models(("random:0", "random:1"))]
    title = "Gain and exploitability in two rounds of biased rock, paper, scissors"
    return _frontier("biased_rps", title, study, contests, sweep)


def _frontier(
    name: str,
    title: str,
    study: Study,
    contests: Sequence[tuple[str, str, int]],
    sweep: sweeps.Sweep,
) -> Report:
    rows, claims, pictures = [], [], []
    for game, model, player in contests:
        labels = {"game": game, "model": model, "player": player}
        points = _points(name, study, labels, sweep)
        for method, found in points.items():
            rows += [{**labels, "method": method, **point} for point in found]
        claims += [{**labels, **claim} for claim in check_claims(points)]
        pictures.append(_picture(name, study, labels, points, sweep))
    return Report(
        name,
        title,
        [
            *_NOTES,
            f"CDRNR goes in scheme {sweep.scheme} with a limit of {sweep.depth_limit}; SES has "
            "the same limit, and CDBR slides with it.",
            *([] if name == "biased_rps" else [study.describe(game for game, _, _ in contests)]),
        ],
        {
            "The paper's claims": Table(
                claims,
                {
                    **_LABELS,
                    "claim": "claim",
                    "ours": "ours",
                    "best_nash": "best Nash's gain",
                    "holds": "holds",
                },
            ),
            "All points": Table(rows, {**_LABELS, "method": "method", **_POINT}),
        },
        pictures,
    )


def _points(
    name: str,
    study: Study,
    labels: Mapping[str, Any],
    sweep: sweeps.Sweep,
    only: Sequence[str] = (),
) -> Points:
    """What all methods, or only these, come to in the experiment of a name."""
    contest = study.contest(labels["game"], labels["model"], labels["player"])
    found = {}
    for method, (respond, parameters) in sweeps.methods(contest, sweep).items():
        if only and method not in only:
            continue
        found[method] = study.parts.get(
            file_name(name, *labels.values(), method),
            {
                **labels,
                "depth_limit": str(sweep.depth_limit),
                "scheme": sweep.scheme,
                "parameters": list(parameters),
            },
            functools.partial(sweeps.measure, contest, respond, parameters),
        )
    return found


def _picture(
    name: str, study: Study, labels: Mapping[str, Any], points: Points, sweep: sweeps.Sweep
) -> Picture:
    """Methods without parameter are horizontal lines; those not over 0 to 1 have no place there."""
    groups, levels = {}, {}
    for method, found in points.items():
        if method in (sweeps.BEST_NASH, sweeps.LOCAL):
            levels[method] = {key: found[0][key] for key in ("gain", "exploitability")}
        elif method in (sweeps.PARETO, sweeps.CFR_AVERAGE):
            groups[method] = [{**point, "parameter": math.nan} for point in found]
        else:
            groups[method] = list(found)
    game = study.tree(labels["game"]).game
    title = (
        f"{labels['game'] if str(game) == 'efg_game()' else game}, player {labels['player']} "
        f"against {labels['model']}; depth limit {sweep.depth_limit}, {sweep.scheme}"
    )
    file = file_name(name, *labels.values())
    return Picture(file, title, _PANELS, groups, levels)


def check_claims(points: Points) -> list[dict[str, Any]]:
    """Whether what the paper says of its Figures 5 to 7 holds for the points of one contest.

    Returns:
      For each claim: `claim`, `ours`, the gain that it is about, `best_nash`, the best
      equilibrium's gain, and `holds`, "yes" or "no".
    """
    nash = points[sweeps.BEST_NASH][0]["gain"]
    claims = []

    def claim(text: str, ours: float, holds: bool) -> None:
        verdict = "yes" if holds else "no"
        claims.append({"claim": text, "ours": ours, "best_nash": nash, "holds": verdict})

    safe_methods = [name for name in points if name.startswith("CDRNR")] + [sweeps.RNR]
    for method in safe_methods:
        gains = [
            point["gain"]
            for point in points[method]
            if point["exploitability"] <= _ALMOST_NONE * point["gain"] + _SAME
        ]
        text = f"{method} gains twice as much as the best Nash at exploitability <= gain / 10"
        best = max(gains, default=0.0)
        claim(text, best, best >= 2 * nash and best > _SAME)
    searched = max(point["gain"] for point in points[sweeps.SES])
    claim(
        f"SES gains at most {_SLIGHTLY} times as much as the best Nash, for any alpha",
        searched,
        searched <= _SLIGHTLY * nash + _SAME,
    )
    for method in safe_methods:
        slack = min(
            point["parameter"] * point["gain"] - (1 - point["parameter"]) * point["exploitability"]
            for point in points[method]
        )
        claim(
            f"{method}: p * gain - (1 - p) * exploitability >= 0 for all p",
            slack,
            slack >= -_SAME,
        )
    return claims


def gadgets(study: Study) -> Report:
    """Figure 4's idea: which p leads to which response, and which of them no p leads to."""
    steps = range(1, _NUM_PROBABILITIES)
    sweep = dataclasses.replace(
        study.choices.sweep,
        depth_limit=GADGET_LIMIT,
        scheme="sliding",
        parameters=tuple(step / _NUM_PROBABILITIES for step in steps),
    )
    rows, pictures = [], []
    methods = (sweeps.RNR, *map(sweeps.cdrnr_name, sweep.gadgets))
    for game, model in GADGET_CONTESTS:
        labels = {"game": game, "model": model, "player": 0}
        contest = study.contest(game, model, 0)
        points = _points("gadgets", study, labels, sweep, methods)
        pictures.append(_picture("gadgets", study, labels, points, sweep))
        for method in methods:
            rows += [
                {"game": game, "method": method, **found}
                for found in recovered(contest, points[method])
            ]
    return Report(
        "gadgets",
        "Which p recovers which response, by gadget",
        [
            "Two games in the manner of Milec et al. (2024), Figures 4 and 8, in which player 0 "
            "has five pure responses to a fool, all optimal for some p "
            "(`responses.small_games.lost_actions_efg`). CDRNR slides with a limit of "
            f"{GADGET_LIMIT}; p goes in steps of 1 / {_NUM_PROBABILITIES}. RNR recovers the whole "
            "set; what is missing in the rows of a gadget, it cannot find.",
            _NOTES[0],
        ],
        {
            "Responses": Table(
                rows,
                {
                    "game": "game",
                    "method": "method",
                    "gain": "gain",
                    "exploitability": "exploitability",
                    "from": "from p",
                    "to": "to p",
                    "below_pareto": "gain below the Pareto set's",
                },
            )
        },
        pictures,
    )


def recovered(contest: Contest, points: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """The different responses among points, in the order of p.

    Returns:
      For each one `gain`, `exploitability`, `from` and `to`, the smallest and largest p that lead
      to it, and `below_pareto`, what more could be gained at the same exploitability.
    """
    found: list[dict[str, float]] = []
    for point in sorted(points, key=operator.itemgetter("parameter")):
        same = [
            row
            for row in found
            if all(abs(row[key] - point[key]) < _SAME for key in ("gain", "exploitability"))
        ]
        if same:
            same[0]["to"] = point["parameter"]
            continue
        bound = max(point["exploitability"], 0.0)
        best = safe_best_response(contest.tree, contest.player, contest.model, exploitability=bound)
        found.append(
            {
                "gain": point["gain"],
                "exploitability": point["exploitability"],
                "from": point["parameter"],
                "to": point["parameter"],
                "below_pareto": contest.judge(best)["gain"] - point["gain"],
            }
        )
    return found
