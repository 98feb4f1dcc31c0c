"""Python that has imported what the scripts of `run/` need, and forks for each that it is to run.

A line of its standard input describes a run, see `scripts.started_script`; two lines of its
standard output are the process's number and, once that has ended, its exit code.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import runpy
import signal
import sys
from pathlib import Path

# What a script imports, at once or late. No script itself: each run defines its flags anew.
import absl.app  # noqa: F401
import matplotlib.backends.backend_agg  # noqa: F401
import torch._dynamo  # noqa: F401

import spiel_dl


def main() -> None:
    names = [module.name for module in pkgutil.walk_packages(spiel_dl.__path__, "spiel_dl.")]
    for name in [*names, "experiments.scoreboard"]:
        with contextlib.suppress(ImportError):  # Adapters need what may not be installed.
            importlib.import_module(name)
    # What is here lives as long as the forks do; they need not look whether it is garbage.
    gc.freeze()
    context = multiprocessing.get_context("fork")
    for line in sys.stdin:
        process = context.Process(target=run, kwargs=json.loads(line))
        process.start()
        print(process.pid, flush=True)
        process.join()
        print(process.exitcode, flush=True)


def run(
    command: list[str], directory: str, environment: dict[str, str], files: list[str], seconds: int
) -> None:
    """Does what `python COMMAND` does; `files` are its standard input, output and errors."""
    for standard, file in enumerate(files):
        opened = os.open(file, os.O_WRONLY if standard else os.O_RDONLY)
        os.dup2(opened, standard)
        os.close(opened)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    sys.path[0] = str(Path(command[0]).parent)
    signal.alarm(seconds)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    main()
