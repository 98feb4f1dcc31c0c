"""A run directory: all that is known about one run, in files that survive being killed.

config.json        what was asked for
environment.jsonl  one line per start, unless it was refused: command, time, git commit, versions,
                   hardware
metrics.jsonl      one JSON object a line
events.out.*       the same numbers for TensorBoard (tensorboard --logdir=PATH), a file per start
checkpoint.safetensors, and whatever else the run saves
"""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.util
import itertools
import json
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spiel_dl.runs import locks, tensor_files

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_PACKAGES = ("spiel_dl", "open_spiel", "numpy", "scipy", "numba", "torch")

CHECKPOINT_FILE = "checkpoint.safetensors"
AVERAGE_POLICY_FILE = "average_policy.safetensors"
CURRENT_POLICY_FILE = "current_policy.safetensors"
_UNDAMAGED = "restore it from a copy, or choose another directory"
_CONFIG_FILE, _STARTS_FILE, _METRICS_FILE = "config.json", "environment.jsonl", "metrics.jsonl"


def _check_packages() -> None:
    for name in ("tensorboard", "matplotlib"):
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"runs write files by {name}: pip install spiel_dl[runs]")


def slug(name: str) -> str:
    """A game string, or another name, as part of a path: letters, digits and underscores."""
    return re.sub(r"\W+", "_", name).strip("_")


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
        self._lock: locks.DirectoryLock | None = None
        self._step_name: str | None = None
        self._last_step = 0
        self._events: SummaryWriter | None = None
        wanted = json.loads(json.dumps(dict(config)))
        self._check(wanted, resume)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = locks.acquire(self.path / _STARTS_FILE)
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
            _append_json_line(self.path / _STARTS_FILE, self._start)
            self._start = None

    def append_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Appends one line of metrics.

        Its numbers go to TensorBoard too, if `truncate_metrics` has said which of them is the step.
        """
        _append_json_line(self.metrics_path, metrics)
        if self._step_name is None:
            return
        if self._events is None:
            self._events = self._open_events()
        for name, value in metrics.items():
            if isinstance(value, int | float) and name != self._step_name:
                self._events.add_scalar(name, value, metrics[self._step_name])
        self._events.flush()

    def read_metrics(self) -> list[dict[str, Any]]:
        """All complete lines of metrics."""
        return _read_json_lines(self.metrics_path)

    def truncate_metrics(self, step_name: str, last_step: int) -> None:
        """Drops the metrics of steps after `last_step`, and half a line if there is one.

        The run goes on from here, so its start is recorded.
        TensorBoard will not show the dropped ones once the next line has been appended.

        Args:
          step_name: the metric, an integer, that counts steps in this run.
          last_step: the last step to keep.
        """
        self._step_name, self._last_step = step_name, last_step
        lines = self.read_metrics()
        for number, line in enumerate(lines, start=1):
            if not isinstance(line.get(step_name), int):
                raise ValueError(
                    f"{self.metrics_path}, line {number}, is damaged (no {step_name}); {_UNDAMAGED}"
                )
        kept = [line for line in lines if line[step_name] <= last_step]
        with tensor_files.atomic_path(self.metrics_path) as temporary:
            temporary.write_text("".join(json.dumps(line) + "\n" for line in kept))
        self.record_start()

    def save_checkpoint(self, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
        """Replaces the checkpoint."""
        tensor_files.save(self.checkpoint_path, arrays, header)

    def load_checkpoint(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The newest checkpoint; None if there is none."""
        if not self.checkpoint_path.exists():
            return None
        return tensor_files.load(self.checkpoint_path)

    def _open_events(self) -> SummaryWriter:
        # TensorBoard and torch take seconds to import, and most programs write no metrics.
        from torch.utils.tensorboard import SummaryWriter

        is_resumed = any(self.path.glob("events.out.*"))
        purge_step = self._last_step + 1 if is_resumed else None
        events = SummaryWriter(str(self.path), purge_step=purge_step)
        # Otherwise its thread and its file would stay until the program ends.
        weakref.finalize(self, events.close)
        return events

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
    lines = [_read_json_lines(path / name) for name in (_STARTS_FILE, _METRICS_FILE)]
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


def write_json(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Writes one JSON file, completely or not at all."""
    with tensor_files.atomic_path(path) as temporary:
        temporary.write_text(json.dumps(dict(content), indent=2) + "\n", encoding="utf-8")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a file that holds one JSON object.

    Raises:
      ValueError: if it holds something else; the message names the file.
    """
    return _json_object(Path(path).read_bytes(), str(path))


def _read_json_lines(path: Path) -> list[dict[str, Any]]:
    """All complete lines of a file; none if it does not exist."""
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    # A killed run may have left half a line.
    complete = [line for line in lines if line.endswith(b"\n")]
    return [_json_object(line, f"{path}, line {n}") for n, line in enumerate(complete, start=1)]


def _json_object(text: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:  # No UTF-8, or no JSON.
        raise ValueError(f"{where} is damaged ({error}); {_UNDAMAGED}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{where} is damaged (no JSON object); {_UNDAMAGED}")
    return found


def _is_empty(path: Path) -> bool:
    return path.exists() and path.stat().st_size == 0


def _append_json_line(path: Path, content: Mapping[str, Any]) -> None:
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")  # A killed run left half a line.
        file.write(f"{json.dumps(dict(content))}\n".encode())


def log_spaced_steps(last: int, points_per_decade: int) -> Iterator[int]:
    """1, ..., last: rounded powers of 10^(1 / points_per_decade), and `last` itself."""
    point, exponent = 1, 0
    while point < last:
        yield point
        # Many exponents in between are rounded to this point, too.
        exponent = max(exponent, int(math.log10(point + 0.5) * points_per_decade) - 1)
        while round(10 ** (exponent / points_per_decade)) <= point:
            exponent += 1
        point = round(10 ** (exponent / points_per_decade))
    yield last


def describe_environment() -> dict[str, Any]:
    """Command, time, git commit, versions and hardware, for the record of a run."""
    return {
        "command": shlex.join(["python", *_program(), *sys.argv[1:]]),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "git_commit": _git_commit(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def first_start(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What `describe_environment` said when a run directory was begun; None if it is none."""
    return next(iter(_read_json_lines(Path(path) / _STARTS_FILE)), None)


def set_aside(path: str | os.PathLike[str]) -> None:
    """Renames a run directory, by ".old-1" or a higher number at the end of its name.

    Raises:
      ValueError: if another process runs there.
    """
    directory = Path(path)
    lock = locks.acquire(directory / _STARTS_FILE)
    names = (directory.with_name(f"{directory.name}.old-{n}") for n in itertools.count(1))
    directory.rename(next(name for name in names if not name.exists()))
    del lock


def _program() -> list[str]:
    """What Python was told to run: a module, a script or, at its prompt, nothing."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    if module is not None and sys.argv[0] == module.origin:
        return ["-m", module.name]
    return [os.path.relpath(name) for name in sys.argv[:1] if name]


def _git_commit() -> str | None:
    """The commit of the code that runs, and "-dirty" if a tracked file has changed since.

    Reports, and pages that are made of them, may have changed: one run may write many. None if the
    code does not run from a checkout of its own.
    """
    here = Path(__file__)
    # An installed package may lie inside the checkout of something else, which does not track it.
    if not _git(here.parent, "ls-files", "--error-unmatch", here.name):
        return None
    commit = _git(here.parent, "rev-parse", "HEAD")
    made = (":(top)", ":(top,exclude)results", ":(top,exclude)docs/scoreboard.md")
    changed = _git(here.parent, "status", "--porcelain", "--untracked-files=no", "--", *made)
    return f"{commit}-dirty" if commit and changed else commit


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints in a folder; None if it fails or is not there."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip() or None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    """The processor's name, where Linux tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
