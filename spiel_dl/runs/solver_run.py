"""Runs a solver to a number of iterations in a run directory: metrics, checkpoints, picture.

A run that was killed and resumed ends with the same policy, to the last bit.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import plots
from spiel_dl.runs.loop import log_spaced, run_job
from spiel_dl.system.run_directory import AVERAGE_POLICY_FILE, RunDirectory

PLOT_FILE = "exploitability.png"
_SECONDS_PER_CHECKPOINT = 60.0
# Checkpoints of large games are gigabytes, so they are written less often.
_BYTES_PER_SECOND = 2e6

Solver: TypeAlias = CFRSolver | DLCFRSolver
"""The solvers that can be run; other classes with their methods work, too."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """An evaluation of the average policy of a run.

    Attributes:
      measure: returns the metrics of a policy.
      metric: the name of the one that the picture and the progress bar show.
      title: its title in the picture.
    """

    measure: Callable[[ArrayPolicy], dict[str, float]]
    metric: str
    title: str


def _whole_game(policy: ArrayPolicy) -> dict[str, float]:
    value = exploitability(policy.tree, policy)
    return {"nash_conv": 2 * value, "exploitability": value}


# nash_conv and exploitability of the whole game, in utility units.
WHOLE_GAME = Evaluation(_whole_game, "exploitability", "exploitability = NashConv / 2 (utility)")


def run_solver(
    solver: Solver,
    directory: RunDirectory,
    num_iterations: int,
    *,
    label: str,
    evaluation: Evaluation = WHOLE_GAME,
    other_curves: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    points_per_decade: int = 8,
    show_progress: bool = True,
) -> ArrayPolicy:
    """Runs a solver, from the directory's checkpoint if it has one.

    Writes to the directory: a line of metrics at log-spaced iterations (iteration, solving_seconds,
    and those of the evaluation), checkpoints, the average policy, and a picture.

    Args:
      solver: a fresh solver.
      directory: the run directory.
      num_iterations: number of iterations at the end.
      label: the solver's name, in the picture and at the progress bar.
      evaluation: of the average policy.
      other_curves: for the picture, metrics of other runs with this evaluation, by label.
      points_per_decade: lines of metrics per factor of 10 in iterations.
      show_progress: show a progress bar on standard error.

    Returns:
      The average policy.

    Raises:
      ValueError: if num_iterations or points_per_decade is not positive, if the checkpoint is of
        another game or solver, or has done more iterations already.
    """
    if num_iterations < 1 or points_per_decade < 1:
        raise ValueError(
            f"num_iterations={num_iterations} and points_per_decade={points_per_decade} must be "
            "positive"
        )
    solver.run(0)  # Compiles or loads the loop, which does not count as solving time.
    num_bytes = sum(array.nbytes for array in solver.state().values())
    run_job(
        _SolverJob(solver, evaluation),
        directory,
        num_iterations,
        log_spaced(num_iterations, points_per_decade),
        seconds_per_checkpoint=max(_SECONDS_PER_CHECKPOINT, num_bytes / _BYTES_PER_SECOND),
        show_progress=show_progress,
        label=label,
    )
    policy = solver.average_policy()
    policy.save(directory.path / AVERAGE_POLICY_FILE)
    curves = {label: directory.read_metrics(), **(other_curves or {})}
    panels = [
        plots.Panel("iteration", evaluation.metric, "iterations", evaluation.title),
        plots.Panel(
            "solving_seconds", evaluation.metric, "seconds of solving, evaluation not counted", ""
        ),
    ]
    plots.plot_panels(directory.path / PLOT_FILE, panels, curves, str(solver.game))
    return policy


class _SolverJob:
    """The `Job` of a solver."""

    unit = step_name = "iteration"

    def __init__(self, solver: Solver, evaluation: Evaluation):
        self.headline = evaluation.metric
        self._solver, self._evaluation = solver, evaluation
        self._seconds = 0.0

    @property
    def done(self) -> int:
        return self._solver.iteration

    def run(self, count: int) -> None:
        start = time.perf_counter()
        self._solver.run(count)
        self._seconds += time.perf_counter() - start

    def measure(self) -> dict[str, Any]:
        measured = self._evaluation.measure(self._solver.average_policy())
        return {"iteration": self.done, "solving_seconds": self._seconds, **measured}

    def save(self, directory: RunDirectory) -> None:
        header = {
            "kind": "solver",
            "game": str(self._solver.game),
            "solving_seconds": self._seconds,
        }
        directory.save_checkpoint(self._solver.state(), header)

    def restore(self, directory: RunDirectory) -> None:
        checkpoint = directory.load_checkpoint()
        if checkpoint is None:
            return
        arrays, header = checkpoint
        if header.get("game") != str(self._solver.game):
            raise ValueError(
                f"{directory.checkpoint_path} is a checkpoint of {header.get('game')}, "
                f"not of {self._solver.game}"
            )
        self._solver.load_state(arrays)
        self._seconds = float(header["solving_seconds"])
