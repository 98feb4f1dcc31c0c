"""The experiments of Milec et al. (2024) with responses to a model, by name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spiel_dl.experiments import report as reports
from spiel_dl.experiments.report import Report
from spiel_dl.experiments.responses.frontiers import biased_rps, frontier, gadgets
from spiel_dl.experiments.responses.study import Study
from spiel_dl.experiments.responses.table import network, table_1
from spiel_dl.experiments.responses.times import times

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
    for name in names:
        if name not in EXPERIMENTS:
            raise ValueError(f"experiment {name!r} must be one of {', '.join(EXPERIMENTS)}")
    paths = []
    for name in names:
        study.parts.start_anew()
        start = time.perf_counter()
        report = EXPERIMENTS[name](study)
        path = reports.write(
            report,
            directory,
            study.choices.to_json(),
            time.perf_counter() - start,
            reused=sorted(study.parts.reused),
            commits=sorted(study.parts.commits),
        )
        paths.append(path)
    return paths
