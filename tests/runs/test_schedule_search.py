"""The search for schedules: its family, its choice, and its judgement."""

import dataclasses
import json
import math
from pathlib import Path

import pytest

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.runs import schedule_search
from spiel_dl.runs.schedule_search import (
    RIVAL,
    Trial,
    candidates,
    judge,
    report,
    search,
    variant_of,
)
from spiel_dl.runs.workspace import Workspace
from spiel_dl.solvers.variants import (
    PREDICTIVE_DISCOUNTED_CFR_PLUS,
    scheduled_predictive_cfr_plus,
    scheduled_predictive_discounted_cfr_plus,
)

ROOT = Path(__file__).parents[2]


def test_known_variants_are_in_the_family():
    assert variant_of(RIVAL, 700) == scheduled_predictive_cfr_plus(30, horizon=700)
    kept = json.loads((ROOT / "results/compare_cfr/schedule.json").read_text())["chosen"]
    option, found = scheduled_predictive_discounted_cfr_plus(500), variant_of(kept, 500)
    assert dataclasses.astuple(option) == pytest.approx(dataclasses.astuple(found))
    constant = {"gamma": 5.0, "gamma_end": 5.0, "alpha": 2.3, "alpha_end": 2.3}
    found = variant_of(constant, 100)
    expected = PREDICTIVE_DISCOUNTED_CFR_PLUS
    for name in ("alpha", "beta", "gamma", "predictive", "alpha_change", "gamma_change"):
        assert getattr(found, name) == getattr(expected, name)


def test_candidates_are_within_bounds_and_settled_by_the_seed():
    drawn = candidates(200, 3)
    assert drawn == candidates(200, 3) != candidates(200, 4)
    assert candidates(5, 3) == drawn[:5]
    for each in drawn:
        assert 2 <= each["gamma"] <= 60
        assert 1 <= each["gamma_end"] <= 60
        assert math.isinf(each["alpha"]) == math.isinf(each["alpha_end"])
        assert math.isinf(each["alpha"]) or 1 <= each["alpha"] <= 5
    assert 60 < sum(math.isinf(each["alpha"]) for each in drawn) < 140


def test_a_small_search_from_end_to_end(tmp_path):
    kuhn = {"Kuhn": "kuhn_poker"}
    found = search(Workspace(tmp_path), 3, 30, held_in=kuhn, held_out=kuhn)
    assert [row["mean"] for row in found["tried"]] == sorted(row["mean"] for row in found["tried"])
    assert len(found["tried"]) == 4
    best = next(row for row in found["tried"] if row["schedule"]["gamma"] != 30.0)
    assert found["chosen"] == best["schedule"]
    assert found["judged"]["Kuhn"]["chosen"] == best["found"]["Kuhn"]
    solver = CFRSolver("kuhn_poker", variant=scheduled_predictive_cfr_plus(30, horizon=30))
    solver.run(30)
    expected = exploitability(solver.tree, solver.average_policy())
    assert found["judged"]["Kuhn"]["rival"] == pytest.approx(expected)
    again = Workspace(tmp_path)
    assert search(again, 3, 30, held_in=kuhn, held_out=kuhn) == found
    written = report(found)
    won = schedule_search.wins(found["judged"])
    assert f"in {won} of 1 held-out games, so it becomes " in written.verdict
    assert ("no option" in written.verdict) == (won == 0)


def test_games_are_held_out_and_runs_have_names_of_their_own():
    held_in, held_out = schedule_search.HELD_IN, schedule_search.HELD_OUT
    assert not set(held_in.values()) & set(held_out.values())
    trials = [
        Trial(game, schedule_search._plain(each), 10)
        for game in held_in.values()
        for each in [RIVAL, *candidates(150)]
    ]
    assert len({trial.name for trial in trials}) == len(trials)
    assert judge(trials[0]) > 0


def test_bad_input_is_refused(tmp_path):
    with pytest.raises(ValueError, match="iterations=5 must be at least 10"):
        search(Workspace(tmp_path), 1, 5)
    with pytest.raises(ValueError, match="number=0"):
        candidates(0)
