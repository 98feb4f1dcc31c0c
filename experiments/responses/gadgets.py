"""The responses that CDRNR finds for each p and gadget: Figures 4, 8, 9 of Milec et al. (2024).

Restricted Nash responses recover a whole set of responses; the experiment finds out which of them
each gadget loses, and how far each is from the Pareto set.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.experiment import Experiment, Row
from experiments.responses import frontier, sweeps
from experiments.responses.best_nash import safe_best_response
from experiments.responses.frontier import SAME, Results, Study
from experiments.responses.responders import Responder
from experiments.responses.sweeps import Sweep
from experiments.verdicts import Judgement, Tables, grouped, verdict
from spiel_dl.algorithms.cdrnr import GADGETS
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.depth_limit import DepthLimit

GADGET_LIMIT = DepthLimit(moves=2)
"""Sliding: a step sees player 0's choice together with the fool's next move only."""
_NUM_PROBABILITIES = 40
_LOSES = {
    "full": False,
    "full_trunk": False,
    "resolving": True,
    "max_margin": True,
    "reach_max_margin": True,
}
"""Whether the paper says that a gadget loses responses; `joint` is ours."""
_LEFT = 2
"""The responses that such a gadget keeps in the game where two actions dominate all others."""


_SWEEP = Sweep(
    GADGET_LIMIT,
    "sliding",
    GADGETS,
    tuple(step / _NUM_PROBABILITIES for step in range(1, _NUM_PROBABILITIES)),
)
SETTINGS = frontier.Settings(
    ("lost_by_resolving", "lost_by_max_margin"), ("fool",), (0,), sweep=_SWEEP
)
"""CDRNR slides, with the same steps of p everywhere."""


def _compute(study: Study) -> Results:
    """The points of RNR and of CDRNR with every gadget, over p (Figure 4's idea)."""
    methods = (sweeps.RNR, *map(sweeps.cdrnr_name, study.settings.sweep.gadgets))
    return frontier.measure_all("gadgets", study, methods)


def _report(study: Study, results: Results) -> Report:
    pictures = [frontier.picture("gadgets", study, *each) for each in results]
    titles = {
        "from": "from p",
        "to": "to p",
        "below_pareto": "gain below the Pareto set's",
        "of_rnr": "one of RNR's",
    }
    return Report(
        "",
        [
            "Two games in the manner of Milec et al. (2024), Figures 4 and 8, in which player 0 "
            "has five pure responses to a fool, all optimal for some p "
            "(`responses.small_games.lost_actions_efg`). CDRNR slides with a limit of "
            f"{GADGET_LIMIT}; p goes in steps of 1 / {_NUM_PROBABILITIES}. RNR recovers the whole "
            "set; what is missing in the rows of a gadget, it cannot find. Recovered is a response "
            f"whose gain and exploitability are one of RNR's, to {SAME:g}.",
            "The claim is about gadgets of the paper, each in both games together; `joint` is "
            "ours.",
            frontier.NOTES[0],
        ],
        {"Responses": Table.of(_rows(study, results), **titles)},
        pictures,
    )


def _rows(study: Study, results: Results) -> list[dict[str, Any]]:
    """All methods' responses, RNR's first."""
    rows: list[dict[str, Any]] = []
    for labels, points in results:
        responder = study.responder(**labels)
        targets = different(responder, points[sweeps.RNR])
        for method in sorted(points, key=lambda name: name != sweeps.RNR):
            for response in different(responder, points[method]):
                names = {"game": labels["game"], "method": method}
                of_rnr = "yes" if _is_one_of(response, targets) else "no"
                rows.append({**names, **response, "of_rnr": of_rnr})
    return rows


def _judge(tables: Tables) -> Judgement:
    """Judges which gadgets lose responses of RNR, and how many."""
    [rows] = tables.values()
    num_recovered: dict[str, list[int]] = {}  # by method, in each game
    for own in grouped(rows, "game").values():
        by_method = grouped(own, "method")
        for method, responses in by_method.items():
            recovered = [_is_one_of(target, responses) for target in by_method[sweeps.RNR]]
            num_recovered.setdefault(method, []).append(sum(recovered))
    parts = _lose_as_claimed(num_recovered)
    headline = f"of RNR's {sum(num_recovered.pop(sweeps.RNR))} responses are recovered: "
    numbers = [f"{method} {sum(each)}" for method, each in num_recovered.items()]
    return Judgement(verdict(parts), headline + ", ".join(numbers))


def _lose_as_claimed(num_recovered: Mapping[str, Sequence[int]]) -> dict[str, bool]:
    """Whether each of the paper's gadgets recovers as many responses as the paper claims.

    Those are two in the game in which two actions dominate all others, or else all of RNR's.
    """
    held = {}
    for gadget, loses in _LOSES.items():
        numbers = num_recovered.get(sweeps.cdrnr_name(gadget))
        if numbers is not None:
            held[gadget] = min(numbers) == _LEFT if loses else numbers == num_recovered[sweeps.RNR]
    return held


def _is_one_of(response: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> bool:
    return any(_is_same(response, each) for each in others)


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(abs(one[key] - other[key]) < SAME for key in ("gain", "exploitability"))


def different(responder: Responder, points: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """The distinct responses among points, in the order of p.

    Returns:
      For each response `gain` and `exploitability`; `from` and `to`, the smallest and largest p
      that lead to it; `below_pareto`, how much more could be gained at the same exploitability.
    """
    responses: list[dict[str, float]] = []
    for point in sorted(points, key=operator.itemgetter("parameter")):
        same = [row for row in responses if _is_same(row, point)]
        if same:
            same[0]["to"] = point["parameter"]
            continue
        bound = max(point["exploitability"], 0.0)
        best = safe_best_response(
            responder.tree, responder.player, responder.model, exploitability=bound
        )
        responses.append(
            {
                "gain": point["gain"],
                "exploitability": point["exploitability"],
                "from": point["parameter"],
                "to": point["parameter"],
                "below_pareto": responder.judge(best)["gain"] - point["gain"],
            }
        )
    return responses


GADGET_SETS = Experiment(
    name="gadgets",
    title="Which p recovers which response, by gadget",
    metric=frontier.METRIC,
    claim=(
        "the resolving and the max-margin gadgets each lose responses that restricted Nash "
        "responses recover, all but two in one of two games, the full gadget none (Figures 4, 8, "
        "9)."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=2,
)
ROWS = (
    Row(
        GADGET_SETS,
        "responses",
        SETTINGS,
        "Figures 4, 8, 9",
        2,
        paper="full recovers all 5 responses; two actions dominate in the others' games",
        cause="reading: games of our own, built like the paper's",
    ),
)
