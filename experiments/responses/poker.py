"""Responses in an endgame of hold'em: a stand-in for Table 2 of Milec et al. (2024).

The paper plays whole no-limit hold'em against SlumBot, whose strategy is not public. The game here
is a turn with five hands a player and bets of half the pot and all-in; our models always call, fold
too often, bet too much, are CFR of few iterations, or play uniformly. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.experiment import Experiment, Row
from experiments.responses import lbr
from experiments.responses import study as responses_study
from experiments.responses.responders import Responder
from experiments.verdicts import Judgement, Tables, counted, grouped, numbers_of, verdict
from spiel_dl.algorithms.best_response import best_response_policy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.depth_limit import DepthLimit

_LIMIT = DepthLimit(plies=2)
_P = 0.5
_MBB = 1000.0  # a chip is a big blind
_SAME = 1e-6
_ROWS = "Gain and exploitability, by model and method"
_ROBUST = ("RNR", "CDRNR")
_MORE = "CDBR gains more than LBR"
Rows = list[dict[str, Any]]


SETTINGS = responses_study.Settings(("turn",), ("calls", "folds", "overbets", "cfr:5", "uniform"))
Study = responses_study.Study[responses_study.Settings]


def _methods(responder: Responder) -> dict[str, Callable[[], ArrayPolicy]]:
    """The methods by name."""
    setting = (responder.tree, responder.player, responder.model)
    tree, player, model = setting
    return {
        "best response": lambda: best_response_policy(tree, model, player),
        "LBR": lambda: lbr.local_best_response(*setting),
        "CDBR": lambda: CDBRPolicy(*setting, _LIMIT, exact=True).to_array_policy(),
        "RNR": lambda: RNRPolicy(*setting, p=_P, exact=True).to_array_policy(),
        "CDRNR": lambda: CDRNRPolicy(*setting, _LIMIT, p=_P, exact=True).to_array_policy(),
    }


def _measure(study: Study, labels: responses_study.Labels) -> Rows:
    responder = study.responder(**labels)
    rows = []
    for method, respond in _methods(responder).items():
        outcome = responder.judge(respond())
        in_mbb = {name: _MBB * outcome[name] for name in ("gain", "exploitability")}
        rows.append({"method": method, **in_mbb, "percent": outcome["percent"]})
    return rows


def _rows(study: Study) -> Rows:
    """Every method's gain and exploitability for every model, in mbb a hand."""
    results = study.measured("poker", _measure, depth_limit=str(_LIMIT), p=_P)
    return [{**labels, **row} for labels, rows in results for row in rows]


def _report(study: Study, rows: Rows) -> Report:
    return Report(
        "",
        [
            "A pot of 20 big blinds, 20 more for each player. Gain above the game's value; "
            "exploitability is the responding player's own. Both exact, by linear programs; a "
            "model answers by its hand and the bets alone.",
            f"CDBR and CDRNR look {_LIMIT} ahead, with the optimal value function; p = {_P} in RNR "
            "and CDRNR, whose gadget is the default, joint.",
            "What differs from the paper: its game is whole no-limit hold'em, its opponent "
            "SlumBot, its numbers are sampled.",
            study.describe(row["game"] for row in rows),
        ],
        {
            _ROWS: Table.of(
                rows,
                gain="gain (mbb a hand)",
                exploitability="exploitability (mbb a hand)",
                percent="of a best response's gain, percent",
            )
        },
    )


def _judge(tables: Tables) -> Judgement:
    """Judges CDBR's gain against each model, of both players together."""
    rows = tables[_ROWS]
    more = {
        f"{_MORE} against {model}": sum(gains["CDBR"]) > sum(gains["LBR"]) + 2 * _SAME * _MBB
        for model, own in grouped(rows, "model").items()
        for gains in (numbers_of(own, "gain", "method"),)
    }
    robust = [
        row["exploitability"] <= row["gain"] + _SAME * _MBB
        for row in rows
        if row["method"] in _ROBUST
    ]
    _, text = counted(
        {
            _MORE: [*more.values()],
            # That is a theorem: reported, not judged.
            "RNR and CDRNR are at most as exploitable as they gain": robust,
        }
    )
    return Judgement(verdict(more), text)


POKER = Experiment(
    name="poker",
    title="Responses to models in an endgame of hold'em",
    metric="gain and exploitability (mbb a hand)",
    claim=(
        "CDBR gains significantly more than LBR against SlumBot (Table 2). Held here: more than "
        "LBR against each of five models, both players together. RNR and CDRNR lose at most what "
        "they gain, p / (1 - p) times, with p = 0.5; that is a theorem, told and not judged."
    ),
    study=Study,
    compute=_rows,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        POKER,
        "responses",
        SETTINGS,
        "Table 2",
        5,
        short_of="a turn with five hands a player for no-limit hold'em, our models for SlumBot",
        paper="CDBR 1774 ± 137, LBR 1388 ± 150 mbb (thousandths of a big blind) a hand",
        cause="smaller: another game; five hands a player",
    ),
)
