"""The one loop of all runs: do some steps, measure, write metrics, save; and go on after a kill.

What is run is a `Job`. Its metrics are written before its checkpoint is: a run that was killed in
between goes back to the checkpoint before, and drops the metrics that came after that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, Protocol

import tqdm

from spiel_dl.runs.run_directory import RunDirectory, log_spaced_steps

_MAX_POINTS_PER_DECADE = 1000
# How long to run before the progress bar moves.
_SECONDS_PER_STRETCH = 0.2

Schedule = Callable[[int], int]
"""From the number of steps done to the number after which to measure next."""


class Job(Protocol):
    """What is run, in steps that are counted.

    Attributes:
      unit: what a step is called; `{unit}s` are many of them.
      step_name: the metric that counts them.
      headline: the metric that the progress bar shows, if a line has it.
    """

    unit: str
    step_name: str
    headline: str

    @property
    def done(self) -> int:
        """Number of steps done."""

    def run(self, count: int) -> None:
        """Does so many steps."""

    def measure(self) -> dict[str, Any]:
        """A line of metrics, the number of steps among them."""

    def save(self, directory: RunDirectory) -> None:
        """Writes the checkpoint."""

    def restore(self, directory: RunDirectory) -> None:
        """Goes back to the newest checkpoint, if there is one.

        Raises:
          ValueError: if it is of something else.
        """


def run_job(
    job: Job,
    directory: RunDirectory,
    end: int,
    schedule: Schedule,
    *,
    first_stretch: int = 1,
    seconds_per_checkpoint: float = math.inf,
    show_progress: bool = True,
) -> None:
    """Runs a job to a number of steps, from the directory's checkpoint if it has one.

    Args:
      job: a fresh one.
      directory: where the run lives; it gets metrics and checkpoints.
      end: how many steps to have done at the end.
      schedule: when to measure; at the end this is done in any case.
      first_stretch: how many steps to do at once at first; later, as many as take a moment.
      seconds_per_checkpoint: write a checkpoint between two measurements after so long.
      show_progress: show a progress bar on standard error.

    Raises:
      ValueError: if the checkpoint is of something else, or has done more steps already. The
        directory's files have not changed then.
    """
    job.restore(directory)
    if job.done > end:
        raise ValueError(
            f"{directory.path} has done {job.done} {job.unit}s already, more than the {end} asked "
            f"for; ask for {job.done} or more"
        )
    directory.truncate_metrics(job.step_name, job.done)
    with tqdm.tqdm(
        total=end, initial=job.done, unit=job.unit, disable=not show_progress
    ) as progress:
        while job.done < end:
            stretch, last_save = first_stretch, time.perf_counter()
            target = min(schedule(job.done), end)
            while job.done < target:
                count, start = min(stretch, target - job.done), time.perf_counter()
                job.run(count)
                progress.update(count)
                now = time.perf_counter()
                stretch *= 2 if now - start < _SECONDS_PER_STRETCH else 1
                if now - last_save > seconds_per_checkpoint:
                    job.save(directory)
                    last_save = now
            line = job.measure()
            directory.append_metrics(line)
            job.save(directory)
            if job.headline in line:
                progress.set_postfix({job.headline: f"{line[job.headline]:.2e}"})


def log_spaced(end: int, points_per_decade: int) -> Schedule:
    """After powers of 10^(1 / points_per_decade) steps, rounded, and at the end.

    Raises:
      ValueError: if points_per_decade is not between 1 and 1000.
    """
    if not 1 <= points_per_decade <= _MAX_POINTS_PER_DECADE:
        raise ValueError(
            f"points_per_decade={points_per_decade} must be between 1 and {_MAX_POINTS_PER_DECADE}"
        )
    points = list(log_spaced_steps(end, points_per_decade))
    return lambda done: next(point for point in points if point > done)


def every(steps: int) -> Schedule:
    """After each multiple of a number of steps."""
    return lambda done: (done // steps + 1) * steps
