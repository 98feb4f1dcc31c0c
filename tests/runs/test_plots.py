"""Pictures: what is drawn, what cannot be, and that nothing happens at import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib import image
from matplotlib.axes import Axes

from spiel_dl.runs import plots


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


def test_convergence_is_drawn_against_iterations_and_seconds(tmp_path: Path) -> None:
    curve = [{"iteration": n, "solving_seconds": n / 10, "nash_conv": 1 / n} for n in (1, 10, 100)]
    plots.plot_convergence(tmp_path / "a.png", {"CFR+": curve}, "game", "nash_conv", "NashConv")
    two = image.imread(tmp_path / "a.png")
    plots.plot_panels(tmp_path / "b.png", [plots.Panel("iteration", "nash_conv", "", "")], {}, "t")
    one = image.imread(tmp_path / "b.png")
    assert two.shape[1] > 1.5 * one.shape[1]
    assert two[..., :3].std() > one[..., :3].std()


def test_titles_break_behind_commas() -> None:
    game = "python_goofspiel_ii(num_cards=5,num_turns=-1,points_order=descending)"
    lines = plots.wrapped(f"rnad: {game}\ndepth limit 3 rounds", 40)
    assert lines == [
        "rnad: python_goofspiel_ii(num_cards=5,",
        "num_turns=-1,points_order=descending)",
        "depth limit 3 rounds",
    ]
    assert plots.wrapped(game, 100) == [game]


def test_seeds_of_one_label_are_one_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = {
        f"{label}, seed {seed}": [{"x": 1, "y": 1.0 + seed}, {"x": 2, "y": 2.0 + 3 * seed}]
        for label in ("linear", "quadratic")
        for seed in (0, 2)
    }
    drawn, bands = {}, []
    plot = Axes.plot

    def note(self: Axes, xs: list[float], ys: list[float], **style: Any) -> Any:
        drawn[style.get("label", len(drawn))] = (style["color"], xs, ys)
        return plot(self, xs, ys, **style)

    def note_band(self: Axes, *band: list[float], **style: Any) -> None:
        bands.append((style["color"], *band))

    monkeypatch.setattr(Axes, "plot", note)
    monkeypatch.setattr(Axes, "fill_between", note_band)
    plots.plot_panels(tmp_path / "a.png", [plots.Panel("x", "y", "x", "y")], groups, "t")
    assert len(drawn) == len(bands) == 2
    mean = drawn["linear, mean and range of 2 seeds"]
    assert mean[1:] == ([1.0, 2.0], [2.0, 5.0])
    assert bands[0] == (mean[0], [1.0, 2.0], [1.0, 2.0], [3.0, 8.0])
    assert mean[0] != drawn["quadratic, mean and range of 2 seeds"][0]


def test_points_that_are_not_joined_have_no_mean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {f"seed {seed}": [{"x": 1 + seed, "y": 2.0}, {"x": 5, "y": 3.0}] for seed in (0, 1)}
    drawn = []
    monkeypatch.setattr(Axes, "plot", lambda _, xs, ys, **style: drawn.append((xs, ys, style)))
    panels = [plots.Panel("x", "y", "x", "y", "linear")]
    plots.plot_panels(tmp_path / "a.png", panels, groups, "t", joined=False)
    [(xs, ys, style)] = drawn
    assert (xs, ys, style["label"]) == ([1, 5, 2, 5], [2.0, 3.0, 2.0, 3.0], "2 seeds")


def test_importing_the_rooms_imports_no_extra() -> None:
    """Neither does it choose a backend of matplotlib's for the whole process."""
    names = ["runs.plots", "runs.reports", "runs.workspace", "play.public_tree_page"]
    modules = ", ".join(f"spiel_dl.{name}" for name in names)
    extras = "{'matplotlib', 'tensorboard', 'jinja2'}"
    code = f"import sys, {modules}; print({extras} & {{*sys.modules}})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install .* -e "\.\[runs\]" in the repo'):
        plots.plot_panels(tmp_path / "a.png", [plots.Panel("x", "y", "", "")], {}, "t")
    assert list(tmp_path.iterdir()) == []
