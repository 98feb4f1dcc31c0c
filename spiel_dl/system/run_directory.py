"""Run directories: config, environment, metrics and checkpoints of one run, safe against kills.

config.json        the config that identifies the run
environment.jsonl  one line per start, unless it was refused: command, time, git commit, versions,
                   hardware
metrics.jsonl      one JSON object per line
checkpoint.safetensors, and other files that the run saves

A run directory belongs to one process at a time. The lock is on the open environment.jsonl, so it
is released when its process ends in any way, and there is no lock file to delete after a kill.
Readers need no lock.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import weakref
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import filelock
import numpy as np

from spiel_dl.system import tensor_files
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.json_files import (
    REMEDY,
    append_json_line,
    read_json,
    read_json_lines,
    write_json,
)
from spiel_dl.system.messages import how_to_install

CHECKPOINT_FILE = "checkpoint.safetensors"
AVERAGE_POLICY_FILE = "average_policy.safetensors"
CURRENT_POLICY_FILE = "current_policy.safetensors"
_CONFIG_FILE, _STARTS_FILE, _METRICS_FILE = "config.json", "environment.jsonl", "metrics.jsonl"
_NUM_LINES_KEY = "lines_of_metrics"


def _check_packages() -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError(f"runs draw pictures by matplotlib: {how_to_install('runs')}")


def slug(name: str) -> str:
    """A game string, or another name, as part of a path: letters, digits and underscores."""
    return capped(re.sub(r"\W+", "_", name).strip("_"))


def capped(name: str) -> str:
    """A name short enough for file systems, endings added: a long one is cut, with a checksum."""
    return name if len(name) <= 200 else f"{name[:191]}-{zlib.crc32(name.encode()):08x}"


class RunDirectory:
    """A run directory, new or resumed.

    Attributes:
      path: the directory.
    """

    def __init__(
        self, path: str | os.PathLike[str], config: Mapping[str, Any], *, resume: bool = False
    ):
        """Creates the directory, or opens it to resume its run.

        Args:
          path: the directory.
          config: what identifies the run; JSON-serialisable. A resumed run must have the same.
          resume: go on with the run that the directory holds; if it holds none, start.

        Nothing has been written when it raises.

        Raises:
          ValueError: if the directory is not empty and the run is not resumed, if it holds a run
            with another config, or one that goes on in another process.
          TypeError: if the config is not JSON-serialisable.
          ImportError: if packages that runs need are not installed.
        """
        _check_packages()
        self.path = Path(path)
        self._lock: DirectoryLock | None = None
        json_config = json.loads(json.dumps(dict(config)))
        self._check(json_config, resume)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = _acquire(self.path / _STARTS_FILE)
        self._check(json_config, resume)  # Another process may have written here before the lock.
        for leftover in self._leftovers():
            if leftover.name != _STARTS_FILE:
                leftover.unlink()
        write_json(self.path / _CONFIG_FILE, json_config)
        self._start: dict[str, Any] | None = describe_environment()
        starts = self.path / _STARTS_FILE
        if not starts.exists() or _is_empty(starts):
            self.record_start()

    @property
    def metrics_path(self) -> Path:
        """The file of metrics."""
        return self.path / _METRICS_FILE

    @property
    def checkpoint_path(self) -> Path:
        """The file of the newest checkpoint."""
        return self.path / CHECKPOINT_FILE

    def record_start(self) -> None:
        """Appends this start to environment.jsonl, once.

        The first start is recorded when the directory is made. A resumed run is recorded by
        `truncate_metrics`, after all checks that can refuse it.
        """
        if self._start is not None:
            append_json_line(self.path / _STARTS_FILE, self._start)
            self._start = None

    def append_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Appends one line of metrics."""
        append_json_line(self.metrics_path, metrics)

    def read_metrics(self) -> list[dict[str, Any]]:
        """All complete lines of metrics."""
        return read_json_lines(self.metrics_path)

    def truncate_metrics(self, step_name: str, last_step: int) -> None:
        """Drops the metrics of steps after `last_step`, and an incomplete last line.

        The run goes on from here, so its start is recorded.

        Args:
          step_name: the metric, an integer, that counts steps in this run.
          last_step: the last step to keep.

        Raises:
          ValueError: if a line is damaged, or lines written before the newest checkpoint are gone.
        """
        lines = self.read_metrics()
        for number, line in enumerate(lines, start=1):
            if not isinstance(line.get(step_name), int):
                raise ValueError(
                    f"{self.metrics_path}, line {number}, is damaged (no {step_name}); {REMEDY}"
                )
        kept = [line for line in lines if line[step_name] <= last_step]
        checkpoint = self.checkpoint_path
        header = tensor_files.header(checkpoint) if checkpoint.exists() else {}
        num_lines = header.get(_NUM_LINES_KEY, 0)
        if len(kept) < num_lines:
            raise ValueError(
                f"{self.metrics_path} has {len(kept)} lines up to {step_name} {last_step}, of the "
                f"{num_lines} that it had when the checkpoint was written; {REMEDY}"
            )
        with tensor_files.atomic_path(self.metrics_path) as temporary, temporary.open("w") as file:
            file.writelines(json.dumps(line) + "\n" for line in kept)
            tensor_files.flush(file)
        self.record_start()

    def save_checkpoint(self, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
        """Replaces the checkpoint."""
        tensor_files.save(self.checkpoint_path, arrays, {**header, **self.header_entries()})

    def header_entries(self) -> dict[str, int]:
        """Entries for a checkpoint's header: the number of lines of metrics so far.

        `truncate_metrics` refuses to go on if lines are missing.
        """
        return {_NUM_LINES_KEY: len(self.read_metrics())}

    def load_checkpoint(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The newest checkpoint; None if there is none."""
        if not self.checkpoint_path.exists():
            return None
        arrays, header = tensor_files.load(self.checkpoint_path)
        header.pop(_NUM_LINES_KEY, None)
        return arrays, header

    def _leftovers(self) -> list[Path]:
        """Temporary files and an empty environment.jsonl, of a killed or just begun run."""
        starts = [path for path in (self.path / _STARTS_FILE,) if _is_empty(path)]
        return [*self.path.glob(f".*{tensor_files.TEMPORARY_SUFFIX}"), *starts]

    def _check(self, config: Mapping[str, Any], resume: bool) -> None:
        """Raises a ValueError if a run with this config cannot begin or go on here."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"the run directory {self.path} is a file; choose another path")
        if not self.path.exists() or len(list(self.path.iterdir())) <= len(self._leftovers()):
            return
        if not resume:
            raise ValueError(
                f"the run directory {self.path} is not empty; resume its run (--resume), or "
                "choose another directory"
            )
        if not (self.path / _CONFIG_FILE).exists():
            raise ValueError(f"{self.path} is not empty and holds no run; choose another path")
        stored = read_json(self.path / _CONFIG_FILE)
        if changes := differences(stored, config):
            raise ValueError(
                f"cannot resume {self.path}: its {', its '.join(changes)}; use the same settings "
                "or another directory"
            )


def numbered(path: str | os.PathLike[str], config: Mapping[str, Any] | None = None) -> Path:
    """The first free path of PATH, PATH-2, PATH-3 and so on, or the last one with a run to resume.

    Args:
      path: of a run directory.
      config: of the run to resume; if all taken paths are of other runs, the last one is returned.
        None: return a free path.
    """
    first = free = Path(path)
    taken: list[Path] = []
    while free.is_file() or (free.exists() and any(free.iterdir())):
        taken.append(free)
        free = first.with_name(f"{first.name}-{len(taken) + 1}")
    if config is None or not taken:
        return free
    json_config = json.loads(json.dumps(dict(config)))
    runs = [run for run in taken if (run / _CONFIG_FILE).exists()]
    same = [run for run in runs if not differences(read_json(run / _CONFIG_FILE), json_config)]
    return (same or taken)[-1]


class RunRecord(NamedTuple):
    """The contents of a run directory.

    Attributes:
      config: what identifies the run.
      starts: the result of `describe_environment`, for each start.
      metrics: all complete lines of metrics.
    """

    config: dict[str, Any]
    starts: list[dict[str, Any]]
    metrics: list[dict[str, Any]]


def read_run(path: str | os.PathLike[str]) -> RunRecord:
    """Reads a run directory without changing it, even while its run goes on.

    Raises:
      ValueError: if it holds no run.
    """
    path = Path(path)
    if not (path / _CONFIG_FILE).exists():
        raise ValueError(f"{path} holds no run: there is no {_CONFIG_FILE}")
    config = read_json(path / _CONFIG_FILE)
    lines = [read_json_lines(path / name) for name in (_STARTS_FILE, _METRICS_FILE)]
    return RunRecord(config, *lines)


def differences(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> list[str]:
    """The differences of settings, as "NAME is STORED, not REQUESTED"; missing ones are None.

    In nested settings, NAME is "outer.inner".
    """
    changes: list[str] = []
    for name in sorted(stored.keys() | requested.keys()):
        old, new = stored.get(name), requested.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            changes += [f"{name}.{inner}" for inner in differences(old, new)]
        elif old != new:
            changes.append(f"{name} is {old!r}, not {new!r}")
    return changes


def _is_empty(path: Path) -> bool:
    return path.exists() and path.stat().st_size == 0


def first_start(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The environment in which a run was begun, see `describe_environment`; None without a run."""
    return next(iter(read_json_lines(Path(path) / _STARTS_FILE)), None)


def hold(path: str | os.PathLike[str]) -> DirectoryLock:
    """Locks a run directory for this process, as long as the returned lock is referenced.

    Raises:
      ValueError: if another process runs there.
    """
    return _acquire(Path(path) / _STARTS_FILE)


def set_aside(path: str | os.PathLike[str]) -> None:
    """Renames a run directory, by ".old-1" or a higher number at the end of its name.

    Raises:
      ValueError: if another process runs there.
    """
    directory = Path(path)
    lock = hold(directory)
    names = (directory.with_name(f"{directory.name}.old-{n}") for n in itertools.count(1))
    directory.rename(next(name for name in names if not name.exists()))
    del lock


_locks: weakref.WeakValueDictionary[tuple[int, int], DirectoryLock] = weakref.WeakValueDictionary()
"""This process's locks by device and number of the locked file, which a renamed one keeps."""


class DirectoryLock:
    """The lock of a file for this process, released when this object is garbage-collected."""

    def __init__(self, path: Path):
        """Locks a file; callers use `hold`.

        Raises:
          ValueError: if another process has the lock.
          OSError: if the file cannot be opened for writing, or its file system has no locks.
        """
        file = path.open("ab")
        weakref.finalize(self, file.close)
        if not filelock.lock_descriptor(file.fileno(), blocking=False):
            raise ValueError(
                f"another process runs in {path.parent}; wait until it has ended, or choose "
                "another directory"
            )


def _acquire(path: Path) -> DirectoryLock:
    """The lock of a file, shared within this process; raises as `DirectoryLock` does."""
    path.touch()
    status = path.stat()
    key = status.st_dev, status.st_ino
    lock = _locks.get(key)
    if lock is None:
        lock = _locks[key] = DirectoryLock(path)
    return lock
