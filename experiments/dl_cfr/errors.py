"""The errors of trained networks, as rows and pictures of the experiments have them.

Kovařík et al. (2021) do not say whether their L∞ is the largest error of all or the mean over
samples of the largest error in each, nor whether it is of all outputs; both are given, of possible
positions. Their ranges are reach probabilities, so their errors are to be compared with the
unnormalised ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.dl_cfr.study import TrainedNetwork, TrainedStudy
from spiel_dl.runs.dl_cfr_run import METRIC, METRIC_TITLE
from spiel_dl.runs.plots import Panel
from spiel_dl.value_functions.validation import ALL_ERROR_TITLES, UNNORMALISED

Rows = list[dict[str, Any]]
OUTCOME = {METRIC: METRIC_TITLE, **ALL_ERROR_TITLES, "step": "steps", "seconds": "seconds"}
"""What there is to say about a trained network, with titles."""
HUBER = UNNORMALISED + "huber"
PAPER_LINF = (UNNORMALISED + "linf", UNNORMALISED + "linf_mean")
"""Both readings of the paper's L∞."""


def errors_of(line: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The validation errors of a line of metrics, without their prefix."""
    return {name: line[prefix + name] for name in ALL_ERROR_TITLES}


def outcome(study: TrainedStudy[Any], trained: TrainedNetwork) -> dict[str, float]:
    """What there is to say about a trained network, by the names of `OUTCOME`."""
    last = trained.metrics[-1]
    found = {name: last[name] for name in OUTCOME if name in last}
    return {METRIC: study.measure(trained.path)[METRIC], **found}


def error_panels(x: str, x_title: str, x_scale: str) -> list[Panel]:
    """Each error against what is varied."""
    return [Panel(x, name, x_title, title, x_scale) for name, title in ALL_ERROR_TITLES.items()]


def figure_panels(x: str, x_title: str) -> Sequence[Panel]:
    """Errors and exploitability against what is varied."""
    return [*error_panels(x, x_title, "log"), Panel(x, METRIC, x_title, METRIC_TITLE)]
