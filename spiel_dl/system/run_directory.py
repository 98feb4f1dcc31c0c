"""A run directory: all that is known about one run, in files that survive being killed.

config.json        what was asked for
environment.jsonl  one line per start, unless it was refused: command, time, git commit, versions,
                   hardware
metrics.jsonl      one JSON object a line
checkpoint.safetensors, and whatever else the run saves

A run directory belongs to one process at a time. The lock is on the open file that records starts,
so it goes with its process, however that ends; no file of its own is left behind, and none has to
be deleted after a kill. Readers need no lock.
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
    UNDAMAGED,
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
_NUM_LINES = "lines_of_metrics"


def _check_packages() -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError(f"runs draw pictures by matplotlib: {how_to_install('runs')}")


def slug(name: str) -> str:
    """A game string, or another name, as part of a path: letters, digits and underscores."""
    return capped(re.sub(r"\W+", "_", name).strip("_"))


def capped(name: str) -> str:
    """A name that file systems can hold, with endings: of a long one its begin and a checksum."""
    return name if len(name) <= 200 else f"{name[:191]}-{zlib.crc32(name.encode()):08x}"


class RunDirectory:
    """Opens or resumes a run directory.

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

        Raises:
          ValueError: if the directory is not empty and the run is not resumed, if it holds a run
            with another config, or one that goes on in another process. Nothing has been written
            then.
          TypeError: if JSON cannot hold the config. Nothing has been written then.
          ImportError: if what runs write needs packages that are not installed. Likewise.
        """
        _check_packages()
        self.path = Path(path)
        self._lock: DirectoryLock | None = None
        wanted = json.loads(json.dumps(dict(config)))
        self._check(wanted, resume)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = _acquire(self.path / _STARTS_FILE)
        self._check(wanted, resume)  # Another process may have been here since.
        for leftover in self._leftovers():
            if leftover.name != _STARTS_FILE:
                leftover.unlink()
        write_json(self.path / _CONFIG_FILE, wanted)
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
        """Adds this start to the record of starts, if that is not done.

        The first start is recorded when the directory is made. A run that goes on calls this once
        nothing can refuse it any more, which `truncate_metrics` does for it.
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
        """Drops the metrics of steps after `last_step`, and half a line if there is one.

        The run goes on from here, so its start is recorded.

        Args:
          step_name: the metric, an integer, that counts steps in this run.
          last_step: the last step to keep.

        Raises:
          ValueError: if a line is damaged, or lines that the newest checkpoint came after are gone.
        """
        lines = self.read_metrics()
        for number, line in enumerate(lines, start=1):
            if not isinstance(line.get(step_name), int):
                raise ValueError(
                    f"{self.metrics_path}, line {number}, is damaged (no {step_name}); {UNDAMAGED}"
                )
        kept = [line for line in lines if line[step_name] <= last_step]
        checkpoint = self.checkpoint_path
        wanted = tensor_files.header(checkpoint).get(_NUM_LINES, 0) if checkpoint.exists() else 0
        if len(kept) < wanted:
            raise ValueError(
                f"{self.metrics_path} has {len(kept)} lines up to {step_name} {last_step}, of the "
                f"{wanted} that it had when the checkpoint was written; {UNDAMAGED}"
            )
        with tensor_files.atomic_path(self.metrics_path) as temporary:
            temporary.write_text("".join(json.dumps(line) + "\n" for line in kept))
        self.record_start()

    def save_checkpoint(self, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
        """Replaces the checkpoint."""
        tensor_files.save(self.checkpoint_path, arrays, {**header, **self.notes()})

    def notes(self) -> dict[str, int]:
        """What a checkpoint's header says of the directory: how many lines of metrics came before.

        `truncate_metrics` refuses to go on without them.
        """
        return {_NUM_LINES: len(self.read_metrics())}

    def load_checkpoint(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The newest checkpoint; None if there is none."""
        if not self.checkpoint_path.exists():
            return None
        arrays, header = tensor_files.load(self.checkpoint_path)
        header.pop(_NUM_LINES, None)
        return arrays, header

    def _leftovers(self) -> list[Path]:
        """Unfinished files of a killed run, or of one that has just begun."""
        starts = [path for path in (self.path / _STARTS_FILE,) if _is_empty(path)]
        return [*self.path.glob(f".*{tensor_files.TEMPORARY_SUFFIX}"), *starts]

    def _check(self, wanted: Mapping[str, Any], resume: bool) -> None:
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
        found = read_json(self.path / _CONFIG_FILE)
        if other := differences(found, wanted):
            raise ValueError(
                f"cannot resume {self.path}: its {', its '.join(other)}; use the same settings or "
                "another directory"
            )


def numbered(path: str | os.PathLike[str], config: Mapping[str, Any] | None = None) -> Path:
    """The first free one of PATH, PATH-2, PATH-3 and so on, or the last one with a run to resume.

    Args:
      path: of a run directory.
      config: of the run to resume. If all there are of other runs, it is the last of them. None: a
        free one is wanted.
    """
    first = free = Path(path)
    taken: list[Path] = []
    while free.is_file() or (free.exists() and any(free.iterdir())):
        taken.append(free)
        free = first.with_name(f"{first.name}-{len(taken) + 1}")
    if config is None or not taken:
        return free
    wanted = json.loads(json.dumps(dict(config)))
    runs = [each for each in taken if (each / _CONFIG_FILE).exists()]
    own = [each for each in runs if not differences(read_json(each / _CONFIG_FILE), wanted)]
    return (own or taken)[-1]


class RunRecord(NamedTuple):
    """What a run directory says of its run.

    Attributes:
      config: what was asked for.
      starts: what `describe_environment` said, for each start.
      metrics: all complete lines of metrics.
    """

    config: dict[str, Any]
    starts: list[dict[str, Any]]
    metrics: list[dict[str, Any]]


def read_run(path: str | os.PathLike[str]) -> RunRecord:
    """Reads a run directory and leaves it as it is, even while its run goes on.

    Raises:
      ValueError: if it holds no run.
    """
    path = Path(path)
    if not (path / _CONFIG_FILE).exists():
        raise ValueError(f"{path} holds no run: there is no {_CONFIG_FILE}")
    config = read_json(path / _CONFIG_FILE)
    lines = [read_json_lines(path / name) for name in (_STARTS_FILE, _METRICS_FILE)]
    return RunRecord(config, *lines)


def differences(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """What differs between settings, as "NAME is FOUND, not WANTED"; what is not there is None.

    Of settings within settings, NAME is "outer.inner".
    """
    told: list[str] = []
    for name in sorted(found.keys() | wanted.keys()):
        one, other = found.get(name), wanted.get(name)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            told += [f"{name}.{inner}" for inner in differences(one, other)]
        elif one != other:
            told.append(f"{name} is {one!r}, not {other!r}")
    return told


def _is_empty(path: Path) -> bool:
    return path.exists() and path.stat().st_size == 0


def first_start(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What `describe_environment` said when a run directory was begun; None if it is none."""
    return next(iter(read_json_lines(Path(path) / _STARTS_FILE)), None)


def hold(path: str | os.PathLike[str]) -> DirectoryLock:
    """Keeps other processes from running in a run directory, as long as what is returned is kept.

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


_held: weakref.WeakValueDictionary[str, DirectoryLock] = weakref.WeakValueDictionary()
"""The locks of this process, by what they lock."""


class DirectoryLock:
    """Holds a file for this process, until nobody in it keeps this object any more."""

    def __init__(self, path: Path):
        """Takes the lock of a file, which is made if it is not there; `hold` is what callers want.

        Raises:
          ValueError: if another process has it.
          OSError: if it cannot be opened for writing, or its file system knows no locks.
        """
        file = path.open("ab")
        weakref.finalize(self, file.close)
        if not filelock.lock_descriptor(file.fileno(), blocking=False):
            raise ValueError(
                f"another process runs in {path.parent}; wait until it has ended, or choose "
                "another directory"
            )


def _acquire(path: Path) -> DirectoryLock:
    """The lock of a file, which a process may take several times; errors are those of the lock."""
    name = os.path.realpath(path)
    lock = _held.get(name)
    if lock is None:
        lock = _held[name] = DirectoryLock(path)
    return lock
