"""Gain against exploitability of every method: Figures 5 and 15 of Milec et al. (2024).

`frontier` sweeps all methods in a game against models, and computes whether the paper's claims
hold; `biased_rps` is `frontier` in the game of Figure 15.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.responses import sweeps
from experiments.responses.study import CHOICES, SWEEP, Labels, Settings, Study
from experiments.study import CONTRADICTED, Experiment, Judgement, Tables, verdict
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name
from spiel_dl.tree.depth_limit import DepthLimit

FRONTIER_GAMES = ("leduc", "liars_dice")
FRONTIER_MODELS = ("uniform", "cfr:5", "random:0")
_RPS_LIMIT = DepthLimit(moves=2)
_RPS_PLAYER = 0
SAME = 1e-6
"""Gains and exploitabilities closer than this are the same."""
_PAPERS_GADGETS = ("full", "resolving", "max_margin", "reach_max_margin")
# What "almost no exploitability" is taken to be: this part of the gain.
_ALMOST_NONE = 0.1
# "Only slightly above the best Nash equilibrium": less than this times its gain.
_SLIGHTLY = 1.1
# "Nothing": this part of what the full gadget gains at most.
_NOTHING = 0.01
_HALF = 0.5
"""Where the bound on a response's exploitability is its gain."""
_CLAIMS, _POINTS = "The paper's claims", "All points"

METRIC = "gain and exploitability (utility)"
_GAIN, _EXPLOITABILITY = "gain (utility)", "exploitability (utility)"
_PANELS = (
    Panel("parameter", "gain", "p, alpha or weight", _GAIN, "linear", "linear"),
    Panel("parameter", "exploitability", "p, alpha or weight", _EXPLOITABILITY, "linear", "linear"),
    Panel("exploitability", "gain", _EXPLOITABILITY, _GAIN, "linear", "linear"),
)
NOTES = (
    "Gain and exploitability are in utility units of the game; exploitability is the responding "
    "player's own. All but LBR and the CFR averages come from linear programs, with the optimal "
    "value function; all are judged exactly.",
    "The parameter is p in CDRNR and RNR, alpha in SES, the weight of CDBR in the mix, the bound "
    "of exploitability as a part of a best response's in the Pareto set, and the number of "
    "iterations of the CFR average, which knows no model.",
)

Points = Mapping[str, list[dict[str, Any]]]
"""From a method to its points."""
Found = list[tuple[Labels, Points]]
"""The points of everybody who responds."""


def measure(
    name: str, study: Study, labels: Labels, settings: Settings, only: Sequence[str] = ()
) -> Points:
    """What all methods, or only these, come to in the experiment of a name."""
    responder, found = study.responder(**labels), {}
    for method, (respond, parameters) in sweeps.methods(responder, settings).items():
        if only and method not in only:
            continue
        found[method] = study.workspace.part(
            file_name(name, *labels.values(), method),
            {
                **labels,
                "depth_limit": str(settings.depth_limit),
                "scheme": settings.scheme,
                "parameters": list(parameters),
            },
            functools.partial(sweeps.measure, responder, respond, parameters),
        )
    return found


def _frontier_points(study: Study) -> Found:
    """Figure 5: all methods against every model."""
    return [
        (labels, measure("frontier", study, labels, study.settings))
        for labels in study.responders(FRONTIER_GAMES, FRONTIER_MODELS)
    ]


def _rps_settings(study: Study) -> Settings:
    return dataclasses.replace(study.settings, depth_limit=_RPS_LIMIT)


def _rps_points(study: Study) -> Found:
    """Figure 15: two rounds of biased rock, paper, scissors."""
    found = []
    for model in study.settings.models or ("random:0", "random:1"):
        labels = {"game": "biased_rps", "model": model, "player": _RPS_PLAYER}
        found.append((labels, measure("biased_rps", study, labels, _rps_settings(study))))
    return found


def _frontier_report(study: Study, found: Found) -> Report:
    games = study.describe(labels["game"] for labels, _ in found)
    return _report(FRONTIER, study, found, study.settings, [games], {})


def _rps_report(study: Study, found: Found) -> Report:
    settings = _rps_settings(study)
    used = {"depth_limit": str(settings.depth_limit), "players": [_RPS_PLAYER]}
    return _report(BIASED_RPS, study, found, settings, [], used)


def _report(
    experiment: Experiment[Study],
    study: Study,
    found: Found,
    settings: Settings,
    notes: Sequence[str],
    used: Mapping[str, Any],
) -> Report:
    rows, claims, pictures = [], [], []
    for labels, points in found:
        for method, lines in points.items():
            rows += [{**labels, "method": method, **point} for point in lines]
        if experiment is FRONTIER:
            claims += [{**labels, **claim} for claim in check_claims(points)]
        pictures.append(picture(experiment.name, study, labels, points, settings))
    return Report(
        experiment.title,
        [
            *NOTES,
            f"CDRNR goes in scheme {settings.scheme} with a limit of {settings.depth_limit}; SES "
            "has the same limit, and CDBR slides with it.",
            *notes,
        ],
        {
            **({_CLAIMS: Table.of(claims, best_nash="best Nash's gain")} if claims else {}),
            _POINTS: Table.of(rows, percent="percent of best response's gain"),
        },
        pictures,
        more={"settings": used},
    )


def _judge_frontier(tables: Tables) -> Judgement:
    """By the paper's own method, CDRNR with the full gadget, and SES; the others are told."""
    own = sweeps.cdrnr_name("full")
    claims = [row for row in tables[_CLAIMS] if row["claim"].startswith((own, sweeps.SES))]
    kinds = {"twice best Nash's gain": "twice", "p bounds": "(1 - p)", "SES": sweeps.SES}
    counts, of_cdrnr, parts = [], [], {}
    for kind, words in kinds.items():
        held = [row["holds"] == "yes" for row in claims if words in row["claim"]]
        counts.append(f"{kind} {sum(held)} of {len(held)}")
        if held:
            parts[kind] = all(held)
        of_cdrnr += [] if words == sweeps.SES else held
    at_half = [
        row["exploitability"] <= _ALMOST_NONE * row["gain"] + SAME
        for row in tables[_POINTS]
        if row["method"] == own and row["parameter"] == _HALF
    ]
    if at_half:
        parts["a tenth at p = 0.5"] = sum(at_half) > len(at_half) / 2
        counts.append(f"a tenth at p = 0.5 {sum(at_half)} of {len(at_half)}")
    # What SES does not gain is no merit of CDRNR's.
    none_holds = bool(of_cdrnr) and not any([*of_cdrnr, *at_half])
    return Judgement(
        CONTRADICTED if none_holds else verdict(parts),
        f"{own} and SES: {', '.join(counts)} claims hold",
    )


def _judge_rps(tables: Tables) -> Judgement:
    """SES gains nothing, and the full gadget most at the exploitability of any other."""
    counts = {"SES gains nothing": 0, "full gadget is the best": 0}
    by_model: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in tables[_POINTS]:
        by_model.setdefault(row["model"], {}).setdefault(row["method"], []).append(row)
    for points in by_model.values():
        own = sweeps.cdrnr_name("full")
        if own not in points:
            return Judgement("", f"{own} was left out")
        most = max(row["gain"] for row in points[own])
        papers = [sweeps.cdrnr_name(gadget) for gadget in _PAPERS_GADGETS]
        others = [name for name in papers if name in points and name != own]
        parts = (
            all(row["gain"] <= _NOTHING * most for row in points[sweeps.SES]),
            all(
                sweeps.gain_at(points[own], row["exploitability"] + SAME) >= row["gain"] - SAME
                for name in others
                for row in points[name]
            ),
        )
        for name, part in zip(counts, parts, strict=True):
            counts[name] += part
    return Judgement(
        verdict({name: count == len(by_model) for name, count in counts.items()}),
        "; ".join(f"{name} in {count} of {len(by_model)}" for name, count in counts.items()),
    )


def picture(name: str, study: Study, labels: Labels, points: Points, settings: Settings) -> Picture:
    """All methods' gain and exploitability, against one model.

    Methods without parameter are horizontal lines; those not over 0 to 1 have no place there.
    """
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
        f"against {labels['model']}; depth limit {settings.depth_limit}, {settings.scheme}"
    )
    file = file_name(name, *labels.values())
    return Picture(file, title, _PANELS, groups, levels)


def check_claims(points: Points) -> list[dict[str, Any]]:
    """Whether what the paper says of its Figure 5 holds for the points of one responder.

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
            if point["exploitability"] <= _ALMOST_NONE * point["gain"] + SAME
        ]
        text = f"{method} gains twice as much as the best Nash at exploitability <= gain / 10"
        best = max(gains, default=0.0)
        claim(text, best, best >= 2 * nash and best > SAME)
    searched = max(point["gain"] for point in points[sweeps.SES])
    claim(
        f"SES gains at most {_SLIGHTLY} times as much as the best Nash, for any alpha",
        searched,
        searched <= _SLIGHTLY * nash + SAME,
    )
    for method in safe_methods:
        slack = min(
            point["parameter"] * point["gain"] - (1 - point["parameter"]) * point["exploitability"]
            for point in points[method]
        )
        claim(
            f"{method}: p * gain - (1 - p) * exploitability >= 0 for all p",
            slack,
            slack >= -SAME,
        )
    return claims


_CLAIM = (
    "CDRNR gains twice as much as the best Nash equilibrium at almost no exploitability, SES "
    "little more than that equilibrium, and p bounds the exploitability of CDRNR"
)
FRONTIER = Experiment(
    "frontier",
    "Gain and exploitability",
    METRIC,
    f"{_CLAIM}; at p = 0.5 it rarely reaches a tenth of the gain (Figures 5, 11 to 14). Held of "
    "CDRNR with the full gadget, the paper's own, and of SES, in all cases, and of p = 0.5 in "
    "most; contradicted where nothing holds of CDRNR, whatever SES does.",
    _frontier_points,
    _frontier_report,
    (*CHOICES, *SWEEP),
    _judge_frontier,
)
BIASED_RPS = Experiment(
    "biased_rps",
    "Gain and exploitability in two rounds of biased rock, paper, scissors",
    METRIC,
    "SES gains nothing, and the full gadget is the best, before the other gadgets (Figure 15); "
    "held is that it gains as much as these at the exploitability of each of their points.",
    _rps_points,
    _rps_report,
    ("models", *(name for name in SWEEP if name != "depth_limit")),
    _judge_rps,
)
