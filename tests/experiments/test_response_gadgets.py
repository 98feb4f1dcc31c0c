"""The responses of RNR that each gadget loses: games and counts."""

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
from experiments.verdicts import REPRODUCED
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
