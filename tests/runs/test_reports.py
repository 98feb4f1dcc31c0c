"""Reports and pictures: what they say, and what they cannot draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from matplotlib import image

from spiel_dl.runs import plots, reports


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


@pytest.mark.parametrize("num_panels", [1, 3, 5])
def test_panels_are_drawn(num_panels: int, tmp_path: Path) -> None:
    """Also zeros, which have no place on a logarithmic axis."""
    names = [f"y{number}" for number in range(num_panels)]
    panels = [plots.Panel("x", name, "x", name) for name in names]
    groups = {
        "first": [{"x": 1, **dict.fromkeys(names, 0.5)}, {"x": 10, **dict.fromkeys(names, 0.0)}],
        "second": [{"x": 3, **dict.fromkeys(names, 2.0)}],
    }
    plots.plot_panels(tmp_path / "a.png", panels, groups, "t", levels={"line": {"y0": 1.0}})
    picture = image.imread(tmp_path / "a.png")
    assert picture.ndim == 3
    assert picture[..., :3].std() > 0.01
