"""Plots of results in one style, readable in print and on dark pages.

Each curve has a color, a dash and a marker of its own, so that color alone distinguishes none.
Runs that differ only in their seed, "LABEL, seed N" or "LABEL of seed N", are one curve: their
mean, in a band from the lowest to the highest of them.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spiel_dl.system.messages import how_to_install
from spiel_dl.system.tensor_files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
# The color-blind palette of Okabe and Ito (2008), without yellow, which is too light for print.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_COLUMNS = 4
_PANEL_INCHES = (4.4, 3.9)
_LEGEND_COLUMN_INCHES = 2.9
_TITLE_CHARACTERS_PER_INCH = 14.0
_BREAK = "\u200b"
_SEED = re.compile(r"(?:(?:,| of) )?seed (\d+)$")
_ROUNDING = 1e-11
"""Relative to the largest value: smaller values are rounding errors of 0."""
_MAX_POWERS = 7
"""Maximum number of powers of ten with ticks on an axis."""
_STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "grid.color": "#D9DDE3",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    # Opaque, because black text is invisible on a dark page.
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 150,
}


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes, and the entries of rows that it shows.

    Attributes:
      x: the entry on the x-axis; strings make it a categorical axis.
      y: the entry on the y-axis.
      x_title: title of the x-axis.
      y_title: title of the y-axis, which also explains the band, if there is one.
      x_scale: "log" or "linear".
      y_scale: "log" or "linear". On a log axis zeros stand below all powers of ten; negative
        entries make it linear.
      band: the entries of a band around y: one, its half width, or two, its ends. Rows that lack
        them have no band.
    """

    x: str
    y: str
    x_title: str
    y_title: str
    x_scale: str = "log"
    y_scale: str = "log"
    band: Sequence[str] = ()


class _Points(NamedTuple):
    """The points of a run in a panel, or of the mean of several runs, and the band around them."""

    xs: list[Any]
    ys: list[float]
    lows: list[float]
    highs: list[float]


@dataclasses.dataclass(frozen=True)
class _Curve:
    """A curve of one or several seeds.

    Attributes:
      label: in the legend.
      number: the curve's number, which determines its color, dash and marker.
      runs: the rows of each seed.
      joined: whether points are joined by lines.
    """

    label: str
    number: int
    runs: Sequence[Rows]
    joined: bool

    @property
    def is_mean(self) -> bool:
        """Whether to draw the mean of seeds: they must have equally many rows."""
        return self.joined and len(self.runs) > 1 and len({len(rows) for rows in self.runs}) == 1

    @property
    def note(self) -> str:
        """Describes how several seeds are drawn; empty for one."""
        if len(self.runs) == 1:
            return ""
        drawing = "mean and range of" if self.is_mean else "each of" if self.joined else ""
        return f"{drawing} {len(self.runs)} seeds".strip()

    @property
    def style(self) -> dict[str, Any]:
        """Its color, dash and marker."""
        cycle, color = divmod(self.number, len(_COLORS))
        return {
            "color": _COLORS[color],
            "linestyle": _DASHES[cycle % len(_DASHES)],
            "marker": _MARKERS[self.number % len(_MARKERS)],
            "markersize": 3.5,
            "linewidth": 1.4 if self.joined else 0.0,
        }

    def points(self, panel: Panel) -> list[_Points]:
        """The points of the runs' mean, or of each run."""
        runs = [_points(rows, panel) for rows in self.runs]
        if not self.joined:
            return [_Points(*([value for run in runs for value in run[k]] for k in range(4)))]
        return [_mean(runs)] if self.is_mean else runs


def plot_panels(
    path: str | os.PathLike[str],
    panels: Sequence[Panel],
    groups: Mapping[str, Rows],
    title: str,
    *,
    levels: Mapping[str, Mapping[str, float]] | None = None,
    joined: bool = True,
) -> None:
    """Draws groups of rows in several panels, as a PNG.

    Args:
      path: of the PNG file.
      panels: the panels.
      groups: rows by label. A panel leaves out rows that lack one of its entries.
      title: the complete game string, and further description.
      levels: by label, values by names of y-entries: dashed horizontal lines.
      joined: join the points of a group by lines.

    Raises:
      ImportError: if matplotlib is not installed; the message says how to install it.
    """
    try:
        import matplotlib as mpl
        import matplotlib.figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib: {how_to_install('runs')}") from error
    with mpl.rc_context(_STYLE):
        figure = _figure(panels, _curves(groups, joined), title, levels or {})
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png")


def _figure(
    panels: Sequence[Panel],
    curves: Sequence[_Curve],
    title: str,
    levels: Mapping[str, Mapping[str, float]],
) -> Figure:
    # `Figure` writes files without choosing a backend for the process, as pyplot would.
    from matplotlib.figure import Figure

    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    num_labels = len(curves) + len(levels)
    width = max(5.6, _PANEL_INCHES[0] * columns, _LEGEND_COLUMN_INCHES * min(3, num_labels // 3))
    legend_columns = max(1, int(width / _LEGEND_COLUMN_INCHES))
    legend_inches = 0.2 * -(-num_labels // legend_columns)
    note = _common_note(curves)
    lines = wrapped(f"{title}\n{note}", int(width * _TITLE_CHARACTERS_PER_INCH))
    height = _PANEL_INCHES[1] * rows + legend_inches + 0.17 * len(lines)
    figure = Figure(figsize=(width, height), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw(axes, panel, curves, levels)
    for axes in all_axes[len(panels) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for axes in all_axes:  # A level may be missing in some panels.
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        labels = [_with_note(label, curves, note) for label in handles]
        figure.legend(
            handles.values(),
            labels,
            frameon=False,
            loc="outside lower center",
            ncols=legend_columns,
        )
    figure.suptitle("\n".join(lines), fontsize=9.5)
    return figure


def wrapped(title: str, width: int) -> list[str]:
    """Wraps a title into lines of at most `width` characters; game strings break after commas."""
    lines = []
    for line in title.splitlines():
        # Markers of possible breaks after commas, removed again below.
        parts = textwrap.wrap(re.sub(r",(?! )", f",{_BREAK} ", line), width)
        lines += [part.replace(f"{_BREAK} ", "").replace(_BREAK, "") for part in parts]
    return lines


def _curves(groups: Mapping[str, Rows], joined: bool) -> list[_Curve]:
    """One curve for all groups whose labels differ only in the seed."""
    seeds: dict[str, dict[str, Rows]] = {}
    for label, rows in groups.items():
        seeds.setdefault(_SEED.sub("", label), {})[label] = rows
    return [
        # A single seed keeps its number in the label.
        _Curve(label if len(runs) > 1 else next(iter(runs)), number, [*runs.values()], joined)
        for number, (label, runs) in enumerate(seeds.items())
    ]


def _common_note(curves: Sequence[_Curve]) -> str:
    """The most frequent note of the curves, for the title; "" if no two curves share one."""
    notes = collections.Counter(curve.note for curve in curves if curve.note and curve.label)
    [(note, number)] = notes.most_common(1) or [("", 0)]
    return note if number > 1 else ""


def _with_note(label: str, curves: Sequence[_Curve], common: str) -> str:
    """A label in the legend, with its curve's note unless that is in the title."""
    note = next((curve.note for curve in curves if curve.label == label), "")
    return ", ".join(filter(None, (label, "" if note == common else note)))


def _draw(
    axes: Axes,
    panel: Panel,
    curves: Sequence[_Curve],
    levels: Mapping[str, Mapping[str, float]],
) -> None:
    for curve in curves:
        for number, points in enumerate(curve.points(panel)):
            label = "" if number else curve.label or curve.note
            _draw_points(axes, points, {**curve.style, "label": label})
    for number, (label, values) in enumerate(levels.items()):
        if panel.y in values:
            color = _COLORS[(len(curves) + number) % len(_COLORS)]
            axes.axhline(values[panel.y], label=label, color=color, linestyle="--", linewidth=1.2)
    drawn = [row for curve in curves for rows in curve.runs for row in rows] + list(levels.values())
    for name, scale, axis in (
        (panel.x, panel.x_scale, "x"),
        (panel.y, panel.y_scale, "y"),
    ):
        _set_scale(axes, axis, scale, [row[name] for row in drawn if row.get(name) is not None])
    axes.set_xlabel(panel.x_title)
    axes.set_ylabel(panel.y_title)


def _draw_points(axes: Axes, points: _Points, style: Mapping[str, Any]) -> None:
    is_joined = style["linewidth"] > 0
    if is_joined and points.lows != points.highs:
        axes.fill_between(
            points.xs, points.lows, points.highs, color=style["color"], alpha=0.18, linewidth=0
        )
    every = max(1, len(points.xs) // 15) if is_joined else 1
    axes.plot(points.xs, points.ys, markevery=every, **style)


def _points(rows: Rows, panel: Panel) -> _Points:
    drawn = [row for row in rows if None not in (row.get(panel.x), row.get(panel.y))]
    ends = [_ends(row, panel) for row in drawn]
    return _Points(
        [row[panel.x] for row in drawn],
        [row[panel.y] for row in drawn],
        [low for low, _ in ends],
        [high for _, high in ends],
    )


def _ends(row: Mapping[str, Any], panel: Panel) -> tuple[float, float]:
    """The ends of the band at a point; the point itself if there is no band."""
    y, band = row[panel.y], [row[name] for name in panel.band if row.get(name) is not None]
    if len(band) == 2:
        return band[0], band[1]
    return (y - band[0], y + band[0]) if len(panel.band) == len(band) == 1 else (y, y)


def _mean(runs: Sequence[_Points]) -> _Points:
    """The mean over seeds of each point, with the smallest and largest y as the band.

    Points of seeds are matched by their order, as x may differ (such as seconds).
    """
    length = min(len(run.xs) for run in runs)
    xs = [[run.xs[i] for run in runs] for i in range(length)]
    ys = [[run.ys[i] for run in runs] for i in range(length)]
    # Categories are the same for all seeds.
    mean_xs = [x[0] if isinstance(x[0], str) else sum(x) / len(x) for x in xs]
    mean_ys = [sum(y) / len(y) for y in ys]
    return _Points(mean_xs, mean_ys, list(map(min, ys)), list(map(max, ys)))


def _set_scale(axes: Axes, axis: str, scale: str, values: Sequence[Any]) -> None:
    """Sets the scale of an axis ("x" or "y"), with ticks whose labels do not overlap."""
    if not values:
        return
    from matplotlib import ticker

    set_scale = axes.set_xscale if axis == "x" else axes.set_yscale
    axis_object = axes.xaxis if axis == "x" else axes.yaxis
    if any(isinstance(value, str) for value in values):
        axis_object.set_view_interval(-0.5, len(set(values)) - 0.5, ignore=True)
        return
    is_large = max(map(abs, values)) >= 10_000
    if scale == "linear" or min(values) < -_ROUNDING * max(values):
        if is_large:
            axis_object.set_major_formatter(ticker.EngFormatter(sep=""))
        if axis == "x":
            are_integers = all(float(value).is_integer() for value in values)
            axis_object.set_major_locator(ticker.MaxNLocator(6, integer=are_integers))
        return
    if min(values) <= 0:
        _set_log_scale_with_zero(axes, axis, values)
        return
    set_scale("log")
    spread = math.log10(max(values) / min(values))
    if spread < 0.5:
        axis_object.set_major_locator(ticker.MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    elif spread < 2.0:  # Too few powers of ten to read a value by.
        subs = (1.0, 2.0, 5.0) if spread >= 1.0 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
        axis_object.set_major_locator(ticker.LogLocator(subs=subs))
    else:
        axis_object.set_major_locator(ticker.LogLocator(numticks=8))
    if spread < 2.0:
        plain = ticker.FuncFormatter(lambda value, _: f"{value:g}")
        axis_object.set_major_formatter(ticker.EngFormatter(sep="") if is_large else plain)
    axis_object.set_minor_formatter(ticker.NullFormatter())


def _set_log_scale_with_zero(axes: Axes, axis: str, values: Sequence[float]) -> None:
    """Sets a logarithmic scale with a place for 0 below its powers of ten.

    Exploitability is 0 once a game is solved.
    """
    from matplotlib import ticker

    largest = max(values)
    if largest <= 0:
        return
    # Below this, the axis is linear.
    smallest = max(_ROUNDING * largest, min(value for value in values if value > 0))
    set_scale = axes.set_xscale if axis == "x" else axes.set_yscale
    set_scale("symlog", linthresh=smallest, linscale=0.5)
    axis_object = axes.xaxis if axis == "x" else axes.yaxis
    powers = range(math.ceil(math.log10(smallest)), math.floor(math.log10(largest)) + 1)
    step = max(1, -(-len(powers) // _MAX_POWERS))
    names = {0.0: "0"} | {10.0**power: f"$10^{{{power}}}$" for power in powers[::-1][::step]}
    if not powers:  # All values are between two powers of ten.
        names |= {value: f"{value:.3g}" for value in (smallest, largest)}
    axis_object.set_major_locator(ticker.FixedLocator([*names]))
    axis_object.set_major_formatter(ticker.FixedFormatter([*names.values()]))
    axis_object.set_minor_locator(ticker.NullLocator())
    axis_object.set_view_interval(-smallest / 2, largest * 2, ignore=True)
