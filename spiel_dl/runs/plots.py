"""Pictures of results, all in one style: readable in print, and on dark pages too.

Each curve has a color, a dash and a marker of its own, so that none is known by its color alone.
Runs that differ in their seed alone, "LABEL, seed N", are one curve: their mean, in a band from the
lowest to the highest of them.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spiel_dl.runs.messages import how_to_install
from spiel_dl.runs.tensor_files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
# Of Okabe and Ito (2008), told apart by the color-blind; without yellow, too light for print.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_COLUMNS = 4
_PANEL_INCHES = (4.4, 3.9)
_MAX_LEGEND_INSIDE = 3
"""A longer legend would hide the curves, so it stands below them."""
_LEGEND_COLUMN_INCHES = 2.9
_CHARACTERS_PER_INCH = 14.0
"""Of a title."""
_BREAK = "\u200b"
_SEED = re.compile(r"(?:, )?seed (\d+)$")
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
    # Opaque, because ink on a dark page would not be seen.
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 150,
}


@dataclasses.dataclass(frozen=True)
class Panel:
    """One pair of axes: which entry of a row is drawn against which.

    Attributes:
      x: the entry on the x-axis.
      y: the entry on the y-axis.
      x_title: what to call x.
      y_title: what to call y.
      x_scale: "log" or "linear".
      y_scale: "log" or "linear". Entries that a logarithmic axis cannot show make it linear.
    """

    x: str
    y: str
    x_title: str
    y_title: str
    x_scale: str = "log"
    y_scale: str = "log"


@dataclasses.dataclass(frozen=True)
class _Curve:
    """A curve, or all seeds of one.

    Attributes:
      label: in the legend.
      number: which one it is, of which its looks follow.
      runs: the rows of each seed.
    """

    label: str
    number: int
    runs: Sequence[Rows]

    @property
    def style(self) -> dict[str, Any]:
        """Its color, dash and marker."""
        turn, place = divmod(self.number, len(_COLORS))
        return {
            "color": _COLORS[place],
            "linestyle": _DASHES[turn % len(_DASHES)],
            "marker": _MARKERS[self.number % len(_MARKERS)],
            "markersize": 3.5,
            "linewidth": 1.4,
        }


def plot_convergence(
    path: str | os.PathLike[str],
    curves: Mapping[str, Rows],
    title: str,
    metric: str,
    metric_title: str,
) -> None:
    """Draws a metric against iterations and against seconds, as a PNG.

    Args:
      path: where to write it.
      curves: from label to metrics with `iteration`, `solving_seconds` and the metric.
      title: the complete game string.
      metric: the metric's name.
      metric_title: what to call it.
    """
    panels = [
        Panel("iteration", metric, "iterations", metric_title),
        Panel("solving_seconds", metric, "seconds of solving, evaluation not counted", ""),
    ]
    plot_panels(path, panels, curves, title)


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
      path: where to write it.
      panels: what to draw against what.
      groups: from label to rows. A panel leaves out rows that lack one of its entries.
      title: the complete game string, and what else is to be said.
      levels: from label to values by names of y-entries: dashed horizontal lines.
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
        figure = _figure(panels, _curves(groups, joined), title, levels or {}, joined)
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png")


def _figure(
    panels: Sequence[Panel],
    curves: Sequence[_Curve],
    title: str,
    levels: Mapping[str, Mapping[str, float]],
    joined: bool,
) -> Figure:
    # A figure of its own draws into files without any choice of a backend for the process.
    from matplotlib.figure import Figure

    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    num_labels = len(curves) + len(levels)
    width = max(5.6, _PANEL_INCHES[0] * columns, _LEGEND_COLUMN_INCHES * min(3, num_labels // 3))
    legend_columns = max(1, int(width / _LEGEND_COLUMN_INCHES))
    is_outside = num_labels > _MAX_LEGEND_INSIDE
    below = 0.2 * -(-num_labels // legend_columns) if is_outside else 0.0
    lines = wrapped(title, int(width * _CHARACTERS_PER_INCH))
    height = _PANEL_INCHES[1] * rows + below + 0.17 * len(lines)
    figure = Figure(figsize=(width, height), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw(axes, panel, curves, levels, joined)
    for axes in all_axes[len(panels) :]:
        axes.set_visible(False)
    if is_outside:
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, frameon=False, loc="outside lower center", ncols=legend_columns
        )
    elif num_labels:
        all_axes[0].legend(frameon=False)
    figure.suptitle("\n".join(lines), fontsize=9.5)
    return figure


def wrapped(title: str, width: int) -> list[str]:
    """A title in lines of no more characters than that; game strings break behind commas."""
    found = []
    for line in title.splitlines():
        # A place to break that leaves no trace where it is not needed.
        parts = textwrap.wrap(re.sub(r",(?! )", f",{_BREAK} ", line), width)
        found += [part.replace(f"{_BREAK} ", "").replace(_BREAK, "") for part in parts]
    return found


def _curves(groups: Mapping[str, Rows], joined: bool) -> list[_Curve]:
    """The curves of groups, in which all seeds of a label are one."""
    seeds: dict[str, list[Rows]] = {}
    for label, rows in groups.items():
        seeds.setdefault(_SEED.sub("", label), []).append(rows)
    return [
        _Curve(_label(label, len(runs), groups, joined), number, runs)
        for number, (label, runs) in enumerate(seeds.items())
    ]


def _label(label: str, num_runs: int, groups: Mapping[str, Rows], joined: bool) -> str:
    """What the legend says of a label's runs."""
    if num_runs > 1:
        what = "mean and range of " if joined else ""
        return f"{label}, {what}{num_runs} seeds".removeprefix(", ")
    return next(each for each in groups if _SEED.sub("", each) == label)


def _draw(
    axes: Axes,
    panel: Panel,
    curves: Sequence[_Curve],
    levels: Mapping[str, Mapping[str, float]],
    joined: bool,
) -> None:
    for curve in curves:
        runs = [_points(rows, panel) for rows in curve.runs]
        style = {**curve.style, "label": curve.label}
        if not joined:  # Points by themselves have no mean.
            style["linewidth"] = 0.0
            points = [x for xs, _ in runs for x in xs], [y for _, ys in runs for y in ys]
        elif len(runs) > 1:
            points, lowest, highest = _mean(runs)
            axes.fill_between(
                points[0], lowest, highest, color=style["color"], alpha=0.18, linewidth=0
            )
        else:
            points = runs[0]
        axes.plot(*points, markevery=max(1, len(points[0]) // 15) if joined else 1, **style)
    for number, (label, values) in enumerate(levels.items()):
        if panel.y in values:
            color = _COLORS[(len(curves) + number) % len(_COLORS)]
            axes.axhline(values[panel.y], label=label, color=color, linestyle="--", linewidth=1.2)
    drawn = [row for curve in curves for rows in curve.runs for row in rows] + list(levels.values())
    for name, wanted, axis in (
        (panel.x, panel.x_scale, "x"),
        (panel.y, panel.y_scale, "y"),
    ):
        _scale(axes, axis, wanted, [row[name] for row in drawn if name in row])
    axes.set_xlabel(panel.x_title)
    axes.set_ylabel(panel.y_title)


def _points(rows: Rows, panel: Panel) -> tuple[list[float], list[float]]:
    shown = [row for row in rows if panel.x in row and panel.y in row]
    return [row[panel.x] for row in shown], [row[panel.y] for row in shown]


def _mean(
    runs: Sequence[tuple[list[float], list[float]]],
) -> tuple[tuple[list[float], list[float]], list[float], list[float]]:
    """The mean over seeds wherever all of them have a point; and their smallest and largest y.

    Seeds that were measured at other places, such as seconds, are joined by their order.
    """
    length = min(len(xs) for xs, _ in runs)
    xs, ys = ([[run[k][i] for run in runs] for i in range(length)] for k in (0, 1))
    mean = [sum(each) / len(each) for each in xs], [sum(each) / len(each) for each in ys]
    return mean, list(map(min, ys)), list(map(max, ys))


def _scale(axes: Axes, axis: str, wanted: str, values: Sequence[float]) -> None:
    """Sets the scale of an axis, with ticks that do not run into each other."""
    from matplotlib import ticker

    # A game that is solved from the start has no exploitability to put on a logarithmic axis.
    scale = wanted if all(value > 0 for value in values) else "linear"
    (axes.set_xscale if axis == "x" else axes.set_yscale)(scale)
    of_axis = axes.xaxis if axis == "x" else axes.yaxis
    if scale == "linear":
        if values and max(map(abs, values)) >= 10_000:
            of_axis.set_major_formatter(ticker.EngFormatter(sep=""))
        if axis == "x":
            whole = all(float(value).is_integer() for value in values)
            of_axis.set_major_locator(ticker.MaxNLocator(6, integer=whole))
        return
    spread = math.log10(max(values) / min(values)) if values else 1.0
    if spread < 2.0:  # Too few powers of ten to read a value by.
        subs = (1.0, 2.0, 5.0) if spread >= 1.0 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
        of_axis.set_major_locator(ticker.LogLocator(subs=subs))
        of_axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        of_axis.set_minor_formatter(ticker.NullFormatter())
    else:
        of_axis.set_major_locator(ticker.LogLocator(numticks=8))
        of_axis.set_minor_formatter(ticker.NullFormatter())
