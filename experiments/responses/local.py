"""LBR and CDBR against CFR's strategies along its iterations: Figures 6, 7 of Milec et al. (2024).

The paper does not say which variant of CFR made the strategies, nor whether they are averages; so
all four readings are tried.

CDBR n looks n levels beyond its decision, as in `table_1`. LBR looks at the next action and is for
poker only, so in Goofspiel CDBR is compared with the best response only.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.experiment import Experiment, Row
from experiments.responses import lbr, table_1
from experiments.responses import study as responses_study
from experiments.responses.responders import CFR_READINGS, Responder
from experiments.responses.study import Labels
from experiments.verdicts import Judgement, Tables, counted, grouped, verdict
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name

ITERATIONS = (1, 2, 3, 5, 8, 13, 21, 34)
"""Iterations of CFR; the last number is the paper's."""
LOOK_AHEAD = (1, 2, 3, 4, 5)
BEST, LBR = "best response", "LBR"
_ROWS = "Gain, by model and responder"
_SAME = 1e-6
_NEVER_LOSES = "CDBR never loses"
_PANEL = Panel("iterations", "gain", "iterations of CFR", "gain (utility)", y_scale="linear")
Rows = list[dict[str, Any]]


SETTINGS = responses_study.Settings(
    ("leduc", "goofspiel_5"),
    tuple(f"{reading}:{number}" for reading in CFR_READINGS for number in ITERATIONS),
)
Study = responses_study.Study[responses_study.Settings]


def cdbr_name(ahead: int) -> str:
    """The method name of CDBR that looks so many levels ahead."""
    return f"CDBR{ahead}"


def _rows(study: Study) -> Rows:
    """A row for each responder and method.

    Raises:
      ValueError: if a model is no strategy of CFR.
    """
    names = study.settings.models
    if unknown := [name for name in names if name.partition(":")[0] not in CFR_READINGS]:
        raise ValueError(f"local has no models {unknown}; give strategies of CFR, such as cfr:34")
    rows: Rows = []
    accuracy = table_1.ACCURACY
    for labels, cells in study.measured("local", _measure, look_ahead=[*LOOK_AHEAD], **accuracy):
        reading, _, number = labels["model"].partition(":")
        opponent = {"opponent": CFR_READINGS[reading], "iterations": int(number)}
        rows += [{**labels, **opponent, **row} for row in cells]
    return rows


def _measure(study: Study, labels: Labels) -> Rows:
    """All methods' gains against one model."""
    responder = study.responder(**labels)
    rows: Rows = [{"method": BEST, "gain": responder.best_gain, "gap": 0.0}]
    for ahead in LOOK_AHEAD:
        start = time.perf_counter()
        policy, gap = table_1.cdbr(responder, ahead)
        rows.append({"method": cdbr_name(ahead), **_judged(responder, policy, start), "gap": gap})
    if responder.is_poker:
        start = time.perf_counter()
        local = lbr.local_best_response(responder.tree, responder.player, responder.model)
        rows.append({"method": LBR, **_judged(responder, local, start), "gap": 0.0})
    return rows


def _judged(responder: Responder, policy: ArrayPolicy, start: float) -> dict[str, float]:
    seconds = time.perf_counter() - start
    return {**responder.judge(policy), "seconds": seconds}


def _report(study: Study, rows: Rows) -> Report:
    pictures = []
    for (game, player, opponent), own in grouped(rows, "game", "player", "opponent").items():
        title = f"{study.tree(game).game}, player {player} against the {opponent}"
        reading = next(name for name, text in CFR_READINGS.items() if text == opponent)
        name = file_name("local", game, player, reading)
        pictures.append(Picture(name, title, [_PANEL], grouped(own, "method")))
    return Report(
        "",
        [
            "Gains are in utility units, exact, above the game's value, against the strategy of so "
            "many iterations. Optimal value function; CDBR n slides with a depth limit of "
            "n + 1 plies.",
            study.describe(row["game"] for row in rows),
        ],
        {
            _ROWS: Table(
                rows,
                {
                    "game": "game",
                    "player": "player",
                    "opponent": "opponent",
                    "iterations": "iterations",
                    "method": "responder",
                    "gain": "gain (utility)",
                    "percent": "of a best response's, percent",
                    "gap": "at most so far below CDBR's optimum",
                    "seconds": "seconds",
                },
            )
        },
        pictures,
    )


def _judge(tables: Tables) -> Judgement:
    """Judges the reading for which most parts of the claim hold, in games that have an LBR."""
    by_reading = grouped(tables[_ROWS], "opponent")
    found = {reading: counted(_cases(rows)) for reading, rows in by_reading.items()}
    best = max(found, key=lambda reading: sum(map(bool, found[reading][0].values())))
    headline = "; ".join(
        f"{reading}: {text}"
        for reading, (_, text) in sorted(found.items(), key=lambda item: item[0] != best)
    )
    # With optimal values CDBR cannot lose, so that part is not judged.
    parts = {part: held for part, held in found[best][0].items() if part != _NEVER_LOSES}
    return Judgement(verdict(parts), headline)


def _cases(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[bool]]:
    """For each part of the claim, whether it holds in each case of one reading."""
    cases = {
        key: {row["method"]: row["gain"] for row in own}
        for key, own in grouped(rows, "game", "player", "iterations").items()
    }
    poker = {key: gains for key, gains in cases.items() if LBR in gains}
    numbers = [number for _, _, number in poker]
    first, last = min(numbers, default=0), max(numbers, default=0)
    largest = cdbr_name(max(LOOK_AHEAD))
    more = {key: gains[largest] > gains[LBR] for key, gains in poker.items()}
    return {
        f"{largest} gains more than LBR": [held for key, held in more.items() if key[2] > first],
        f"{largest} gains more than LBR at {first} iterations": [
            held for key, held in more.items() if key[2] == first
        ],
        f"LBR gains nothing at {last} iterations": [
            gains[LBR] <= _SAME for key, gains in poker.items() if key[2] == last
        ],
        _NEVER_LOSES: [_least_cdbr_gain(gains) >= -_SAME for gains in cases.values()],
    }


def _least_cdbr_gain(gains: Mapping[str, float]) -> float:
    return min(gains[cdbr_name(ahead)] for ahead in LOOK_AHEAD)


LOCAL_RESPONSES = Experiment(
    name="local",
    title="LBR and CDBR against strategies of CFR",
    metric="gain (utility)",
    claim=(
        "in Leduc CDBR gains more than LBR as it looks further, and against 34 iterations of "
        "CFR LBR gains nothing any more, where CDBR cannot lose (Figures 6, 7); held of the "
        "reading of these strategies that fits best, and not of the last, which is a theorem."
    ),
    study=Study,
    compute=_rows,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        LOCAL_RESPONSES,
        "responses",
        SETTINGS,
        "Figures 6, 7",
        15,
        paper="CDBR gains more than LBR; LBR nothing against 34 iterations",
        cause="reading: four readings of the opponents were tried, none agrees",
    ),
)
