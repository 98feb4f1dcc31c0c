"""Runs the scripts of `run/` as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[2] / "run"


def run_script(
    script: str, *arguments: str, directory: Path | None = None, typed: str | None = None
) -> tuple[int, str, str]:
    """Runs a script in a directory, on what a person types.

    Returns:
      Exit code, standard output, standard error.
    """
    result = subprocess.run(
        [sys.executable, str(RUN / script), *arguments],
        cwd=directory,
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    return result.returncode, result.stdout, result.stderr
