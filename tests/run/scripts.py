"""Runs the scripts of `run/` as a user does."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RUN = Path(__file__).parents[2] / "run"
_SECONDS = 300
_STANDARD = ("input", "output", "errors")


def run_script(
    script: str,
    *arguments: str,
    directory: Path | None = None,
    typed: str | None = None,
    seconds: int = _SECONDS,
) -> tuple[int, str, str]:
    """Runs a script in a directory, on what a person types.

    Args:
      script: its file in `run/`.
      *arguments: its flags.
      directory: where it runs. Default: here.
      typed: its standard input. Default: none.
      seconds: it is stopped after so many.

    Returns:
      Exit code, standard output, standard error.
    """
    options: dict[str, Any] = {"directory": directory, "typed": typed, "seconds": seconds}
    with started_script(script, *arguments, **options) as started:
        code, output, errors = started.wait()
    if code == -signal.SIGALRM:
        raise TimeoutError(f"{script} took more than {seconds} seconds: {output}{errors}")
    return code, output, errors


def succeed(script: str, *arguments: str, **options: Any) -> tuple[str, str]:
    """Runs a script that must succeed, see `run_script`: standard output, standard error."""
    code, output, errors = run_script(script, *arguments, **options)
    assert code == 0, errors
    return output, errors


def run_cold(script: str, *arguments: str, typed: str) -> tuple[int, str, str]:
    """The same by a new Python: slow, and for what a script imports and the order of its sets."""
    with _python(RUN / script, *arguments) as process:
        output, errors = process.communicate(typed, timeout=_SECONDS)
    return process.returncode, output, errors


@dataclasses.dataclass
class Started:
    """A script that runs.

    Attributes:
      pid: of its process.
      folder: where its standard output and errors go.
      result: what `wait` returned.
    """

    pid: int
    folder: Path
    result: tuple[int, str, str] | None = None

    def is_running(self) -> bool:
        """Whether the script still runs."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait(self) -> tuple[int, str, str]:
        """Waits for the script's end and returns exit code, standard output, standard error."""
        if self.result is None:
            code = int(_line_of(_warm_python()))
            output, errors = ((self.folder / name).read_text("utf-8") for name in _STANDARD[1:])
            self.result = code, output, errors
        return self.result


@contextlib.contextmanager
def started_script(
    script: str,
    *arguments: str,
    directory: Path | None = None,
    typed: str | None = None,
    seconds: int = _SECONDS,
) -> Iterator[Started]:
    """Starts a script, and kills it in the end if it still runs then.

    The script gets a process of its own, which is a fork of one that has imported what scripts
    import, and nothing more: that takes most of the time of a script that does little. Arguments
    are those of `run_script`; one script runs at a time.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in _STANDARD:
            (folder / file).touch()
        (folder / _STANDARD[0]).write_text(typed or "", encoding="utf-8")
        request = {
            "command": [str(RUN / script), *arguments],
            "directory": str(directory or Path.cwd()),
            "environment": dict(os.environ),
            "files": [str(folder / file) for file in _STANDARD],
            "seconds": seconds,
        }
        server = _warm_python()
        assert server.stdin is not None
        print(json.dumps(request), file=server.stdin, flush=True)
        started = Started(int(_line_of(server)), folder)
        try:
            yield started
        finally:
            if started.result is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(started.pid, signal.SIGKILL)
                started.wait()


@functools.cache
def _warm_python() -> subprocess.Popen[str]:
    """One for all tests of this process; it ends with its standard input."""
    return _python(Path(__file__).parent / "warm_python.py", stderr=None)


def _line_of(server: subprocess.Popen[str]) -> str:
    return server.stdout.readline()


def _python(file: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, str(file), *arguments],
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        **{**pipes, **options},
    )
