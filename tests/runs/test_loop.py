"""The loop of all runs, on a job that counts."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spiel_dl.runs import loop
from spiel_dl.system.run_directory import RunDirectory


class Counter:
    """A job that counts and records its calls."""

    unit = step_name = "step"
    headline = "square"

    def __init__(self) -> None:
        self.done = 0
        self.calls: list[int] = []
        self.saves: list[int] = []

    def run(self, count: int) -> None:
        self.calls.append(count)
        self.done += count

    def measure(self) -> dict[str, Any]:
        return {"step": self.done, "square": self.done**2}

    def save(self, directory: RunDirectory) -> None:
        self.saves.append(self.done)
        directory.save_checkpoint({"done": np.array(self.done)}, {})

    def restore(self, directory: RunDirectory) -> None:
        checkpoint = directory.load_checkpoint()
        if checkpoint is not None:
            self.done = int(checkpoint[0]["done"])


def run(path: Path, end: int, schedule: loop.Schedule, **options: Any) -> Counter:
    job = Counter()
    directory = RunDirectory(path, {}, resume=True)
    loop.run_job(job, directory, end, schedule, show_progress=False, **options)
    return job


def steps(path: Path) -> list[int]:
    return [line["step"] for line in RunDirectory(path, {}, resume=True).read_metrics()]


def test_it_measures_and_saves_when_the_schedule_says(tmp_path: Path) -> None:
    job = run(tmp_path, 25, loop.every(10))
    assert steps(tmp_path) == job.saves == [10, 20, 25]
    # Each stretch is twice as long as the one before, up to the next measurement.
    assert job.calls == [1, 2, 4, 3, 1, 2, 4, 3, 1, 2, 2]


def test_it_goes_on_where_the_checkpoint_was_written(tmp_path: Path) -> None:
    run(tmp_path, 15, loop.every(10))
    RunDirectory(tmp_path, {}, resume=True).append_metrics({"step": 18, "square": 0})
    job = run(tmp_path, 30, loop.every(10))
    assert sum(job.calls) == 15
    assert steps(tmp_path) == [10, 15, 20, 30]
    assert run(tmp_path, 30, loop.every(10)).calls == []


def test_what_takes_long_is_saved_in_between(tmp_path: Path) -> None:
    job = run(tmp_path, 7, loop.every(7), seconds_per_checkpoint=0.0)
    assert job.saves == [1, 3, 7]
    assert steps(tmp_path) == [7]


def test_more_than_was_asked_for_is_refused_and_kept(tmp_path: Path) -> None:
    run(tmp_path, 20, loop.every(10))
    with pytest.raises(ValueError, match="has done 20 steps already, more than the 10 asked for"):
        run(tmp_path, 10, loop.every(10))
    assert steps(tmp_path) == [10, 20]


def test_log_spaced_points() -> None:
    after = loop.log_spaced(100, 2)
    points = [0]
    while points[-1] < 100:
        points.append(after(points[-1]))
    # Powers of 10^(1/2): 1, 3.2, 10, 31.6, 100.
    assert points[1:] == [1, 3, 10, 32, 100]
    assert after(5) == 10
    for wrong in (0, 1001, 10**9):
        with pytest.raises(ValueError, match=f"points_per_decade={wrong} must be between 1 and"):
            loop.log_spaced(100, wrong)


class Interrupted(Counter):
    """Ctrl-C is pressed while it does a step."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self._at = at

    def run(self, count: int) -> None:
        if self.done < self._at <= self.done + count:
            os.kill(os.getpid(), signal.SIGINT)
        super().run(count)


@pytest.mark.parametrize("step", [1, 5, 7, 20])
def test_an_interrupted_run_leaves_a_checkpoint(
    step: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job, directory = Interrupted(step), RunDirectory(tmp_path, {}, resume=True)
    # A shell lets what it runs in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_job(job, directory, 20, loop.every(5), show_progress=False)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert "stopping after this step" in capsys.readouterr().err
    assert job.saves[-1] == job.done >= step
    again = run(tmp_path, 20, loop.every(5))
    assert job.done + sum(again.calls) == 20
    assert steps(tmp_path) == [5, 10, 15, 20]


def test_a_deleted_checkpoint_is_missed(tmp_path: Path) -> None:
    run(tmp_path, 10, loop.every(5))
    before = (tmp_path / "metrics.jsonl").read_bytes()
    (tmp_path / "checkpoint.safetensors").unlink()
    with pytest.raises(ValueError, match=r"2 lines of metrics and no checkpoint to go on from"):
        run(tmp_path, 20, loop.every(5))
    assert (tmp_path / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("kept", [0, 1])
def test_lines_that_are_gone_are_missed(kept: int, tmp_path: Path) -> None:
    run(tmp_path, 10, loop.every(5))
    metrics = tmp_path / "metrics.jsonl"
    metrics.write_text("".join(metrics.read_text().splitlines(keepends=True)[:kept]))
    for end in (10, 20):
        # A run that had done all its steps, and has no lines at all, is told so.
        is_empty = kept == 0 and end == 10
        message = "metrics are empty" if is_empty else rf"{kept} lines up to step 10, of the 2"
        with pytest.raises(ValueError, match=message):
            run(tmp_path, end, loop.every(5))


def test_a_run_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    run(tmp_path, 5, loop.every(5))
    (tmp_path / "checkpoint.safetensors").unlink()
    assert sum(run(tmp_path, 10, loop.every(5)).calls) == 10
