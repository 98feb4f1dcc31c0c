"""The loop of all runs, on a job that counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spiel_dl.jobs import loop
from spiel_dl.runs.run_directory import RunDirectory


class Counter:
    """Counts; remembers how it was asked to."""

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


def test_a_first_stretch_may_be_as_long_as_one_likes(tmp_path: Path) -> None:
    assert run(tmp_path, 25, loop.every(10), first_stretch=100).calls == [10, 10, 5]


def test_it_goes_on_where_the_checkpoint_was_written(tmp_path: Path) -> None:
    run(tmp_path, 15, loop.every(10))
    RunDirectory(tmp_path, {}, resume=True).append_metrics({"step": 18, "square": 0})
    job = run(tmp_path, 30, loop.every(10))
    assert sum(job.calls) == 15
    assert steps(tmp_path) == [10, 15, 20, 30]
    assert run(tmp_path, 30, loop.every(10)).calls == []


def test_what_takes_long_is_saved_in_between(tmp_path: Path) -> None:
    job = run(tmp_path, 7, loop.every(7), seconds_per_checkpoint=0.0)
    assert job.saves == [1, 3, 7, 7]
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
