"""CDBR below an equilibrium: the counterexample of Milec et al. (2024), appendix F, Figure 10."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pyspiel

from experiments.experiment import Experiment, Row, Study
from experiments.responses.best_nash import best_nash
from experiments.responses.responders import Responder
from experiments.settings import Checked
from experiments.verdicts import Judgement, Tables, verdict
from spiel_dl.algorithms.best_response import best_response_policy
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.exploitability import game_value
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.game_tree import GameTree

GAME = """EFG 2 R "matching pennies with a gift" { "0" "1" } ""

p "" 1 1 "own coin" { "heads" "tails" } 0
p "" 2 1 "coin" { "heads" "tails" } 0
t "" 1 "" { 1 -1 }
t "" 2 "" { 0 0 }
p "" 2 1 "coin" { "heads" "tails" } 0
t "" 3 "" { 0 0 }
p "" 2 2 "gift" { "give" "keep" } 0
t "" 4 "" { 10 -10 }
t "" 5 "" { 1 -1 }
"""
_MODEL = np.array([2 / 3, 1 / 3, 1.0, 0.0])
"""Player 1's probabilities of heads and tails, and of giving and keeping."""
_BEFORE_THE_GIFT = DepthLimit(moves=2)
_BOTH = "an equilibrium, against an equilibrium"
_PAPERS = {
    "a best response": 10 / 3,
    "an equilibrium": 2.0,
    "CDBR": 2 / 3,
    _BOTH: 1 / 2,
}


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """The depth limit, behind which CDBR assumes a rational opponent."""

    depth_limit: DepthLimit = _BEFORE_THE_GIFT


def _compute(study: Study[Settings]) -> list[dict[str, Any]]:
    tree = GameTree.from_game(pyspiel.load_efg_game(GAME))
    model = ArrayPolicy.uniform(tree)
    model.strategies[1][1:] = _MODEL
    value = game_value(tree, 0)
    responder = Responder(tree, model, 0, value)
    limit = study.settings.depth_limit
    responses = {
        "a best response": best_response_policy(tree, model, 0),
        "an equilibrium": best_nash(tree, 0, model),
        "CDBR": CDBRPolicy(tree, 0, model, limit, exact=True).to_array_policy(),
    }
    values = {name: responder.judge(policy)["gain"] + value for name, policy in responses.items()}
    values[_BOTH] = value
    return [{"plays": name, "ours": values[name], "paper": _PAPERS[name]} for name in _PAPERS]


def _report(study: Study[Settings], rows: list[dict[str, Any]]) -> Report:
    return Report(
        "",
        [
            "Matching pennies: player 0 wins 1 if both choose the same. If both choose tails, "
            "player 1 may give 10 instead. The model chooses heads two times in three, and always "
            f"gives. CDBR looks {study.settings.depth_limit} ahead, to before the gift, and takes "
            "player 1 for rational behind that. All are linear programs.",
        ],
        {"Player 0's utility against the model": Table.of(rows, plays="player 0 plays")},
    )


def _judge(tables: Tables) -> Judgement:
    """Judges all numbers of the paper, to 1e-6: equilibria may lose 1e-9."""
    (rows,) = tables.values()
    parts = {row["plays"]: math.isclose(row["ours"], row["paper"], abs_tol=1e-6) for row in rows}
    return Judgement(verdict(parts), ", ".join(f"{r['plays']} {r['ours']:.3g}" for r in rows))


COUNTEREXAMPLE = Experiment(
    name="counterexample",
    title="CDBR below an equilibrium, against a model that errs behind the depth limit",
    metric="utility",
    claim=(
        "a best response gets 10/3, an equilibrium 2, and CDBR less than that and more than the "
        "value of the game, 1/2 (appendix F, Figure 10); by hand, CDBR gets 2/3."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
)
ROWS = (
    Row(
        COUNTEREXAMPLE,
        "responses",
        Settings(),
        "Figure 10",
        1,
        paper="10/3 for a best response, 2 for an equilibrium, less for CDBR",
    ),
)
