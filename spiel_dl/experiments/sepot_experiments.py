"""The experiments of Kubíček et al. (2023), by name."""

from __future__ import annotations

import dataclasses
import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spiel_dl.distributed import IN_PROCESS
from spiel_dl.experiments import response_report
from spiel_dl.experiments.response_report import Report
from spiel_dl.experiments.sepot_curves import cfvs, curves
from spiel_dl.experiments.sepot_distilled import DistilledConfig, distilled
from spiel_dl.experiments.sepot_matches import POSITION_GAME, position, table_1
from spiel_dl.experiments.sepot_safety import safety
from spiel_dl.experiments.sepot_study import Study

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
      ValueError: if there is no such experiment, or as the experiment does.
    """
    options = options or Options()
    experiments: dict[str, Callable[[Sequence[Study]], Report]] = {
        "curves": curves,
        "cfvs": cfvs,
        "safety": safety,
        "distilled": functools.partial(distilled, config=options.distilled),
        "position": position,
        "table_1": functools.partial(table_1, num_games=options.num_games),
    }
    if name not in experiments or not studies:
        raise ValueError(
            f"experiment {name!r} must be one of {', '.join(experiments)}, with one study or more"
        )
    start = time.perf_counter()
    report = experiments[name](studies)
    seconds = time.perf_counter() - start
    settings = {
        "studies": [study.config.to_json() for study in studies],
        "num_games": options.num_games,
        "distilled": options.distilled.to_json(),
    }
    reused = [f"{study.config.game}/{part}" for study in studies for part in study.parts.reused]
    engine = studies[0].engine
    used = "one process" if engine == IN_PROCESS else str(engine)
    return response_report.write(report, settings, sorted(reused), directory, seconds, used)
