"""Runs a solver to a number of iterations in a run directory: metrics, checkpoints, picture.

Killed at any moment, a resumed run ends with the same policy, to the last bit.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyspiel
import tqdm

from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs import plots
from spiel_dl.runs.run_directory import AVERAGE_POLICY_FILE, RunDirectory, log_spaced_steps

PLOT_FILE = "exploitability.png"
# How long to solve before the progress bar moves, and before a checkpoint is written at the latest.
_SECONDS_PER_STRETCH = 0.2
_SECONDS_PER_CHECKPOINT = 60.0


class Solver(Protocol):
    """What can be run: a `CFRSolver`, a `DLCFRSolver`, or whatever else looks like them."""

    @property
    def game(self) -> pyspiel.Game:
        """The turn-based game that is solved."""

    @property
    def iteration(self) -> int:
        """Number of iterations done."""

    def run(self, num_iterations: int) -> None:
        """Many iterations."""

    def average_policy(self) -> ArrayPolicy:
        """A copy of the average policy."""

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all that changes from iteration to iteration."""

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Goes on from a `state()`."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """How the average policy of a run is judged.

    Attributes:
      measure: from a policy to metrics.
      metric: the name of the one that the picture and the progress bar show.
      title: what the picture calls it.
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
    """Solves, from the directory's checkpoint if it has one.

    Writes to the directory: a line of metrics at log-spaced iterations (iteration, solving_seconds,
    and those of the evaluation), checkpoints, the average policy, and a picture.

    Args:
      solver: a fresh solver.
      directory: where the run lives.
      num_iterations: how many iterations to have done at the end.
      label: the solver's name in the picture.
      evaluation: how to judge the average policy.
      other_curves: for the picture, from label to metrics of other runs with this evaluation.
      points_per_decade: how many metrics per factor of 10 in iterations.
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
    solver.run(0)  # Loads the compiled loop, which is not solving.
    seconds = _restore(solver, directory, num_iterations)
    with tqdm.tqdm(
        total=num_iterations, initial=solver.iteration, unit="it", disable=not show_progress
    ) as progress:
        for target in log_spaced_steps(num_iterations, points_per_decade):
            if target <= solver.iteration:
                continue
            seconds = _solve_to(solver, directory, target, seconds, progress)
            measured = evaluation.measure(solver.average_policy())
            directory.append_metrics(
                {"iteration": solver.iteration, "solving_seconds": seconds, **measured}
            )
            _save(solver, directory, seconds)
            progress.set_postfix({evaluation.metric: f"{measured[evaluation.metric]:.2e}"})
    policy = solver.average_policy()
    policy.save(directory.path / AVERAGE_POLICY_FILE)
    curves = {label: directory.read_metrics(), **(other_curves or {})}
    plots.plot_convergence(
        directory.path / PLOT_FILE, curves, str(solver.game), evaluation.metric, evaluation.title
    )
    return policy


def _solve_to(
    solver: Solver, directory: RunDirectory, target: int, seconds: float, progress: tqdm.tqdm
) -> float:
    """Solves up to an iteration, with a checkpoint now and then; returns seconds of solving."""
    stretch, unsaved = 1, 0.0
    while solver.iteration < target:
        num_iterations = min(stretch, target - solver.iteration)
        start = time.perf_counter()
        solver.run(num_iterations)
        elapsed = time.perf_counter() - start
        seconds += elapsed
        unsaved += elapsed
        progress.update(num_iterations)
        if elapsed < _SECONDS_PER_STRETCH:
            stretch *= 2
        if unsaved > _SECONDS_PER_CHECKPOINT:
            _save(solver, directory, seconds)
            unsaved = 0.0
    return seconds


def _save(solver: Solver, directory: RunDirectory, seconds: float) -> None:
    header = {"kind": "solver", "game": str(solver.game), "solving_seconds": seconds}
    directory.save_checkpoint(solver.state(), header)


def _restore(solver: Solver, directory: RunDirectory, num_iterations: int) -> float:
    """Goes back to the newest checkpoint; returns seconds of solving up to there."""
    checkpoint = directory.load_checkpoint()
    if checkpoint is None:
        directory.truncate_metrics("iteration", 0)
        return 0.0
    arrays, header = checkpoint
    if header.get("game") != str(solver.game):
        raise ValueError(
            f"{directory.checkpoint_path} is a checkpoint of {header.get('game')}, "
            f"not of {solver.game}"
        )
    solver.load_state(arrays)
    if solver.iteration > num_iterations:
        raise ValueError(
            f"{directory.path} has done {solver.iteration} iterations already, more than the "
            f"{num_iterations} asked for"
        )
    directory.truncate_metrics("iteration", solver.iteration)
    return float(header["solving_seconds"])
