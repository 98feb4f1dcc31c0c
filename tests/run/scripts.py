"""Runs the scripts of `run/` as a user does."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RUN = Path(__file__).parents[2] / "run"
_SECONDS = 300


def run_script(
    script: str,
    *arguments: str,
    directory: Path | None = None,
    typed: str | None = None,
    cold: bool = False,
) -> tuple[int, str, str]:
    """Runs a script in a directory, on what a person types.

    The script gets a process of its own, which is a fork of one that has imported what scripts
    import, and nothing more: that takes most of the time of a script that does little.

    Args:
      script: its file in `run/`.
      *arguments: its flags.
      directory: where it runs. Default: here.
      typed: its standard input. Default: none.
      cold: start Python anew, for tests of what a script imports or of the order of its sets.

    Returns:
      Exit code, standard output, standard error.
    """
    if cold:
        with start_script(script, *arguments, directory=directory) as process:
            output, errors = process.communicate(typed, timeout=_SECONDS)
        return process.returncode, output, errors
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("typed", "output", "errors")]
        for file, text in zip(files, (typed or "", "", ""), strict=True):
            file.write_text(text, encoding="utf-8")
        request = {
            "command": [str(RUN / script), *arguments],
            "directory": str(directory or Path.cwd()),
            "environment": dict(os.environ),
            "files": [str(file) for file in files],
            "seconds": _SECONDS,
        }
        server = _warm_python()
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(request), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        output, errors = (file.read_text(encoding="utf-8") for file in files[1:])
    if code == -signal.SIGALRM:
        raise TimeoutError(f"{script} took more than {_SECONDS} seconds: {output}{errors}")
    return code, output, errors


def start_script(
    script: str, *arguments: str, directory: Path | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Starts a script in a Python of its own, as a person does."""
    return _start(RUN / script, *arguments, cwd=directory, **options)


@functools.cache
def _warm_python() -> subprocess.Popen[str]:
    """One for all tests of this process; it ends with its standard input."""
    return _start(Path(__file__).parent / "warm_python.py", stderr=None)


def _start(file: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, str(file), *arguments],
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        **{**pipes, **options},
    )
