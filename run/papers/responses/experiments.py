"""The experiments of Milec et al. (2024) with responses to a model, by name."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from papers import report
from papers.report import Report
from papers.responses.frontiers import biased_rps, frontier, gadgets
from papers.responses.study import Study
from papers.responses.table import network, table_1
from papers.responses.times import times

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

    def run(name: str) -> Path:
        start = time.perf_counter()
        found = EXPERIMENTS[name](study)
        seconds = time.perf_counter() - start
        parts, settings = study.parts, study.choices.to_json()
        return report.write(
            found, directory, settings, seconds, reused=parts.reused, commits=parts.commits
        )

    return report.run_each(names, EXPERIMENTS, study.parts, run)
