"""Pictures of results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure

from spiel_dl.io.tensor_files import atomic_path


def plot_exploitability(
    path: str | os.PathLike[str], curves: Mapping[str, Sequence[Mapping[str, Any]]], title: str
) -> None:
    """Draws exploitability against iterations and against seconds, as a PNG.

    Args:
      path: where to write it.
      curves: from label to metrics with `iteration`, `solving_seconds` and `exploitability`.
      title: the complete game string.
    """
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    for label, metrics in curves.items():
        exploitability = [line["exploitability"] for line in metrics]
        style = {"label": label, "marker": "o", "markersize": 3, "linewidth": 1.2}
        left.plot([line["iteration"] for line in metrics], exploitability, **style)
        right.plot([line["solving_seconds"] for line in metrics], exploitability, **style)
    left.set_xlabel("iterations")
    left.set_ylabel("exploitability = NashConv / 2 (utility)")
    right.set_xlabel("seconds of solving, evaluation not counted")
    # A game that is solved from the start has no exploitability to put on a logarithmic axis.
    positive = all(line["exploitability"] > 0 for metrics in curves.values() for line in metrics)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log" if positive else "linear")
        axes.grid(visible=True, which="major", alpha=0.3)
    left.legend(frameon=False)
    figure.suptitle(title, fontsize=9, wrap=True)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=120)
