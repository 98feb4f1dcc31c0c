"""Reports: what they say, in which order, and what is left to the JSON file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib import image

from spiel_dl.runs import plots, reports
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.environment import describe_environment


def test_a_table_in_markdown() -> None:
    rows = [
        {"name": "a", "count": 12345, "error": 0.00012345},
        {"name": "b", "error": 1.0, "unused": 3},
        {"name": "c", "count": None},
    ]
    table = reports.Table(rows, {"count": "how many", "name": "what", "error": "error"})
    assert table.to_markdown() == (
        "| how many | what | error |\n"
        "| ---: | ---: | ---: |\n"
        "| 12,345 | a | 0.000123 |\n"
        "|  | b | 1 |\n"
        "|  | c |  |\n"
    )


def test_a_report_is_two_files(tmp_path: Path) -> None:
    reports.write_report(tmp_path / "new" / "a", {"x": 1}, "# A\n")
    assert json.loads((tmp_path / "new" / "a.json").read_text()) == {"x": 1}
    assert (tmp_path / "new" / "a.md").read_text() == "# A\n"


def test_a_table_has_at_most_eight_columns() -> None:
    titles = {name: name.upper() for name in "abcdefghij"}
    table = reports.Table([dict.fromkeys("acdefghij", 1)], titles)
    assert table.columns == list("acdefghi"), "b is empty"
    assert table.left_out == ["J"]
    assert table.rest is not None
    assert table.rest.titles == {"j": "J"}
    assert table.rest.rest is None
    assert table.to_markdown().splitlines()[0] == "| A | C | D | E | F | G | H | I |"


def test_a_report_says_what_was_found_and_how(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "work", commit="made-it")
    workspace.part("one", {}, lambda: 1)
    titles = {name: name.upper() for name in "abcdefghi"}
    groups = {"curve": [{"x": 1, "y": 2.0}, {"x": 2, "y": 1.0}]}
    panel = plots.Panel("x", "y", "x", "y")
    report = reports.Report(
        "What was found",
        ["A note."],
        {"Numbers": reports.Table([dict.fromkeys(titles, 1.5)], titles)},
        [reports.Picture("curves", "game\nof chance", [panel], groups)],
        verdict="met: less than 2.",
        more={"extra": [1]},
    )
    path = reports.write(
        report,
        tmp_path / "out" / "found",
        describe_environment(),
        settings={"seed": 3},
        seconds=1.0,
        workspace=workspace,
    )
    paragraphs = path.read_text().split("\n\n")
    assert paragraphs[:2] == ["# What was found", "**Verdict:** met: less than 2."]
    assert paragraphs[2].startswith("`python ")
    assert "Parts were made by commit made-it." in paragraphs[2]
    assert paragraphs[3:5] == ["A note.", "## Numbers"]
    assert paragraphs[6] == "More columns are in found.json: I."
    assert paragraphs[7].rstrip() == "![game; of chance](curves.png)"
    content = json.loads(path.with_suffix(".json").read_text())
    assert content["tables"]["Numbers"] == [dict.fromkeys(titles, 1.5)]
    assert content["settings"] == {"seed": 3}
    assert content["extra"] == [1]
    assert image.imread(tmp_path / "out" / "curves.png")[..., :3].std() > 0.01


def test_pictures_of_one_place_are_left_out(tmp_path: Path) -> None:
    panel = plots.Panel("x", "y", "x", "y")
    groups = {name: [{"x": 1, "y": y}] for name, y in (("a", 2.0), ("b", 1.0))}
    more = {**groups, "c": [{"x": 2, "y": 1.0}]}
    pictures = [reports.Picture(name, "t", [panel], g) for name, g in (("p", groups), ("q", more))]
    path = reports.write(
        reports.Report("A", [], {}, pictures), tmp_path / "a", describe_environment()
    )
    assert [each.name for each in tmp_path.glob("*.png")] == ["q.png"]
    assert [p["name"] for p in json.loads((tmp_path / "a.json").read_text())["pictures"]] == ["q"]
    assert path.read_text().count("![") == 1


def test_pictures_are_drawn_anew_from_the_json_file(tmp_path: Path) -> None:
    """With words, bands, and what a picture has no place for."""
    groups = {
        f"curve, seed {s}": [
            {"x": "one", "y": 2.0 + s, "w": None, "other": "z"},
            {"x": "two", "y": 1.0, "w": 0.5},
            {"x": "two", "y": float("nan"), "w": 0.5},
        ]
        for s in (0, 1)
    }
    panel = plots.Panel("x", "y", "x", "y", "linear", band=("w",))
    picture = reports.Picture("curves", "game", [panel], groups, {"line": {"y": 1.5}}, joined=False)
    report = reports.Report("A", [], {}, [picture])
    reports.write(report, tmp_path / "a", describe_environment())
    before = image.imread(tmp_path / "curves.png")
    (tmp_path / "curves.png").unlink()
    assert reports.redraw(tmp_path / "a.json") == [tmp_path / "curves.png"]
    assert (image.imread(tmp_path / "curves.png") == before).all()
    (tmp_path / "old.json").write_text("{}")
    with pytest.raises(ValueError, match=r"old\.json has no entry 'pictures'"):
        reports.redraw(tmp_path / "old.json")
