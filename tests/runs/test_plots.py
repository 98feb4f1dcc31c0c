"""Pictures: what is drawn, what cannot be, and that nothing happens at import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from spiel_dl.runs import plots


def curve(*ys: float, **more: float) -> list[dict[str, Any]]:
    return [{"x": number + 1, "y": y, **more} for number, y in enumerate(ys)]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that a test saves."""
    saved, save = [], Figure.savefig

    def note(self: Figure, *arguments: Any, **more: Any) -> None:
        saved.append(self)
        save(self, *arguments, **more)

    monkeypatch.setattr(Figure, "savefig", note)
    return saved


def test_bands_are_of_half_widths_or_of_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bands = []
    monkeypatch.setattr(Axes, "fill_between", lambda _, *band, **style: bands.append(band[1:]))
    groups = {
        "wide": [{"x": 1, "y": 2.0, "w": 0.5}, {"x": 2, "y": 3.0, "w": None}, {"x": 3, "y": 4.0}],
        "none": [*curve(1.0, 2.0, 3.0), {"x": 4, "y": None}],
    }
    panel = plots.Panel("x", "y", "x", "y", band=("w",))
    plots.plot_panels(tmp_path / "a.png", [panel], groups, "t")
    assert bands == [([1.5, 3.0, 4.0], [2.5, 3.0, 4.0])]
    ends = {"ends": curve(1.0, 2.0, low=0.5, high=4.0)}
    panel = plots.Panel("x", "y", "x", "y", band=("low", "high"))
    plots.plot_panels(tmp_path / "a.png", [panel], ends, "t")
    assert bands[1:] == [([0.5, 0.5], [4.0, 4.0])]


@pytest.mark.parametrize(
    ("ys", "scale"),
    [
        ([1.0, 0.1, 1e-6], "log"),
        ([1.0, 0.1, 0.0, -1e-13], "symlog"),
        ([1.0, 0.1, -0.1], "linear"),
        ([0.0, 0.0], "linear"),
        ([], "linear"),
    ],
)
def test_zeros_have_a_place_on_logarithmic_axes(
    ys: list[float], scale: str, tmp_path: Path, figures: list[Figure]
) -> None:
    panel = plots.Panel("x", "y", "x", "y")
    plots.plot_panels(tmp_path / "a.png", [panel], {"a": curve(*ys)}, "t")
    axes = figures[0].axes[0]
    assert axes.get_yscale() == scale
    [line] = axes.get_lines()
    assert line.get_ydata().tolist() == ys
    if scale == "symlog":
        labels = [text.get_text() for text in axes.get_yticklabels()]
        assert labels[:2] == ["0", "$10^{0}$"]


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
    mean = drawn["linear"]
    assert mean[1:] == ([1.0, 2.0], [2.0, 5.0])
    assert bands[0] == (mean[0], [1.0, 2.0], [1.0, 2.0], [3.0, 8.0])
    assert mean[0] != drawn["quadratic"][0]


def test_zero_has_a_place_beside_values_between_two_powers_of_ten(
    tmp_path: Path, figures: list[Figure]
) -> None:
    points = [{"x": x, "y": y} for x, y in enumerate((0.5, 0.3, 0.0))]
    plots.plot_panels(
        tmp_path / "a.png", [plots.Panel("x", "y", "", "", "linear")], {"a": points}, ""
    )
    [axes] = figures[0].axes
    [line] = axes.get_lines()
    assert line.get_xydata().tolist() == [[0.0, 0.5], [1.0, 0.3], [2.0, 0.0]]
    assert axes.get_ylim()[0] <= 0.0


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'pip install .* -e "\.\[runs\]" in the repo'):
        plots.plot_panels(tmp_path / "a.png", [plots.Panel("x", "y", "", "")], {}, "t")
    assert list(tmp_path.iterdir()) == []
