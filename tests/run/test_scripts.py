"""Common behaviour of all scripts of `run/`: help on one screen, errors in one line."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run.scripts import RUN, run_script, started_script, succeed

SCRIPTS = sorted(
    path.name
    for path in RUN.glob("*.py")
    if path.stem != "script" and "\n    script.run(" in path.read_text(encoding="utf-8")
)
SOLVE = ("solve.py", "--game=kuhn_poker", "--iterations=10")


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_has_examples_and_flags(script: str) -> None:
    output, _ = succeed(script, "--help")
    assert f"python run/{script}" in output
    assert any(
        f"  --{flag}: " in output
        for flag in ("game", "games", "data", "run", "run_dir", "paper", "report", "port")
    )


def test_what_was_interrupted_says_how_to_go_on(tmp_path: Path) -> None:
    arguments = ("--iterations=1000000000", "--run_dir=run")
    with started_script("solve.py", *arguments, directory=tmp_path) as script:
        deadline = time.monotonic() + 100
        while not (tmp_path / "run" / "checkpoint.safetensors").exists():
            assert script.is_running()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(script.pid, signal.SIGINT)
        code, output, errors = script.wait()
    assert (code, output) == (1, "")
    message = "error: interrupted; the same command goes on with the run in run with --resume"
    assert errors.splitlines()[-1] == message
    assert "Traceback" not in errors


@contextlib.contextmanager
def mounted(folder: Path, option: str) -> Iterator[None]:
    """A disk in memory, with an option of mount's; a test that may not mount is skipped."""
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount")
    mount = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
    plain = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(mount, check=False, capture_output=True, text=True, env=plain)
    if re.search("permission denied|superuser", done.stderr):
        pytest.skip("no disk can be mounted here; it takes the rights to mount")
    assert done.returncode == 0, done.stderr
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("size=4k", r"No space left on device.*free some space; a run goes on with --resume"),
        ("ro", r"Read-only file system: disk/run; choose a place that can be written$"),
    ],
    ids=["full", "read-only"],
)
def test_a_disk_that_takes_nothing_is_told(option: str, message: str, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", option):
        code, output, errors = run_script(*SOLVE, "--run_dir=disk/run", directory=tmp_path)
    assert (code, output) == (1, "")
    assert "Traceback" not in errors
    assert re.match(f"error: {message}", errors.splitlines()[-1])
