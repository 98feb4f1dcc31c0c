"""One process at a time in a run directory."""

from __future__ import annotations

import fcntl
import gc
from pathlib import Path

import pytest

from spiel_dl.system.run_directory import RunDirectory


def test_another_process_is_refused_until_it_ends(tmp_path: Path) -> None:
    """Locks belong to open files, so another open file stands for another process."""
    RunDirectory(tmp_path, {"a": 1})
    before = (tmp_path / "environment.jsonl").read_bytes()
    with (tmp_path / "environment.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match=r"another process runs in .*; wait until it has"):
            RunDirectory(tmp_path, {"a": 1}, resume=True)
        assert (tmp_path / "environment.jsonl").read_bytes() == before
    RunDirectory(tmp_path, {"a": 1}, resume=True)


def test_a_run_directory_is_locked_as_long_as_it_is_kept(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path, {"a": 1})
    again = RunDirectory(tmp_path, {"a": 1}, resume=True)
    for each in (directory, again):
        assert is_locked(each.path / "environment.jsonl")
    del directory, each
    assert is_locked(tmp_path / "environment.jsonl")
    del again
    gc.collect()
    assert not is_locked(tmp_path / "environment.jsonl")


def is_locked(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
