"""Benchmarks that need no peer run to their end; what they measure here means nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "experiments" / "benchmarks"


def _pin() -> None:
    """To one core."""
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "gpu_solvers.py --rounds=1 --seconds=0.05 --games=Kuhn",
        "learners.py --rounds=1 --seconds=0.1 --games=leduc",
        "sepot.py --rounds=1 --iterations=10",
        "serve.py",
    ],
)
def test_a_benchmark_leaves_its_report(tmp_path: Path, words: str) -> None:
    script, *flags = words.split()
    command = [sys.executable, str(BENCHMARKS / script), *flags, f"--output={tmp_path}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_pin if script == "learners.py" else None,
    )
    assert done.returncode == 0, done.stderr
    report = (tmp_path / script).with_suffix(".md").read_text(encoding="utf-8")
    assert report.count("\n| ") > 3
