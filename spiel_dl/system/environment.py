"""Where a run was started: command, time, commit, versions and hardware."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

_PACKAGES = ("spiel_dl", "open_spiel", "numpy", "scipy", "numba", "torch")


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
    pages = (f":(top,exclude){each}" for each in ("docs/scoreboard.md", "docs/results.md"))
    made = (":(top)", ":(top,exclude)results", *pages)
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
