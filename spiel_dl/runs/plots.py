"""Pictures of results, all in one style: readable in print, and on dark pages too.

Each curve has a color, a dash and a marker of its own, so that none is known by its color alone.
Runs that differ in their seed alone, "LABEL, seed N" or "LABEL of seed N", are one curve: their
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
# Of Okabe and Ito (2008), told apart by the color-blind; without yellow, too light for print.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_COLUMNS = 4
_PANEL_INCHES = (4.4, 3.9)
_LEGEND_COLUMN_INCHES = 2.9
_CHARACTERS_PER_INCH = 14.0
"""Of a title."""
_BREAK = "\u200b"
_SEED = re.compile(r"(?:(?:,| of) )?seed (\d+)$")
_NOTHING = 1e-11
"""In shares of the largest value: what is smaller differs from 0 by rounding."""
_MAX_POWERS = 7
"""Of ten, that an axis has ticks at."""
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
      x: the entry on the x-axis; words make it an axis of categories.
      y: the entry on the y-axis.
      x_title: what to call x.
      y_title: what to call y, and what the band is, if there is one.
      x_scale: "log" or "linear".
      y_scale: "log" or "linear". Zeros stand below all powers of ten; negative entries make it
        linear.
      band: the entries of a band around y: one, how far it reaches on either side, or two, its
        ends. Rows that lack them have none.
    """

    x: str
    y: str
    x_title: str
    y_title: str
    x_scale: str = "log"
    y_scale: str = "log"
    band: Sequence[str] = ()


class _Points(NamedTuple):
    """A run in a panel, or the mean of several: points, and the band around them."""

    xs: list[Any]
    ys: list[float]
    lows: list[float]
    highs: list[float]


@dataclasses.dataclass(frozen=True)
class _Curve:
    """A curve, or all seeds of one.

    Attributes:
      label: in the legend.
      number: which one it is, of which its looks follow.
      runs: the rows of each seed.
      joined: whether points are joined by lines.
    """

    label: str
    number: int
    runs: Sequence[Rows]
    joined: bool

    @property
    def is_mean(self) -> bool:
        """Whether there is a mean to draw: seeds that were measured equally often."""
        return self.joined and len(self.runs) > 1 and len({len(rows) for rows in self.runs}) == 1

    @property
    def note(self) -> str:
        """What is to be said of its seeds, if it has several."""
        if len(self.runs) == 1:
            return ""
        what = "mean and range of" if self.is_mean else "each of" if self.joined else ""
        return f"{what} {len(self.runs)} seeds".strip()

    @property
    def style(self) -> dict[str, Any]:
        """Its color, dash and marker."""
        turn, place = divmod(self.number, len(_COLORS))
        return {
            "color": _COLORS[place],
            "linestyle": _DASHES[turn % len(_DASHES)],
            "marker": _MARKERS[self.number % len(_MARKERS)],
            "markersize": 3.5,
            # Points by themselves have no line.
            "linewidth": 1.4 if self.joined else 0.0,
        }

    def points(self, panel: Panel) -> list[_Points]:
        """The mean of its runs, or all of them."""
        runs = [_points(rows, panel) for rows in self.runs]
        if not self.joined:
            return [_Points(*([each for run in runs for each in run[k]] for k in range(4)))]
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
        figure = _figure(panels, _curves(groups, joined), title, levels or {})
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png")


def _figure(
    panels: Sequence[Panel],
    curves: Sequence[_Curve],
    title: str,
    levels: Mapping[str, Mapping[str, float]],
) -> Figure:
    # A figure of its own draws into files without any choice of a backend for the process.
    from matplotlib.figure import Figure

    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    num_labels = len(curves) + len(levels)
    width = max(5.6, _PANEL_INCHES[0] * columns, _LEGEND_COLUMN_INCHES * min(3, num_labels // 3))
    legend_columns = max(1, int(width / _LEGEND_COLUMN_INCHES))
    below = 0.2 * -(-num_labels // legend_columns)
    note = _common_note(curves)
    lines = wrapped(f"{title}\n{note}", int(width * _CHARACTERS_PER_INCH))
    height = _PANEL_INCHES[1] * rows + below + 0.17 * len(lines)
    figure = Figure(figsize=(width, height), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw(axes, panel, curves, levels)
    for axes in all_axes[len(panels) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for axes in all_axes:  # A level may be in some of them only.
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        labels = [_with_note(label, curves, note) for label in handles]
        # Below the axes, where it hides no curve.
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
    """A title in lines of no more characters than that; game strings break behind commas."""
    found = []
    for line in title.splitlines():
        # A place to break that leaves no trace where it is not needed.
        parts = textwrap.wrap(re.sub(r",(?! )", f",{_BREAK} ", line), width)
        found += [part.replace(f"{_BREAK} ", "").replace(_BREAK, "") for part in parts]
    return found


def _curves(groups: Mapping[str, Rows], joined: bool) -> list[_Curve]:
    """The curves of groups, in which all seeds of a label are one."""
    seeds: dict[str, dict[str, Rows]] = {}
    for label, rows in groups.items():
        seeds.setdefault(_SEED.sub("", label), {})[label] = rows
    return [
        # A seed that is alone keeps its number.
        _Curve(label if len(runs) > 1 else next(iter(runs)), number, [*runs.values()], joined)
        for number, (label, runs) in enumerate(seeds.items())
    ]


def _common_note(curves: Sequence[_Curve]) -> str:
    """What is to be said of the seeds of most curves, for the title; "" if of one at most."""
    notes = collections.Counter(curve.note for curve in curves if curve.note and curve.label)
    [(note, number)] = notes.most_common(1) or [("", 0)]
    return note if number > 1 else ""


def _with_note(label: str, curves: Sequence[_Curve], common: str) -> str:
    """A label in the legend, with what is not said of its seeds in the title."""
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
    for name, wanted, axis in (
        (panel.x, panel.x_scale, "x"),
        (panel.y, panel.y_scale, "y"),
    ):
        _scale(axes, axis, wanted, [row[name] for row in drawn if row.get(name) is not None])
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
    shown = [row for row in rows if None not in (row.get(panel.x), row.get(panel.y))]
    ends = [_ends(row, panel) for row in shown]
    return _Points(
        [row[panel.x] for row in shown],
        [row[panel.y] for row in shown],
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
    """The mean over seeds of each point; and their smallest and largest y.

    Seeds that were measured at other places, such as seconds, are joined by their order.
    """
    length = min(len(run.xs) for run in runs)
    xs = [[run.xs[i] for run in runs] for i in range(length)]
    ys = [[run.ys[i] for run in runs] for i in range(length)]
    # Words are the same for all seeds.
    places = [each[0] if isinstance(each[0], str) else sum(each) / len(each) for each in xs]
    means = [sum(each) / len(each) for each in ys]
    return _Points(places, means, list(map(min, ys)), list(map(max, ys)))


def _scale(axes: Axes, axis: str, wanted: str, values: Sequence[Any]) -> None:
    """Sets the scale of an axis, with ticks that do not run into each other."""
    if not values:
        return
    from matplotlib import ticker

    set_scale = axes.set_xscale if axis == "x" else axes.set_yscale
    of_axis = axes.xaxis if axis == "x" else axes.yaxis
    if any(isinstance(value, str) for value in values):
        of_axis.set_view_interval(-0.5, len(set(values)) - 0.5, ignore=True)
        return
    is_large = max(map(abs, values)) >= 10_000
    if wanted == "linear" or min(values) < -_NOTHING * max(values):
        if is_large:
            of_axis.set_major_formatter(ticker.EngFormatter(sep=""))
        if axis == "x":
            whole = all(float(value).is_integer() for value in values)
            of_axis.set_major_locator(ticker.MaxNLocator(6, integer=whole))
        return
    if min(values) <= 0:
        _show_zeros(axes, axis, values)
        return
    set_scale("log")
    spread = math.log10(max(values) / min(values))
    if spread < 0.5:
        of_axis.set_major_locator(ticker.MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    elif spread < 2.0:  # Too few powers of ten to read a value by.
        subs = (1.0, 2.0, 5.0) if spread >= 1.0 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
        of_axis.set_major_locator(ticker.LogLocator(subs=subs))
    else:
        of_axis.set_major_locator(ticker.LogLocator(numticks=8))
    if spread < 2.0:
        plain = ticker.FuncFormatter(lambda value, _: f"{value:g}")
        of_axis.set_major_formatter(ticker.EngFormatter(sep="") if is_large else plain)
    of_axis.set_minor_formatter(ticker.NullFormatter())


def _show_zeros(axes: Axes, axis: str, values: Sequence[float]) -> None:
    """A logarithmic axis with a place for 0 below its powers of ten.

    A game that is solved on the way has no exploitability left.
    """
    from matplotlib import ticker

    largest = max(values)
    if largest <= 0:
        return
    # Below this, the axis is linear.
    nothing = max(_NOTHING * largest, min(value for value in values if value > 0))
    (axes.set_xscale if axis == "x" else axes.set_yscale)("symlog", linthresh=nothing, linscale=0.5)
    of_axis = axes.xaxis if axis == "x" else axes.yaxis
    powers = range(math.ceil(math.log10(nothing)), math.floor(math.log10(largest)) + 1)
    step = -(-len(powers) // _MAX_POWERS)
    names = {0.0: "0"} | {10.0**power: f"$10^{{{power}}}$" for power in powers[::-1][::step]}
    of_axis.set_major_locator(ticker.FixedLocator([*names]))
    of_axis.set_major_formatter(ticker.FixedFormatter([*names.values()]))
    of_axis.set_minor_locator(ticker.NullLocator())
    of_axis.set_view_interval(-nothing / 2, largest * 2, ignore=True)
