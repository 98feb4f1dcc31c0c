"""The experiments of Milec et al. (2024) with responses to a model, by name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spiel_dl.experiments import response_report
from spiel_dl.experiments.response_frontiers import biased_rps, frontier, gadgets
from spiel_dl.experiments.response_report import Report
from spiel_dl.experiments.response_study import Study
from spiel_dl.experiments.response_table import network, table_1
from spiel_dl.experiments.response_times import times

EXPERIMENTS: Mapping[str, Callable[[Study], Report]] = {
    experiment.__name__: experiment
    for experiment in (table_1, frontier, gadgets, biased_rps, network, times)
}


def run_experiments(
    study: Study, names: Sequence[str], directory: str | os.PathLike[str]
) -> list[Path]:
    """Runs experiments and writes what they found.

    Args:
      study: what is asked for.
      names: which of `EXPERIMENTS`.
      directory: where the reports go.

    Returns:
      The reports' paths.

    Raises:
      ValueError: if there is no such experiment, or as the experiment does.
    """
    paths = []
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"experiment {name!r} must be one of {', '.join(EXPERIMENTS)}")
        study.parts.reused.clear()
        start = time.perf_counter()
        report = EXPERIMENTS[name](study)
        seconds = time.perf_counter() - start
        reused = sorted(study.parts.reused)
        settings = study.choices.to_json()
        paths.append(response_report.write(report, settings, reused, directory, seconds))
    return paths
