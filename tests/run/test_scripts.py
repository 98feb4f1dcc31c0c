"""What all scripts of `run/` have in common: help on one screen, and errors in one line."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spiel_dl.system.tensor_files import load
from tests.run.scripts import RUN, run_script, started_script

SCRIPTS = sorted(
    path.name
    for path in RUN.glob("*.py")
    if path.stem != "script" and "\n    script.run(" in path.read_text(encoding="utf-8")
)
SOLVE = ("solve.py", "--game=kuhn_poker", "--iterations=10")


def test_scripts_are_found() -> None:
    assert {"solve.py", "train.py", "play.py"} <= set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_has_examples_and_flags(script: str) -> None:
    code, output, errors = run_script(script, "--help")
    assert code == 0, errors
    assert f"python run/{script}" in output
    assert any(
        f"  --{flag}: " in output
        for flag in ("game", "games", "data", "run", "run_dir", "paper", "report", "port")
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*SOLVE, "--iterations=0"), "error: --iterations=0: must be at least 1"),
        ((*SOLVE, "--points_per_decade=1000000000"), "error: --points_per_decade=1000000000:"),
        ((*SOLVE, "--iteratons=3"), "Did you mean: iterations"),
        ((*SOLVE, "--run_dir="), "error: --run_dir is empty"),
        ((*SOLVE, "--run_dir=/"), "error: --run_dir=/ is the root of all files"),
        ((*SOLVE, "--run_dir=/proc/no"), "error: No such file or directory: /proc/no"),
        ((*SOLVE, "--run_dir=file/run"), "error: "),
        (
            ("generate_data.py", "--game=kuhn_poker", "--moves=1", "--run_dir=new",
             "--num_workers=1000000"),
            "error: --num_workers=1000000 are too many processes",
        ),
        (
            ("generate_data.py", "--game=kuhn_poker", "--moves=1"),
            "error: give --run_dir: where checkpoints and results go.\n",
        ),
        (
            ("generate_data.py", "--game=kuhn_poker", "--plies=-3", "--run_dir=new"),
            "error: --plies=-3: must be at least 1",
        ),
        (
            ("train_on_policy.py", "--data=d", "--run_dir=new", "--num_epochs=a,b"),
            "error: --num_epochs=a: 'a' is not an integer",
        ),
        (
            ("train_on_policy.py", "--data=d", "--run_dir=new", "--num_epochs=1,2"),
            "error: --num_epochs=[1, 2] must be three numbers",
        ),
        (
            ("train.py", "--game=kuhn_poker", "--run_dir=new", "--device=tpu"),
            "error: --device=tpu cannot be used here; take cpu",
        ),
        (
            ("show.py", "--game=kuhn_poker", "--policy=uniform", "--moves=3", "--output=folder"),
            "error: --output=folder is a directory; give a file, such as page.html",
        ),
    ],
    ids=[
        "iterations", "points", "unknown flag", "no path", "root", "proc", "file", "workers",
        "required", "plies", "epochs", "two epochs", "device", "output",
    ],
)  # fmt: skip
def test_wrong_input_is_told_in_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    code, output, errors = run_script(*arguments, directory=tmp_path)
    assert (code, output) == (1, "")
    assert message in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "folder").iterdir()) == []


def test_spaces_around_a_value_do_not_matter(tmp_path: Path) -> None:
    arguments = ("solve.py", "--game= kuhn_poker ", "--iterations= 3", "--run_dir=run")
    code, output, errors = run_script(*arguments, directory=tmp_path)
    assert code == 0, errors
    assert "kuhn_poker()" in output


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
    told = "error: interrupted; the same command goes on with the run in run with --resume"
    assert errors.splitlines()[-1] == told
    assert "Traceback" not in errors


def test_a_learner_that_was_interrupted_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    """Between two evaluations, too; only times differ."""
    often = (
        "train.py", "--game=kuhn_poker", "--hidden_size=8", "--batch_size=8", "--resume",
        "--steps_per_evaluation=1000",
    )  # fmt: skip
    endless = (*often, "--num_steps=1000000000", "--run_dir=run")
    with started_script(*endless, directory=tmp_path) as script:
        deadline = time.monotonic() + 100
        while not (tmp_path / "run" / "metrics.jsonl").exists():
            assert script.is_running()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(script.pid, signal.SIGINT)
        code, _, errors = script.wait()
    assert code == 1
    assert "Traceback" not in errors
    num_steps = load(tmp_path / "run" / "checkpoint.safetensors")[1]["num_steps"] + 500
    for run in ("run", "whole"):
        words = (*often, f"--num_steps={num_steps}", f"--run_dir={run}")
        code, _, errors = run_script(*words, directory=tmp_path)
        assert code == 0, errors
    run, whole = (load(tmp_path / run / "checkpoint.safetensors") for run in ("run", "whole"))
    assert run[1] == whole[1]
    assert run[0].keys() == whole[0].keys()
    assert all(np.array_equal(array, whole[0][name]) for name, array in run[0].items())


@contextlib.contextmanager
def mounted(folder: Path, option: str) -> Iterator[None]:
    """A disk in memory, with an option of mount's; a test that may not mount is skipped."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("only root can mount a disk")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=4k"):
        code, output, errors = run_script(*SOLVE, "--run_dir=disk/run", directory=tmp_path)
    assert (code, output) == (1, "")
    assert "Traceback" not in errors
    assert "error: No space left on device" in errors.splitlines()[-1]
    assert "free some space; a run goes on with --resume" in errors


def test_a_read_only_disk_is_told(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "ro"):
        code, output, errors = run_script(*SOLVE, "--run_dir=disk/run", directory=tmp_path)
    assert (code, output) == (1, "")
    told = "error: Read-only file system: disk/run; choose a place that can be written"
    assert errors.splitlines()[-1] == told
