"""Which responses of RNR a gadget loses: right games, right counts."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from experiments.experiment import run
from experiments.responses import small_games
from experiments.responses.gadgets import GADGET_SETS
from experiments.responses.responders import compile_named
from experiments.verdicts import FAILS, PARTLY, REPRODUCED
from spiel_dl.policies.array_policy import ArrayPolicy
from tests.tiny_responses import SETTINGS, responder, study


@pytest.mark.parametrize("name", ["lost_by_resolving", "lost_by_max_margin"])
def test_lost_actions_have_the_gains_and_exploitabilities_they_are_made_for(name: str) -> None:
    tree = compile_named(name)
    found = responder(name, small_games.fool(tree))
    assert found.value == pytest.approx(0.0, abs=1e-9)
    for action, expected in enumerate(((0, 0), (4, 1), (7, 2), (9, 3), (10, 4))):
        policy = ArrayPolicy.uniform(tree)
        policy.strategies[0][1:] = np.arange(5) == action
        judged = found.judge(policy)
        assert (judged["gain"], judged["exploitability"]) == pytest.approx(expected)


@pytest.mark.slow
def test_gadgets_lose_what_they_are_said_to(tmp_path: Path) -> None:
    """The full set without gadget and with `joint`; its two ends with a wrong gadget."""
    sweep = dataclasses.replace(
        SETTINGS[GADGET_SETS].sweep, gadgets=("joint", "resolving", "max_margin")
    )
    path = run(GADGET_SETS, study(GADGET_SETS, tmp_path, sweep=sweep), tmp_path)
    content = json.loads(path.with_suffix(".json").read_text())
    assert content["verdict"].startswith(f"{REPRODUCED}. The paper: the resolving and the max")
    [rows] = content["tables"].values()
    number = {}
    for row in rows:
        assert abs(row["below_pareto"]) < 1e-5
        assert row["of_rnr"] == "yes"
        key = row["game"].removeprefix("lost_by_"), row["method"].removeprefix("CDRNR, ")
        number[key] = number.get(key, 0) + 1
    for method in ("RNR", "joint"):
        assert number["resolving", method] == number["max_margin", method] == 5
    assert number["resolving", "resolving"] == 2
    assert number["resolving", "max_margin"] == 5
    assert number["max_margin", "resolving"] == 5
    assert number["max_margin", "max_margin"] == 2


def test_only_responses_of_rnr_count_as_recovered(tmp_path: Path) -> None:
    """RNR has three responses; the resolving gadget has two of them and a dominated one."""

    def points(*pairs: tuple[float, float]) -> list[dict[str, float]]:
        return [
            {"parameter": 0.1 * number, "gain": gain, "exploitability": exploitability}
            for number, (gain, exploitability) in enumerate(pairs, start=1)
        ]

    methods = {
        "CDRNR, resolving": points((4.0, 1.0), (3.0, 3.0), (7.0, 2.0)),
        "CDRNR, full": points((4.0, 1.0), (7.0, 2.0), (7.0, 2.5), (9.0, 3.0)),
        "RNR": points((4.0, 1.0), (7.0, 2.0), (7.0, 2.0), (9.0, 3.0)),
    }

    def told(*chosen: str) -> tuple[str, str, list[str]]:
        labels = {"game": "lost_by_resolving", "model": "fool", "player": 0}
        found = [(labels, {name: methods[name] for name in chosen})]
        report = GADGET_SETS.render(study(GADGET_SETS, tmp_path), found)
        [table] = report.tables.values()
        return report.verdict, report.headline, [row["of_rnr"] for row in table.rows]

    headline = "of RNR's 3 responses are recovered: CDRNR, resolving 2, CDRNR, full 3"
    assert told("CDRNR, resolving", "CDRNR, full", "RNR") == (
        REPRODUCED,
        headline,
        [*["yes"] * 3, "yes", "no", "yes", "yes", "yes", "no", "yes"],
    )
    methods["CDRNR, full"].pop(1)
    assert told("CDRNR, resolving", "CDRNR, full", "RNR")[0].startswith(f"{PARTLY}:")
    methods["CDRNR, resolving"].append(methods["RNR"][-1])
    assert told("CDRNR, resolving", "RNR")[0] == FAILS
    assert told("RNR")[0] == ""
