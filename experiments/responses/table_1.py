"""Table 1 of Milec et al. (2024): gains of CDBR and the best equilibrium against a model.

Gains are in percent of a best response's. CDBR n slides and looks n levels beyond its decision,
which are n + 1 plies. Small games are solved by linear programs, larger ones by predictive CFR+
with a certified gap; the best equilibrium always comes from a linear program.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Annotated, Any

from experiments.experiment import Experiment, Row
from experiments.responses import study as responses_study
from experiments.responses.best_nash import best_nash
from experiments.responses.responders import Responder
from experiments.responses.study import Labels
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.system.parameters import Bounds
from spiel_dl.tree.depth_limit import DepthLimit

_LOOK_AHEAD = (1, 3, 5)
# Player 0 against the uniform policy: ABR, CDBR 1, 3 and 5, best Nash.
_PAPER = {
    "leduc": (98, 74.4, 96.0, 97.1, 32.6),
    "goofspiel_4": (97, 98.5, 100.0, 100.0, 77.1),
    "goofspiel_5": (95, 93.5, 100.0, 100.0, 50.4),
    "goofspiel_6": (97, 90.7, 100.0, 100.0, 45.9),
}
_CDBR = {f"cdbr_{n}": f"CDBR{n}" for n in _LOOK_AHEAD}
_COLUMNS = {"abr": "ABR", **_CDBR, "best_nash": "best Nash"}
Rows = list[dict[str, Any]]
# Percentage points; the paper gives one digit after the point.
_SAME = 0.1
# Tolerance of a step, in parts of a best response's gain; a response takes a few steps.
_TOLERANCE = 1e-4
_MAX_ITERATIONS = 20_000
_BESIDE, _DIFFERENCE = "Beside the paper's, percent", "difference"
ACCURACY = {"tolerance": _TOLERANCE, "max_iterations": _MAX_ITERATIONS}
"""The accuracy of `cdbr`, as settings of a part."""


@dataclasses.dataclass(frozen=True)
class Settings(responses_study.Settings):
    """Responders, and the training of approximate best responses.

    Attributes:
      abr_episodes: episodes of training against each model; 0: no approximate best response.
    """

    games: tuple[str, ...] = ("leduc", "goofspiel_4", "goofspiel_5")
    models: tuple[str, ...] = (
        "uniform",
        *(f"random:{seed}" for seed in range(10)),
        *(f"cfr:{iterations}" for iterations in (1, 2, 5, 10, 34)),
    )
    abr_episodes: Annotated[int, Bounds(0)] = 0


Study = responses_study.Study[Settings]


def _table_1_rows(study: Study) -> Rows:
    """All cells of the table, for all models."""
    results = study.measured("table_1", _measure, **ACCURACY)
    rows = [{**labels, **cells} for labels, cells in results]
    if episodes := study.settings.abr_episodes:
        learned = study.measured("abr", _learned, episodes=episodes)
        rows = [{**row, **cells} for row, (_, cells) in zip(rows, learned, strict=True)]
    return rows


def _table_1_report(study: Study, rows: Rows) -> Report:
    comparison: Rows = []
    for row in rows:
        if (row["model"], row["player"]) == ("uniform", 0) and row["game"] in _PAPER:
            paper = dict(zip(_COLUMNS, _PAPER[row["game"]], strict=True))
            cells = {name: row[name] for name in _COLUMNS if name in row}
            errors = {name: cell - paper[name] for name, cell in cells.items()}
            for name, numbers in (
                ("ours", cells),
                ("the paper", paper),
                (_DIFFERENCE, errors),
            ):
                comparison.append({"game": row["game"], "whose": name, **numbers})
    columns = {"game": "game", "model": "model", "player": "player", **_COLUMNS}
    columns |= {
        "gap": "gap, percent",
        "best_gain": "best response's gain",
        "abr_episodes": "ABR's episodes",
        "abr_seconds": "ABR's seconds",
        "seconds": "seconds without ABR",
    }
    tables = {"All models and players, percent": Table(rows, columns)}
    if comparison:
        compared = Table(comparison, {"game": "game", "whose": "", **_COLUMNS})
        tables = {_BESIDE: compared, **tables}
    return Report(
        TABLE_1.title,
        [
            "Milec et al. (2024), Table 1, which has player 0 against the uniform policy. Optimal "
            "value function; CDBR n slides with a depth limit of n + 1 plies.",
            study.describe(row["game"] for row in rows),
            "Gap: by how much CDBR's steps may be below their optima, 0 for linear programs.",
        ],
        tables,
    )


def _judge(tables: Tables) -> Judgement:
    """Judges all cells that the paper has; where ABR is among them, reports distances only."""
    errors = [row for row in tables.get(_BESIDE, ()) if row["whose"] == _DIFFERENCE]
    distances = {
        f"{row['game']}, {title}": abs(row[name])
        for row in errors
        for name, title in _COLUMNS.items()
        if name != "abr" and name in row
    }
    if not distances:
        return Judgement("", "")
    headline = f"at most {max(distances.values()):.2g} points from the paper's"
    if of_abr := [f"{row['abr']:+.1f} in {row['game']}" for row in errors if "abr" in row]:
        # The other cells are judged in the row without ABR.
        return Judgement("", f"{headline}; ABR {', '.join(of_abr)}")
    return Judgement(verdict({cell: d < _SAME for cell, d in distances.items()}), headline)


TABLE_1 = Experiment(
    name="table_1",
    title="Table 1: gain against a model",
    metric="gain, in percent of a best response's",
    claim=(
        "player 0 against the uniform policy, ABR, CDBR 1, 3 and 5 and best Nash: "
        + "; ".join(f"{game} {', '.join(map(str, numbers))}" for game, numbers in _PAPER.items())
        + " (Table 1; that it is of this policy is inferred from all cells without ABR; appendix D "
        "names three iterations of CFR in Goofspiel 6). Held within "
        f"{_SAME} percentage points; not of ABR, which is as good as its learner."
    ),
    study=Study,
    compute=_table_1_rows,
    render=_table_1_report,
    judge=_judge,
)
_UNIFORM, _FIRST = ("uniform",), (0,)
_PAPERS = ("leduc", "goofspiel_4", "goofspiel_5", "goofspiel_6")
_NUMBERS = "CDBR 1, 3, 5 in Leduc 74.4, 96.0, 97.1 %; Goofspiel 4 to 6 up to 100 %"
ROWS = (
    Row(TABLE_1, "responses", Settings(), "Table 1", 15, paper=_NUMBERS),
    Row(
        TABLE_1,
        "responses/goofspiel_6",
        Settings(("goofspiel_6",), _UNIFORM, _FIRST),
        "Table 1",
        10,
        paper=_NUMBERS,
    ),
    Row(
        TABLE_1,
        "responses/abr",
        Settings(_PAPERS, _UNIFORM, _FIRST, abr_episodes=100_000),
        "Table 1, ABR",
        60,
        paper="ABR 98, 97, 95, 97 % of a best response's gain",
        chosen="ABR by DQN without search, 100,000 episodes",
        cause="ours: ABR is as good as its learner",
    ),
)


def _measure(study: Study, labels: Labels) -> dict[str, float]:
    start = time.perf_counter()
    row = gains(study.responder(**labels))
    return {**row, "seconds": time.perf_counter() - start}


def gains(responder: Responder) -> dict[str, float]:
    """A row of the table, in percent; `best_gain` in utility units."""
    tree, player, model = responder.tree, responder.player, responder.model
    row, largest_gap = {"best_gain": responder.best_gain}, 0.0
    for ahead in _LOOK_AHEAD:
        policy, gap = cdbr(responder, ahead)
        row[f"cdbr_{ahead}"] = responder.judge(policy)["percent"]
        largest_gap = max(largest_gap, gap)
    row["gap"] = 100 * largest_gap / responder.best_gain
    row["best_nash"] = responder.judge(best_nash(tree, player, model))["percent"]
    return row


def cdbr(responder: Responder, ahead: int) -> tuple[ArrayPolicy, float]:
    """CDBR that looks so many levels ahead, and its certified gap below the optimum."""
    effort = Effort(_MAX_ITERATIONS, responder.tolerance(_TOLERANCE), variant=PREDICTIVE_CFR_PLUS)
    policy = CDBRPolicy(
        responder.tree,
        responder.player,
        responder.model,
        DepthLimit(plies=ahead + 1),
        exact=responder.has_small_programs,
        effort=effort,
    )
    return policy.to_array_policy(), policy.gap


def _learned(study: Study, labels: Labels) -> dict[str, float]:
    """The gain of an approximate best response, and the cost of training it."""
    from experiments.responses import abr  # It needs dm-tree, which the rest does not.

    responder, episodes = study.responder(**labels), study.settings.abr_episodes
    start = time.perf_counter()
    response = abr.approximate_best_response(
        responder.tree.game, responder.player, responder.model, num_episodes=episodes
    )
    seconds = time.perf_counter() - start
    percent = responder.judge(response)["percent"]
    return {"abr": percent, "abr_episodes": episodes, "abr_seconds": seconds}
