"""States of reports, and their lines on the scoreboard."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from experiments import ledger, scoreboard
from experiments.experiment import OURS, Row
from experiments.ledger import CURRENT, MISSING, OLD
from experiments.manifest import MANIFEST, PAPERS, Paper
from experiments.settings import declared
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.pages import ROOT

RESULTS = ROOT / "results"
IS_PAPER = {row: bool(paper.not_covered) for paper in PAPERS for row in paper.rows}
ROW = next(row for row in MANIFEST if row.name == "responses/gadgets")
COMMIT = "0" * 40


def write(results: Path, row: Row = ROW, **changes: Any) -> dict[str, Any]:
    """A report of a row as it should be, but for these changes."""
    report = {
        "settings": {},
        "environment": {"started": "2026-11-20T00:00:00+00:00", "git_commit": COMMIT},
        "commits_of_parts": [COMMIT],
        "verdict": "reproduced. The paper: says so.",
        "headline": "0.1 ± 0.01 (3 seeds)",
        "claim": row.experiment.claim,
        **changes,
    }
    path = row.report(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report), encoding="utf-8")
    return report


def test_a_report_is_missing_current_or_old(tmp_path: Path) -> None:
    assert ledger.state(ROW, tmp_path).word == MISSING
    write(tmp_path)
    assert ledger.state(ROW, tmp_path).why == ("other inputs than declared",)
    ledger.record(ROW, tmp_path, {})
    assert ledger.state(ROW, tmp_path).word == CURRENT
    # A setting, a version: the report is old. A place, a name for people: it is not.
    settings = dataclasses.replace(ROW.settings, players=(1,))
    later = dataclasses.replace(ROW.experiment, version=ROW.experiment.version + 1)
    for other in (
        dataclasses.replace(ROW, settings=settings),
        dataclasses.replace(ROW, experiment=later),
    ):
        assert ledger.state(other, tmp_path).word == OLD
    retitled = dataclasses.replace(ROW.experiment, title="Another title")
    moved = dataclasses.replace(ROW, experiment=retitled, place="Figure 1")
    assert ledger.state(moved, tmp_path).word == CURRENT


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"environment": {"started": "2026-11-20T00:00:00+00:00", "git_commit": "0-dirty"}},
            "not made by a clean commit",
        ),
        ({"commits_of_parts": ["unknown"]}, "not made by a clean commit"),
        ({"commits_of_parts": [COMMIT, "1" * 40]}, "parts of several commits"),
    ],
)
def test_what_makes_a_report_old(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    write(tmp_path, **changes)
    ledger.record(ROW, tmp_path, {})
    assert ledger.state(ROW, tmp_path).why == (why,)


@pytest.mark.parametrize(
    ("seeds_before", "claim_before", "is_kept"),
    [([1], "another.", True), ([3], "another.", False), (None, "another.", True), ([1], "", False)],
)
def test_running_it_again_does_not_make_a_criterion_one_that_was_set_before(
    seeds_before: list[int] | None, claim_before: str, is_kept: bool, tmp_path: Path
) -> None:
    write(tmp_path, settings={"seeds": [1, 2]})
    earlier = {
        "claim": claim_before or ROW.experiment.claim,
        "verdict": "open. The paper: another.",
        "headline": "at most 9",
        "settings": {"seeds": seeds_before} if seeds_before else {},
    }
    ledger.record(ROW, tmp_path, earlier)
    assert ("came_with" in ledger.read(tmp_path)[ROW.name]) == is_kept
    page = scoreboard.appendix(tmp_path)
    assert ("*Set after; before: open.*" in page) == is_kept
    # It stays so when the row is run once more.
    ledger.record(ROW, tmp_path, json.loads(ROW.report(tmp_path).read_text()))
    assert ("came_with" in ledger.read(tmp_path)[ROW.name]) == is_kept


def test_rows_that_end_at_the_same_time_are_all_entered(tmp_path: Path) -> None:
    rows = MANIFEST[:8]
    for row in rows:
        write(tmp_path, row)
    with ThreadPoolExecutor(len(rows)) as pool:
        list(pool.map(lambda row: ledger.record(row, tmp_path, {}), rows))
    assert ledger.read(tmp_path).keys() == {row.name for row in rows}


def test_open_rows_are_those_without_a_current_report(tmp_path: Path) -> None:
    assert scoreboard.open_rows(tmp_path) == list(MANIFEST)
    write(tmp_path)
    ledger.record(ROW, tmp_path, {})
    assert scoreboard.open_rows(tmp_path, ["responses/gadgets"]) == []
    with pytest.raises(ValueError, match=r"'nothing' names no row; --list names all"):
        scoreboard.open_rows(tmp_path, ["nothing"])
    with pytest.raises(ValueError, match=r"did you mean responses/gadgets.*\? --list names"):
        scoreboard.open_rows(tmp_path, ["responses/gagdets"])


def test_every_row_has_a_line(tmp_path: Path) -> None:
    write(tmp_path, headline="0.1 ± 0.01 (3 seeds)" + ", and more" * 50)
    ledger.record(ROW, tmp_path, {})
    everything = scoreboard.appendix(tmp_path)
    assert everything.count("| missing |") == len(MANIFEST) - 1
    page = scoreboard.page(tmp_path)
    [line] = [line for line in page.splitlines() if line.startswith("| Figures 4, 8, 9 |")]
    assert "| reproduced |" in line
    assert "[responses](../results/responses/gadgets.md)" in line
    assert max(map(len, line.split("|"))) < 200
    for row in MANIFEST:
        # What has no report is missing; what is ours is not on the page.
        assert (f"`{row.name}`" in page) == (row.place != OURS and row is not ROW and IS_PAPER[row])


def test_a_paper_of_which_everything_is_covered_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = dataclasses.replace(ROW, place="Figure 4")
    monkeypatch.setattr(scoreboard, "PAPERS", [Paper("A paper", [row])])
    assert f"- A paper\n    - Figure 4: `{row.name}`" in scoreboard.page(tmp_path)
    write(tmp_path)
    ledger.record(row, tmp_path, {})
    page = scoreboard.page(tmp_path)
    assert "## A paper\n" in page
    assert page.endswith("## Missing\n\nNone.\n")


def test_a_contradiction_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = dataclasses.replace(ROW, place="Figure 4", checked="a peer", why="It is larger. So is p.")
    monkeypatch.setattr(scoreboard, "PAPERS", [Paper("A paper", [row])])
    write(tmp_path, row, verdict="contradicts (checked by a peer). The paper: says so.")
    ledger.record(row, tmp_path, {})
    assert f"## Contradictions\n\n- `{row.name}`: {row.why}\n" in scoreboard.page(tmp_path)


def test_the_committed_pages_are_those_of_the_committed_reports() -> None:
    """`reproduce.py --scoreboard_only` renews them."""
    assert (ROOT / "docs" / "scoreboard.md").read_text(encoding="utf-8") == scoreboard.page(RESULTS)
    every = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert every.endswith(scoreboard.appendix(RESULTS))


def test_verdicts_are_those_of_the_reports_or_are_said_to_be_set_after() -> None:
    for row in MANIFEST:
        found = ledger.state(row, RESULTS)
        if found.word != CURRENT:
            continue
        now = row.experiment.in_words(scoreboard.judged(row, found).verdict)
        assert found.report["verdict"] == now or "came_with" in found.entry, row.name


@functools.cache
def complete(game: str) -> str:
    try:
        return str(load_turn_based(game))
    except ValueError:  # a name of an experiment's own
        return game


def leaves(settings: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from leaves(value)
        else:
            yield name, complete(value) if name == "game" and value else value


LEFT_OUT = {
    ("dl_cfr", "depth_limit"),
    ("particle", "data_per_seed"),
    ("particle", "final_learning_rate"),
    ("particle", "never_reached"),
}
"""What was a constant of the code when some older reports of a folder were made."""
LISTED_AS_EMPTY = {
    (name, setting)
    for name in ("responses/table_1", "responses/late_mistakes")
    for setting in ("games", "models")
}
"""What older reports tell as [] where the experiment's own games and models were run."""


def test_what_is_declared_is_what_the_reports_tell() -> None:
    for row in MANIFEST:
        if ledger.state(row, RESULTS).word != CURRENT:
            continue
        recorded: dict[str, list[object]] = {}
        for name, value in leaves(json.loads(row.report(RESULTS).read_text())["settings"]):
            recorded.setdefault(name, []).append(value)
        for name, value in leaves(json.loads(json.dumps(declared(row.settings)))):
            if name not in recorded:
                assert (row.name.split("/")[0], name) in LEFT_OUT, f"{row.name}: {name}"
            elif (row.name, name) in LISTED_AS_EMPTY:
                assert recorded[name] == [[]]
            else:
                told = str(value) if value == math.inf else value  # JSON has no infinity
                assert told in recorded[name], f"{row.name}: {name}"
