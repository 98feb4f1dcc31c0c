"""The experiments of Kubíček et al. (2023), by name."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from papers import report as reports
from papers.report import Report
from papers.sepot.curves import cfvs, curves
from papers.sepot.distilled import DistilledConfig, distilled
from papers.sepot.matches import POSITION_GAME, position, table_1
from papers.sepot.safety import safety
from papers.sepot.study import Study
from spiel_dl.runs.distributed import IN_PROCESS

GAMES_OF: Mapping[str, tuple[str, ...]] = {
    "curves": ("leduc", "goofspiel_5_descending", "goofspiel_5_random"),
    "cfvs": ("leduc", "goofspiel_5_descending", "goofspiel_5_random"),
    "safety": ("leduc", "goofspiel_4_descending"),
    "distilled": ("leduc", "goofspiel_5_descending"),
    "position": (POSITION_GAME,),
    "table_1": ("goofspiel_8_descending", "battleships_3x3", "battleships_5x5"),
}
"""The games of each experiment, if none are chosen; Table 1 has three more, larger ones."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What single experiments are told.

    Attributes:
      num_games: table_1: games of each match.
      distilled: distilled: how values are distilled.
    """

    num_games: int = 1000
    distilled: DistilledConfig = dataclasses.field(default_factory=DistilledConfig)

    def of(self, name: str) -> dict[str, Any]:
        """What an experiment is told, as JSON can hold it."""
        if name == "table_1":
            return {"num_games": self.num_games}
        return {"distilled": self.distilled.to_json()} if name == "distilled" else {}


def run_experiment(
    name: str,
    studies: Sequence[Study],
    directory: str | os.PathLike[str],
    options: Options | None = None,
) -> Path:
    """Runs an experiment and writes what it found.

    Args:
      name: one of `GAMES_OF`.
      studies: of one game each.
      directory: where the report goes.
      options: the rest; None: the defaults.

    Returns:
      The report's path.

    Raises:
      ValueError: if there is no such experiment or no study, or as the experiment does.
    """
    options = options or Options()
    experiments = _experiments(options)
    if name not in experiments:
        raise ValueError(f"experiment {name!r} must be one of {', '.join(experiments)}")
    if not studies:
        raise ValueError(f"experiment {name!r} has no study; give one or more")
    start = time.perf_counter()
    report = experiments[name](studies)
    seconds = time.perf_counter() - start
    settings: dict[str, Any] = {"studies": [study.config.to_json() for study in studies]}
    settings |= options.of(name)
    reused = [f"{study.config.game}/{part}" for study in studies for part in study.parts.reused]
    commits = {commit for study in studies for commit in study.parts.commits}
    engine = studies[0].engine
    return reports.write(
        report,
        directory,
        settings,
        seconds,
        reused=sorted(reused),
        commits=sorted(commits),
        used="one process" if engine == IN_PROCESS else str(engine),
    )


def _experiments(options: Options) -> dict[str, Callable[[Sequence[Study]], Report]]:
    """All experiments by name."""
    return {
        "curves": curves,
        "cfvs": cfvs,
        "safety": safety,
        "distilled": functools.partial(distilled, config=options.distilled),
        "position": position,
        "table_1": functools.partial(table_1, num_games=options.num_games),
    }
