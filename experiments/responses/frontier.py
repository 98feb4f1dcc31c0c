"""Gain against exploitability of every method: Figures 5, 11 to 14 of Milec et al. (2024).

Sweeps all methods in a game against models, and checks the paper's claims by their points.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments.experiment import Experiment, Row
from experiments.responses import study as responses_study
from experiments.responses import sweeps
from experiments.responses.study import Labels
from experiments.responses.sweeps import Sweep
from experiments.verdicts import Judgement, Tables, counted, grouped, verdict
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name

SAME = 1e-6
"""Gains and exploitabilities closer than this are the same."""
# The claim's "almost no exploitability", as a part of the gain.
_ALMOST_NONE = 0.1
# "Only slightly above the best Nash equilibrium": less than this times its gain.
_SLIGHTLY = 1.1
_EQUAL = 1e-3
"""Tolerance of "gains at least as much", in utility units."""
_HALF = 0.5
"""The p at which the bound on a response's exploitability equals its gain."""
_CLAIMS, POINTS = "The paper's claims", "All points"
_OF_THE_PAPER = ("full_trunk", "full")
"""The paper's gadget as defined, and by path as in the first reports."""
_TWICE, _HALF_OF_ALL = "twice as much as the best Nash", "half of what a best response gains"
_MIX = "at least as much as the mix"
_BOUND = "p * gain - (1 - p) * exploitability >= 0 for all p"
_SLIGHT = f"at most {_SLIGHTLY} times as much as the best Nash"
_PARTS = {
    _TWICE: "twice best Nash's gain",
    _HALF_OF_ALL: "half of all gain",
    _MIX: "better than the mix",
    _BOUND: "p bounds",
    _SLIGHT: sweeps.SES,
}
"""Short names of the claims in the verdict; all but the last are about CDRNR."""
_AT_HALF = f"a tenth at p = {_HALF}"
_IN_SOME_CASE = (_TWICE, _HALF_OF_ALL)
_WHERE_RNR_CAN = (*_IN_SOME_CASE, _MIX)

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
"""The points of each method."""
Results = list[tuple[Labels, Points]]
"""The points of all methods, for each responder."""


_SWEEP = Sweep()


@dataclasses.dataclass(frozen=True)
class Settings(responses_study.Settings):
    """Responders, and the sweep of each method.

    Attributes:
      sweep: the methods' parameters.
    """

    games: tuple[str, ...] = ("leduc", "liars_dice")
    models: tuple[str, ...] = ("uniform", "cfr:5", "random:0")
    sweep: Sweep = _SWEEP


Study = responses_study.Study[Settings]


def measure_all(name: str, study: Study, only: Sequence[str] = ()) -> Results:
    """The points of all methods, or of `only` these, for every responder of an experiment."""
    return [(labels, _measure(name, study, labels, only)) for labels in study.responders()]


def _measure(name: str, study: Study, labels: Labels, only: Sequence[str]) -> Points:
    responder, sweep, points = study.responder(**labels), study.settings.sweep, {}
    for method, (respond, parameters) in sweeps.methods(responder, sweep).items():
        if only and method not in only:
            continue
        points[method] = study.workspace.part(
            file_name(name, *labels.values(), method),
            {
                **labels,
                "depth_limit": str(sweep.depth_limit),
                "scheme": sweep.scheme,
                "parameters": list(parameters),
            },
            functools.partial(sweeps.measure, responder, respond, parameters),
        )
    return points


def _report(study: Study, results: Results) -> Report:
    games = study.describe(labels["game"] for labels, _ in results)
    claims = [
        {
            **labels,
            "claim": claim.text,
            "ours": claim.ours,
            "best_nash": points[sweeps.BEST_NASH][0]["gain"],
            "holds": "yes" if claim.holds else "no",
        }
        for labels, points in results
        for claim in check_claims(points)
    ]
    return sweep_report(study, "frontier", results, [games], claims)


def sweep_report(
    study: Study,
    name: str,
    results: Results,
    notes: Sequence[str] = (),
    claims: Sequence[Mapping[str, Any]] = (),
) -> Report:
    """The report of a sweep in the named experiment."""
    sweep = study.settings.sweep
    rows = [
        {**labels, "method": method, **point}
        for labels, points in results
        for method, lines in points.items()
        for point in lines
    ]
    return Report(
        "",
        [
            *NOTES,
            f"CDRNR goes in scheme {sweep.scheme} with a limit of {sweep.depth_limit}; SES has the "
            "same limit, and CDBR slides with it.",
            *notes,
        ],
        {
            **({_CLAIMS: Table.of(claims, best_nash="best Nash's gain")} if claims else {}),
            POINTS: Table.of(rows, percent="percent of best response's gain"),
        },
        [picture(name, study, *each) for each in results],
    )


def _judge(tables: Tables) -> Judgement:
    """Judges SES, and CDRNR as it is defined, else by path, else by another gadget.

    Where RNR does not reach a claimed gain, no method can: there CDRNR's claim is open.
    """
    points = tables[POINTS]
    names = {row["method"] for row in points}
    preferred = [*map(sweeps.cdrnr_name, _OF_THE_PAPER), *sorted(names)]
    cdrnr = next(name for name in preferred if name in names and name.startswith("CDRNR"))
    # For each responder, by claim and method.
    responders = [
        {
            (claim.about, claim.method): claim.holds
            for claim in check_claims(grouped(rows, "method"))
        }
        for rows in grouped(points, "game", "model", "player").values()
    ]
    parts: dict[str, bool | None] = {}
    cases: dict[str, list[bool]] = {}
    for about, name in _PARTS.items():
        method = sweeps.SES if about == _SLIGHT else cdrnr
        held = [
            claims[about, method]
            for claims in responders
            if (about, method) in claims
            and (about not in _WHERE_RNR_CAN or claims.get((about, sweeps.RNR)))
        ]
        in_some_case = about in _IN_SOME_CASE
        if held or in_some_case:
            holds = any(held) if in_some_case else all(held)
            parts[name] = holds if held else None
            cases[name] = held
    at_half = [
        _is_almost_safe(row)
        for row in points
        if row["method"] == cdrnr and row["parameter"] == _HALF
    ]
    if at_half:
        cases[_AT_HALF] = at_half
        parts[_AT_HALF] = sum(at_half) > len(at_half) / 2
    return Judgement(verdict(parts), f"{cdrnr}: {counted(cases)[1]}")


def _is_almost_safe(point: Mapping[str, Any]) -> bool:
    return _safety(point) >= 0


def _safety(point: Mapping[str, Any]) -> float:
    """How much more exploitable a point could be, and still be almost safe."""
    slack: float = _ALMOST_NONE * point["gain"] - point["exploitability"] + SAME
    return slack


def _almost_safe_gain(points: Sequence[Mapping[str, Any]]) -> float:
    """The largest gain of almost safe points, and of almost safe mixtures of two; 0: of none."""
    gains = [0.0]
    for point in filter(_is_almost_safe, points):
        gains.append(point["gain"])
        for other in points:
            if not _is_almost_safe(other):
                share = _safety(point) / (_safety(point) - _safety(other))
                gains.append(point["gain"] + share * (other["gain"] - point["gain"]))
    return max(gains)


def picture(name: str, study: Study, labels: Labels, points: Points) -> Picture:
    """Plots all methods' gain and exploitability against one model.

    Over the parameter, methods without one are horizontal lines, and those whose parameter is not
    in [0, 1] are left out.
    """
    groups, levels = {}, {}
    for method, curve in points.items():
        if method in (sweeps.BEST_NASH, sweeps.LOCAL):
            levels[method] = {key: curve[0][key] for key in ("gain", "exploitability")}
        elif method in (sweeps.PARETO, sweeps.CFR_AVERAGE):
            groups[method] = [{**point, "parameter": math.nan} for point in curve]
        else:
            groups[method] = list(curve)
    game, sweep = study.tree(labels["game"]).game, study.settings.sweep
    title = (
        f"{labels['game'] if str(game) == 'efg_game()' else game}, player {labels['player']} "
        f"against {labels['model']}; depth limit {sweep.depth_limit}, {sweep.scheme}"
    )
    file = file_name(name, *labels.values())
    return Picture(file, title, _PANELS, groups, levels)


class Claim(NamedTuple):
    """A claim of the paper about a method's points.

    Attributes:
      about: which claim.
      method: the method's name.
      text: the claim in words.
      ours: our number (utility).
      holds: whether the claim holds.
    """

    about: str
    method: str
    text: str
    ours: float
    holds: bool


def check_claims(points: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Claim]:
    """Checks the paper's claims about its Figure 5 by the points of one responder."""
    nash = points[sweeps.BEST_NASH][0]["gain"]
    peak = max(points[sweeps.RNR], key=lambda point: point["gain"])
    best_response = 100 * peak["gain"] / peak["percent"]
    claims = []
    safe_methods = [name for name in points if name.startswith("CDRNR")] + [sweeps.RNR]
    for method in safe_methods:
        curve = points[method]
        best = _almost_safe_gain(curve)
        for about, goal in ((_TWICE, 2 * nash), (_HALF_OF_ALL, 0.5 * best_response)):
            text = f"{method} gains {about} at exploitability <= gain / 10"
            claims.append(Claim(about, method, text, best, best >= goal and best > SAME))
        largest = max(point["exploitability"] for point in curve)
        differences = [
            sweeps.gain_at(curve, mixed["exploitability"] + SAME) - mixed["gain"]
            for mixed in points[sweeps.MIX]
            if mixed["exploitability"] <= largest + SAME
        ]
        if differences:
            text = f"{method} gains {_MIX} of CDBR and an equilibrium"
            claims.append(Claim(_MIX, method, text, min(differences), min(differences) >= -_EQUAL))
    ses_gain = max(point["gain"] for point in points[sweeps.SES])
    claims.append(
        Claim(
            _SLIGHT,
            sweeps.SES,
            f"SES gains {_SLIGHT}, for any alpha",
            ses_gain,
            ses_gain <= _SLIGHTLY * nash + SAME,
        )
    )
    for method in safe_methods:
        slack = min(
            point["parameter"] * point["gain"] - (1 - point["parameter"]) * point["exploitability"]
            for point in points[method]
        )
        claims.append(Claim(_BOUND, method, f"{method}: {_BOUND}", slack, slack >= -SAME))
    return claims


FRONTIER = Experiment(
    name="frontier",
    title="Gain and exploitability",
    metric=METRIC,
    claim=(
        "CDRNR can gain twice as much as the best Nash equilibrium, and over half of what there "
        "is, at almost no exploitability; it is better than the mix of CDBR and an equilibrium; p "
        "bounds its exploitability, which at p = 0.5 rarely reaches a tenth of the gain; SES gains "
        "little more than the equilibrium (Figures 5, 11 to 14, section 8). Held of CDRNR as it "
        "is defined, all solved subgames joined to the trunk; of the first three where RNR is able "
        "to, else open: the first two in some case, mixtures of two p included, and the third at "
        "each exploitability that both reach; p = 0.5 in most cases; the others in all."
    ),
    study=Study,
    compute=lambda study: measure_all("frontier", study),
    render=_report,
    judge=_judge,
    version=3,  # the mix is with any equilibrium, as the paper's, not with the best
)
_P = (0.1, 0.3, 0.5, 0.7, 0.9)
_DEFINED = Sweep(parameters=_P)
_CHOSEN = "opponents, two plies a search"
ROWS = (
    Row(
        FRONTIER,
        "responses/full_trunk",
        Settings(("leduc",), sweep=_DEFINED),
        "Figure 5",
        10,
        "five p",
        _CHOSEN,
        "twice best Nash at almost no exploitability; p bounds it",
        "reading: opponents are not named; twice best Nash only by mixing two p",
    ),
    Row(
        FRONTIER,
        "responses/full_trunk/liars_dice",
        Settings(("liars_dice",), sweep=_DEFINED),
        "Figures 11 to 14",
        5,
        "Liar's dice alone, one size of steps; five p",
        _CHOSEN,
        "as in Figure 5",
        "reading: as in Figure 5",
    ),
)
