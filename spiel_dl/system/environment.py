"""The environment of a run: command, time, commit, versions and hardware."""

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
    """Python's arguments that name the program: a module, a script or, at a prompt, none."""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    if module is not None and sys.argv[0] == module.origin:
        return ["-m", module.name]
    return [os.path.relpath(name) for name in sys.argv[:1] if name]


def _git_commit() -> str | None:
    """The commit of the running code, with "-dirty" if a tracked file has changed since.

    Changes of reports, and of pages made of them, do not count: one run may write many. None if the
    code does not run from a checkout of its own.
    """
    module = Path(__file__)
    # An installed package may lie inside the checkout of something else, which does not track it.
    if not _git(module.parent, "ls-files", "--error-unmatch", module.name):
        return None
    commit = _git(module.parent, "rev-parse", "HEAD")
    pages = (f":(top,exclude){page}" for page in ("docs/scoreboard.md", "docs/results.md"))
    sources = (":(top)", ":(top,exclude)results", *pages)
    changes = _git(module.parent, "status", "--porcelain", "--untracked-files=no", "--", *sources)
    return f"{commit}-dirty" if commit and changes else commit


def _git(folder: Path, *arguments: str) -> str | None:
    """The output of a git command in a folder; None if git fails, prints nothing or is missing."""
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
    """The processor's name from Linux's /proc/cpuinfo, or else from `platform`."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
