"""The loop of all runs: do some steps, measure, write metrics, save a checkpoint; resumable.

A `Job` is what is run. Its metrics are written before its checkpoint: a run that was killed in
between resumes from the checkpoint before, and drops the metrics after that.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tqdm

from spiel_dl.system.interrupts import delay_interrupts
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.system.steps import log_spaced_steps

_MAX_POINTS_PER_DECADE = 1000
# Seconds of computing between updates of the progress bar.
_SECONDS_PER_STRETCH = 0.2

Schedule = Callable[[int], int]
"""Maps the number of steps done to the number of steps of the next measurement."""


class Job(Protocol):
    """A computation in counted steps, such as training.

    Attributes:
      unit: name of a step; `{unit}s` is the plural.
      step_name: the metric that counts steps.
      headline: the metric that the progress bar shows, if a line has it.
    """

    unit: str
    step_name: str
    headline: str

    @property
    def done(self) -> int:
        """Number of steps done."""

    def run(self, count: int) -> None:
        """Does `count` steps."""

    def measure(self) -> dict[str, Any]:
        """A line of metrics, the number of steps among them."""

    def save(self, directory: RunDirectory) -> None:
        """Writes the checkpoint."""

    def restore(self, directory: RunDirectory) -> None:
        """Loads the newest checkpoint, if there is one.

        Raises:
          ValueError: if it is of another job.
        """


def run_job(
    job: Job,
    directory: RunDirectory,
    end: int,
    schedule: Schedule,
    *,
    seconds_per_checkpoint: float = math.inf,
    keeps_on_interrupt: bool = True,
    show_progress: bool = True,
    label: str | None = None,
) -> None:
    """Runs a job to a number of steps, from the directory's checkpoint if it has one.

    Args:
      job: a fresh one.
      directory: the run directory; it gets metrics and checkpoints.
      end: number of steps at the end.
      schedule: steps at which to measure; the last step is always measured.
      seconds_per_checkpoint: write a checkpoint between two measurements after this time.
      keeps_on_interrupt: after Ctrl-C, finish the step and write a checkpoint.
      show_progress: show a progress bar on standard error.
      label: of the progress bar; None: none.

    Raises:
      ValueError: if the checkpoint is of another job, has done more steps already, or is gone. The
        directory's files are unchanged then.
      KeyboardInterrupt: after Ctrl-C.
    """
    _restore(job, directory, end)
    if job.done > end:
        raise ValueError(
            f"{directory.path} has done {job.done} {job.unit}s already, more than the {end} asked "
            f"for; ask for {job.done} or more"
        )
    directory.truncate_metrics(job.step_name, job.done)
    with (
        _Bar(end, job.unit, show_progress, label) as bar,
        delay_interrupts() if keeps_on_interrupt else contextlib.nullcontext() as interrupt,
    ):
        while job.done < end:
            stretch, last_save = 1, time.perf_counter()  # Doubled while a stretch is short.
            target = min(schedule(job.done), end)
            while job.done < target:
                count, start = min(stretch, target - job.done), time.perf_counter()
                job.run(count)
                now = time.perf_counter()
                bar.show_steps(job.done)
                stretch *= 2 if now - start < _SECONDS_PER_STRETCH else 1
                is_pending = interrupt is not None and interrupt.is_pending
                if job.done < target and (is_pending or now - last_save > seconds_per_checkpoint):
                    job.save(directory)
                    last_save = now
                    if is_pending:
                        raise KeyboardInterrupt
            line = job.measure()
            directory.append_metrics(line)
            job.save(directory)
            if interrupt is not None and interrupt.is_pending:
                raise KeyboardInterrupt
            bar.show_metric(job.headline, line)


class _Bar:
    """A progress bar that begins after the first stretch, in which loops are compiled."""

    def __init__(self, end: int, unit: str, is_shown: bool, label: str | None):
        self._options: dict[str, Any] = {"total": end, "unit": unit, "desc": label}
        # None: on a terminal only; in a pipe or a log each update would be a line.
        self._options["disable"] = None if is_shown else True
        self._progress: tqdm.tqdm | None = None
        self._has_metric = False

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.close()

    def show_steps(self, done: int) -> None:
        """Shows the number of steps done."""
        if self._progress is None:
            self._progress = tqdm.tqdm(initial=done, **self._options)
        self._progress.update(done - self._progress.n)

    def show_metric(self, headline: str, line: Mapping[str, Any]) -> None:
        """Shows the headline metric of a line."""
        if self._progress is None:
            return
        if not self._has_metric:  # The first measurement compiles, so its time does not count.
            self._progress.unpause()
            self._has_metric = True
        if headline in line:
            self._progress.set_postfix({headline: f"{line[headline]:.2e}"})


def _restore(job: Job, directory: RunDirectory, end: int) -> None:
    """Loads the newest checkpoint, if there is one.

    Raises:
      ValueError: if it is of another job, or was deleted.
    """
    try:
        job.restore(directory)
    except ValueError as error:
        if str(directory.path) in str(error):
            raise
        raise ValueError(f"{directory.checkpoint_path}: {error}") from error
    except KeyError as error:
        raise ValueError(
            f"{directory.checkpoint_path} lacks {error}: it is of another version or another run; "
            "choose another directory"
        ) from error
    # Each line is written just before its checkpoint, so a single line may have none yet.
    num_lines = len(directory.read_metrics())
    if job.done == 0 and num_lines > 1:
        raise ValueError(
            f"{directory.path} has {num_lines} lines of metrics and no checkpoint to go on from: "
            f"{directory.checkpoint_path.name} was deleted; put it back, or choose another "
            "directory"
        )
    if job.done >= end and not num_lines:
        raise ValueError(
            f"{directory.path} has done {job.done} {job.unit}s, and its metrics are empty; put "
            "them back, ask for more, or choose another directory"
        )


def log_spaced(end: int, points_per_decade: int) -> Schedule:
    """Measures after powers of 10^(1 / points_per_decade) steps, rounded, and at the end.

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
    """Measures after each multiple of a number of steps."""
    return lambda done: (done // steps + 1) * steps
