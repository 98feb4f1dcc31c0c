"""What the experiment with learners shares: who learns what, and what is finished."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, NamedTuple

from experiments import study as papers_study
from experiments.settings import as_json, check_least, check_seeds
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs.learner_run import run_learner
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.json_files import read_json

_SOLVERS: dict[str, type[SelfPlayLearner]] = {
    solver.name: solver for solver in (RNaDSolver, MMDSolver, PPOSolver)
}
ALGORITHMS = tuple(_SOLVERS)
"""Names of learners, in the order of reports."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Who learns what, and how long.

    Attributes:
      presets: games, and settings for learners, by name; games that can be compiled.
      algorithms: names of learners.
      seeds: of each.
      num_steps: learner steps of each.
      steps_per_evaluation: learner steps between two measurements of NashConv.
      peer: JSON file of `benchmarks/rlg_strength.py`, whose numbers stand beside; None: no peer.
    """

    presets: tuple[str, ...] = ("leduc", "goofspiel_5_descending", "battleships_2x2")
    algorithms: tuple[str, ...] = ALGORITHMS
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    num_steps: int = 100_000
    steps_per_evaluation: int = 10_000
    peer: str | None = None

    def __post_init__(self) -> None:
        check_seeds(self.seeds)
        for name, known in (("presets", tuple(PRESETS)), ("algorithms", ALGORITHMS)):
            chosen = getattr(self, name)
            if not chosen or set(chosen) - set(known):
                raise ValueError(f"{name}={chosen} must be some of {', '.join(known)}")
        check_least(self, num_steps=1, steps_per_evaluation=1)


class Run(NamedTuple):
    """One learner in one game with one seed."""

    preset: str
    algorithm: str
    seed: int


class Study(papers_study.Study[Settings]):
    """Runs of all learners in all games with all seeds."""

    num_threads = 1

    @property
    def runs(self) -> list[Run]:
        """All of them, in the order of reports."""
        chosen = self.settings
        every = itertools.product(chosen.presets, chosen.algorithms, chosen.seeds)
        return [Run(*each) for each in every]

    def lines_of_peer(self) -> list[dict[str, Any]]:
        """What the peer's file says, a line for each of its runs; nothing without a file.

        Raises:
          ValueError: if the file is something else.
        """
        path = self.settings.peer
        if path is None:
            return []
        content = read_json(path)
        if "lines" not in content:
            raise ValueError(f"{path} is no result of rlg_strength.py; give one of these")
        lines: list[dict[str, Any]] = content["lines"]
        return lines

    def curves(self) -> list[list[dict[str, Any]]]:
        """Of each run, the line of metrics at each evaluation; finished runs are not done again.

        Raises:
          ValueError: as `lines_of_peer`; then nothing has been learned. Or as learners do.
        """
        self.lines_of_peer()
        told = as_json(self.settings)
        own = {name: told[name] for name in ("num_steps", "steps_per_evaluation")}
        learn = functools.partial(_learn, self.settings, self.workspace)
        return papers_study.curves_of(self.workspace, self.runs, own, learn)


def make_learner(run: Run) -> SelfPlayLearner:
    """A fresh learner of a run, with its defaults but for what the preset says."""
    preset, solver = PRESETS[run.preset], _SOLVERS[run.algorithm]
    settings = preset.of(run.algorithm)
    settings.pop("num_steps", None)
    return solver(preset.game, solver.default_config(**settings, seed=run.seed))


def _learn(settings: Settings, workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """All lines of metrics of one run."""
    learner = make_learner(run)
    identity = {
        "game": str(learner.game),
        "algorithm": run.algorithm,
        "learner": learner.settings(),
    }
    directory = workspace.run_directory(file_name(*run), identity)
    run_learner(
        learner,
        directory,
        settings.num_steps,
        steps_per_evaluation=settings.steps_per_evaluation,
        show_progress=False,
    )
    return directory.read_metrics()
