"""Reports: what they say, in which order, and what is left to the JSON file."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib import image

from spiel_dl.runs import plots, reports
from spiel_dl.system.environment import describe_environment


def test_a_table_in_markdown() -> None:
    rows = [
        {"name": "a", "count": 12345, "error": 0.00012345},
        {"name": "b", "error": 1.0, "unused": 3},
        {"name": True, "count": None, "error": 999.7},
    ]
    table = reports.Table(rows, {"count": "how many", "name": "what", "error": "error"})
    assert table.to_markdown() == (
        "| how many | what | error |\n"
        "| ---: | ---: | ---: |\n"
        "| 12,345 | a | 0.000123 |\n"
        "|  | b | 1 |\n"
        "|  | True | 1,000 |\n"
    )


def test_a_table_is_aligned_on_a_terminal_and_markdown_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"game": "leduc_poker", "[value]": 0.5}, {"game": "kuhn", "[value]": 12345}]
    table = reports.Table.of(rows)
    table.show()
    assert capsys.readouterr().out == table.to_markdown()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    table.show()
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert [line.split() for line in (lines[0], *lines[2:])] == [
        ["game", "[value]"], ["leduc_poker", "0.5"], ["kuhn", "12,345"]
    ]  # fmt: skip
    assert len({len(line) for line in (lines[0], *lines[2:])}) == 1


def test_a_table_has_at_most_eight_columns() -> None:
    titles = {name: name.upper() for name in "abcdefghij"}
    table = reports.Table([dict.fromkeys("acdefghij", 1)], titles)
    assert table.columns == list("acdefghi"), "b is empty"
    assert table.rest.titles == {"j": "J"}
    assert table.rest.rest is None
    assert table.to_markdown().splitlines()[0] == "| A | C | D | E | F | G | H | I |"


def test_a_slash_at_the_end_of_a_path_hides_nothing(tmp_path: Path) -> None:
    written = reports.write(reports.Report("A", [], {}), f"{tmp_path}/a/", describe_environment())
    assert written == tmp_path / "a.md"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.json", written]


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
