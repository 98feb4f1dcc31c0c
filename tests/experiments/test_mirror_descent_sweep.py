"""The sweep of mirror-descent search, in a game of seconds and on rows by hand."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from experiments.experiment import run
from experiments.particle_search import mirror_descent, steps
from experiments.particle_search.mirror_descent import EXACT, SWEEP, Settings, Study
from experiments.particle_search.study import compiled
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.play.registry import load_array_policy
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.best_response import expected_value

GAME = "abrupt_dark_hex_2x2"


def test_reports_are_written(tmp_path):
    settings = Settings(
        (GAME,),
        learners=("mmd:1", "mmd:2"),
        num_choosing=1,
        num_steps=5,
        stepsizes=(0.3, 20.0),
        temperatures=(0.003,),
        depths=(0, 2),
        num_rollouts=60,
    )
    run(SWEEP, Study(settings, Workspace(tmp_path / "work")), tmp_path)
    content = json.loads((tmp_path / f"{SWEEP.name}.json").read_text())
    control, *searched = content["tables"]["Judged"]
    assert control["setting"] == "no search"
    assert control["before"] == control["after"] > 0.1
    exact = [row for row in searched if row["values"] == "exact values"]
    assert [row["setting"] for row in exact] == ["chosen", "the authors'"]
    assert all(row["least"] > 0 for row in exact), "networks of 5 steps are easily bettered"
    assert GAME in content["headline"]
    with pytest.raises(ValueError, match="num_choosing=2 leaves none"):
        Settings((GAME,), learners=("mmd:1", "mmd:2"), num_choosing=2)
    with pytest.raises(ValueError, match="learner 'mmd' must be"):
        Settings((GAME,), learners=("mmd", "mmd:2"), num_choosing=1)


def test_exact_values_and_steps():
    tree = compiled(GAME)
    table = load_array_policy("cfr:5", tree)
    values = steps.exact_values(tree, table.strategies)
    value = expected_value(tree.sequence_form, plans_of(tree, table.strategies))
    [first] = np.flatnonzero(tree.treeplexes[0].parent_sequence == 0)
    own = tree.treeplexes[0].sequences(int(first))
    told = table.strategies[0][own] @ values[0][own] * tree.utility_range
    assert told == pytest.approx(value), "by the first player's first decision, all is worth that"
    # So small a step keeps what it earns to the first order, which is never less than nothing.
    after = steps.stepped_everywhere(tree, table.strategies, values, 1e-3, 0.0)
    assert steps.gain(tree, after, table.strategies) > 0
    assert exploitability(tree, ArrayPolicy(tree, after)) == pytest.approx(
        exploitability(tree, table), abs=1e-2
    )


def test_the_setting_earns_most_where_all_allow_it():
    settings = Settings((GAME,), stepsizes=(0.3, 3.0, 20.0), temperatures=(0.0,), depths=(0,))
    rows = [
        {"chooses": True, "depth": depth, "stepsize": stepsize, "temperature": 0.0}
        | {"gain": gain, "rise": rise}
        for depth in (0, EXACT)
        for stepsize, rises, gain in ((0.3, (0.0, -0.1), 0.1), (3.0, (0.05, 0.0), 0.2))
        for rise in rises
    ]
    rows += [
        {"chooses": True, "depth": 0, "stepsize": 20.0, "temperature": 0.0}
        | {"gain": 0.9, "rise": rise}
        for rise in (0.06, -1.0)
    ]
    assert mirror_descent.chosen(settings, rows) == (0, 3.0, 0.0)
    fixed = dataclasses.replace(settings, num_choosing=0)
    assert mirror_descent.chosen(fixed, rows) == (0, 0.3, 0.0)
    rows[2]["gain"] = -0.001
    assert mirror_descent.chosen(settings, rows) == (0, 0.3, 0.0)
    for row in rows:
        row["rise"] = 1.0
    assert mirror_descent.chosen(settings, rows) is None
