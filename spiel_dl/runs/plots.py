"""Pictures of results."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spiel_dl.runs.tensor_files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]
_LINE: dict[str, Any] = {"marker": "o", "markersize": 3, "linewidth": 1.2}
_LINE_STYLES = ("-", ":", "-.")  # dashes are for levels
_COLORS = 10
"""After so many curves, matplotlib's colors begin again."""
_COLUMNS = 4
_MAX_LEGEND_INSIDE = 6
"""A longer legend would hide the curves, so it stands beside them."""


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
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    figure = _figure_class()(figsize=(max(5.0, 4.2 * columns), 4.2 * rows), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw(axes, panel, groups, levels or {}, joined)
    for axes in all_axes[len(panels) :]:
        axes.set_visible(False)
    if len(groups) + len(levels or {}) <= _MAX_LEGEND_INSIDE:
        all_axes[0].legend(frameon=False)
    else:
        handles, labels = all_axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, loc="outside right center")
    figure.suptitle(title, fontsize=9, wrap=True)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=120)


def _figure_class() -> type[Figure]:
    """A figure of its own draws into files without any choice of a backend for the process."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install spiel_dl[runs]") from error
    return Figure


def _draw(
    axes: Axes,
    panel: Panel,
    groups: Mapping[str, Rows],
    levels: Mapping[str, Mapping[str, float]],
    joined: bool,
) -> None:
    for number, (label, rows) in enumerate(groups.items()):
        style = {**_LINE, "linestyle": _LINE_STYLES[number // _COLORS % len(_LINE_STYLES)]}
        if not joined:
            style["linewidth"] = 0.0
        shown = [row for row in rows if panel.x in row and panel.y in row]
        axes.plot([r[panel.x] for r in shown], [r[panel.y] for r in shown], label=label, **style)
    for number, (label, values) in enumerate(levels.items()):
        if panel.y in values:
            color = f"C{len(groups) + number}"
            axes.axhline(values[panel.y], label=label, color=color, linestyle="--", linewidth=1.2)
    drawn = [row for rows in groups.values() for row in rows] + list(levels.values())
    for name, scale, set_scale in (
        (panel.x, panel.x_scale, axes.set_xscale),
        (panel.y, panel.y_scale, axes.set_yscale),
    ):
        # A game that is solved from the start has no exploitability to put on a logarithmic axis.
        set_scale(scale if all(row.get(name, 1) > 0 for row in drawn) else "linear")
    axes.set_xlabel(panel.x_title)
    axes.set_ylabel(panel.y_title)
    axes.grid(visible=True, which="major", alpha=0.3)
