"""The manifest names what there is, and the scoreboard says which reports are missing or old."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pyspiel
import pytest

from experiments import scoreboard
from experiments.changes import Change
from experiments.judging import judge_again
from experiments.manifest import MANIFEST
from experiments.paper import PAPERS
from experiments.row import Row
from experiments.scoreboard import CURRENT, MISSING, OLD

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
ROW = next(row for row in MANIFEST if row.name == "responses/gadgets")
COMMIT = "0" * 40


def write(results: Path, row: Row, **changes: Any) -> None:
    """A report of a row as it should be, but for these changes."""
    report = {
        "settings": json.loads(json.dumps(row.declared.settings(row.settings()))),
        "environment": {"started": "2026-11-20T00:00:00+00:00", "git_commit": COMMIT},
        "commits_of_parts": [COMMIT],
        "verdict": "met. The paper: says so.",
        "headline": "0.1 ± 0.01 (3 seeds)",
        **changes,
    }
    path = row.report(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report), encoding="utf-8")


@pytest.mark.parametrize("row", MANIFEST, ids=lambda row: row.name)
def test_rows_name_experiments_and_settings_that_there_are(row: Row) -> None:
    assert row.declared.name == row.experiment
    row.settings()
    assert row.minutes > 0


@pytest.mark.parametrize("row", MANIFEST, ids=lambda row: row.name)
def test_reports_are_judged_by_todays_criteria(row: Row, tmp_path: Path) -> None:
    path = row.report(RESULTS)
    if row.declared.judge is None or not path.exists():
        return
    for each in (path, path.with_suffix(".md")):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    assert not judge_again(tmp_path / path.name, row.declared), "run/reproduce.py --scoreboard_only"


def test_no_two_rows_write_the_same_report() -> None:
    names = [row.name for row in MANIFEST]
    assert len(set(names)) == len(names)


def test_every_experiment_of_a_paper_is_in_the_manifest() -> None:
    for paper in PAPERS.values():
        declared = {row.experiment for row in MANIFEST if row.paper == paper.name}
        assert declared == set(paper.experiments)


def test_a_game_string_may_leave_out_what_is_the_default(tmp_path: Path) -> None:
    row = next(row for row in MANIFEST if row.name == "dl_cfr/goofspiel/left_out")
    settings = json.loads(json.dumps(row.declared.settings(row.settings())))
    game = settings["data"]["game"]
    for told, word in (
        (str(pyspiel.load_game(game)), CURRENT),
        (game.replace("num_cards=5", "num_cards=4"), OLD),
    ):
        assert told != game
        settings["data"]["game"] = told
        write(tmp_path, row, settings=settings)
        assert scoreboard.state(row, tmp_path).word == word


@pytest.mark.parametrize("row", MANIFEST, ids=lambda row: row.name)
def test_a_report_of_any_row_can_be_current(row: Row, tmp_path: Path) -> None:
    write(tmp_path, row)
    assert scoreboard.state(row, tmp_path, ()).word == CURRENT


def test_a_report_is_missing_current_or_old(tmp_path: Path) -> None:
    assert scoreboard.state(ROW, tmp_path).word == MISSING
    write(tmp_path, ROW)
    assert scoreboard.state(ROW, tmp_path, ()).word == CURRENT
    change = Change("2026-11-20T01:00:00+00:00", "gadgets differ", ("responses/gadgets",))
    found = scoreboard.state(ROW, tmp_path, [change])
    assert (found.word, found.why) == (OLD, ("gadgets differ",))
    # A report that was written anew has parts of before.
    between = dataclasses.replace(change, when="2026-11-19T23:30:00+00:00")
    assert scoreboard.state(ROW, tmp_path, [between]).word == CURRENT
    write(tmp_path, ROW, oldest_part="2026-11-19T23:15:00+00:00")
    assert scoreboard.state(ROW, tmp_path, [between]).why == ("gadgets differ",)
    earlier = dataclasses.replace(change, when="2026-11-19T23:00:00+00:00")
    elsewhere = dataclasses.replace(change, rows=("dl_cfr/*",))
    assert scoreboard.state(ROW, tmp_path, [earlier, elsewhere]).word == CURRENT


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"settings": {"gadgets": ["joint"]}}, "other settings: gadgets"),
        ({"settings": {}}, "other settings: gadgets"),
        (
            {"environment": {"started": "2026-11-20T00:00:00+00:00", "git_commit": "0-dirty"}},
            "not made by a clean commit",
        ),
        ({"commits_of_parts": ["unknown"]}, "not made by a clean commit"),
        ({"headline": ""}, "no headline"),
        ({"commits_of_parts": [COMMIT, "1" * 40]}, "parts of several commits"),
    ],
)
def test_what_makes_a_report_old(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    write(tmp_path, ROW, **changes)
    assert scoreboard.state(ROW, tmp_path, ()).why == (why,)


def test_new_parts_are_needed_but_for_a_headline(tmp_path: Path) -> None:
    for changes, needed in (
        ({}, False),
        ({"headline": ""}, False),
        ({"commits_of_parts": [COMMIT, "1" * 40]}, True),
        ({"settings": {}}, True),
    ):
        write(tmp_path, ROW, **changes)
        found = scoreboard.state(ROW, tmp_path, ())
        assert scoreboard.needs_new_parts(found) == needed


def test_a_report_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, ROW)
    path = ROW.report(tmp_path)
    path.write_text(path.read_text()[:-5], encoding="utf-8")
    with pytest.raises(ValueError, match=r"gadgets\.json is no JSON file.*--only=gadgets"):
        scoreboard.state(ROW, tmp_path)


def test_open_rows_are_those_without_a_current_report(tmp_path: Path) -> None:
    assert scoreboard.open_rows(tmp_path) == list(MANIFEST)
    assert scoreboard.open_rows(tmp_path, ["responses/gadgets"]) == [ROW]
    # Later than all changes of the code so far.
    write(tmp_path, ROW, environment={"started": "2030-01-01T00:00:00+00:00", "git_commit": COMMIT})
    assert scoreboard.open_rows(tmp_path, ["responses/gadgets"]) == []
    told = r"'nothing' names no experiment of the manifest; --list names .* needs a Row"
    with pytest.raises(ValueError, match=told):
        scoreboard.open_rows(tmp_path, ["nothing"])
    with pytest.raises(ValueError, match=r"did you mean responses/gadgets.*\? --list names"):
        scoreboard.open_rows(tmp_path, ["responses/gagdets"])


def test_the_page_has_a_line_for_every_row(tmp_path: Path) -> None:
    write(tmp_path, ROW)
    page = scoreboard.page(tmp_path)
    assert page.count("| missing |") == len(MANIFEST) - 1
    [line] = [line for line in page.splitlines() if line.startswith("| Figures 4, 8 |")]
    assert "| met |" in line
    assert "0.1 ± 0.01 (3 seeds)" in line
    assert "[responses/gadgets](../results/responses/gadgets.md)" in line


def test_the_committed_page_is_that_of_the_committed_reports() -> None:
    """Which reports are old is read there; `reproduce.py --scoreboard_only` renews it."""
    assert (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8") == scoreboard.page(RESULTS)


def test_a_report_of_another_claim_is_old_and_its_verdict_is_not_shown(tmp_path: Path) -> None:
    write(tmp_path, ROW, claim="another claim")
    found = scoreboard.state(ROW, tmp_path, ())
    assert (found.word, found.why) == (OLD, ("judged by another claim",))
    assert not scoreboard.needs_new_parts(found)
    lines = scoreboard.page(tmp_path).splitlines()
    [line] = [line for line in lines if line.startswith("| Figures 4, 8 |")]
    assert "| met" not in line
