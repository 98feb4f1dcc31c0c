"""From nothing to a game on the page: the seconds of each command of the README.

Clones this repository's last commit into an empty folder, and does there what "First steps" and
"Ten lines" of the README tell a newcomer to do, with an empty environment. The clicks on the page
are the requests that they make.

  python experiments/benchmarks/five_minutes.py --output=results/benchmarks
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import common
from serve import Client

from spiel_dl.runs.reports import Report, Table

ROOT = Path(__file__).parents[2]
_LIMIT = 180.0
GAMES = (
    ("python_leduc", "mmd:leduc"),
    ("goofspiel_5_descending", "rnad:goofspiel_5_descending"),
)


class _Walk:
    """The steps done and their times."""

    def __init__(self, folder: Path):
        self.rows: list[dict[str, Any]] = []
        self._folder = folder

    def run(self, title: str, command: str) -> None:
        """Runs a command in the folder, as a shell of its own would.

        Raises:
          ValueError: if it failed.
        """
        start, before = time.perf_counter(), common.seconds_of_children()
        activate = "if [ -e .venv/bin/activate ]; then . .venv/bin/activate; fi; "
        done = subprocess.run(
            ["bash", "-c", activate + command],
            cwd=self._folder,
            capture_output=True,
            text=True,
            env=_environment(),
            check=False,
        )
        if done.returncode != 0:
            raise ValueError(f"{command} failed: {done.stderr[-500:]}")
        self.add(title, start, before)

    def add(self, title: str, start: float, before: float | None = None) -> None:
        """Adds a step that is over; `before` are the processor seconds when it began."""
        seconds = round(time.perf_counter() - start, 1)
        used = None if before is None else round(common.seconds_of_children() - before, 1)
        self.rows.append({"step": title, "seconds": seconds, "processor": used})


def measure(*, pip_cache: bool = False, torch_index: bool = True) -> Report:
    """Takes the walk.

    Args:
      pip_cache: let pip use what it has downloaded before.
      torch_index: look for packages at torch's address, too, as the README says. Where that cannot
        be reached, pip waits minutes for it.
    """
    if not pip_cache:  # Whatever its value is, pip takes the variable for a yes.
        os.environ["PIP_NO_CACHE_DIR"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "spiel_dl"
        folder.mkdir()
        walk = _Walk(folder)
        _take(walk, folder, torch_index)
    until = next(n for n, row in enumerate(walk.rows) if "begins" in row["step"])
    total = sum(row["seconds"] for row in walk.rows[1 : until + 1])
    verdict = "met" if total <= _LIMIT else "not met"
    processor = sum(row["processor"] or 0.0 for row in walk.rows[1:])
    cache = "with pip's cache of downloads" if pip_cache else "without pip's cache"
    cache += "" if torch_index else ", and without torch's own index, which is out of reach here"
    return Report(
        "From nothing to a game on the page",
        [
            f"**{verdict}**: {total:.0f} s from the end of `git clone` to a game on the page, of "
            f"{_LIMIT:g} s. All steps together used {processor:.0f} s of processors.",
            f"Each command of the README in a new environment, {cache}, with whatever else the "
            "machine does; processor seconds are of the command and what it starts. The clone is "
            "of a folder of this machine, and its package index is near: downloads over a network "
            "come on top.",
        ],
        {"Steps": Table.of(walk.rows, step="step", seconds="seconds", processor="processor s")},
    )


def _take(walk: _Walk, folder: Path, torch_index: bool) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shell, python = (
        re.findall(rf"```{name}\n(.*?)```", readme, re.DOTALL)[0] for name in ("bash", "python")
    )
    walk.run("`git clone`", f"git clone --quiet {shlex.quote(str(ROOT))} .")
    *commands, serve = shell.strip().splitlines()
    exports = [line for line in commands if line.startswith("export ")]
    for line in commands:
        if line not in exports:
            walk.run(f"`{line}`", "\n".join([*exports, line] if torch_index else [line]))
    walk.run("`spiel-dl`", "spiel-dl")
    (folder / "ten_lines.py").write_text(python, encoding="utf-8")
    walk.run("the ten lines", "python ten_lines.py")
    start = time.perf_counter()
    words = [str(folder / ".venv" / "bin" / "spiel-dl"), *shlex.split(serve)[1:], "--port=0"]
    with common.serving(words, cwd=folder, env=_environment()) as address:
        walk.add(f"`{serve}`: the page is there", start)
        for game, policy in GAMES:
            start = time.perf_counter()
            person = Client(address, policy, 0, 1, game)
            person.run()
            if person.errors:
                raise ValueError(f"a game against {policy} ended with {person.errors[0]}")
            (began,) = person.seconds["begin"]
            walk.add(f"a game of {game} begins", time.perf_counter() - began)
            moves = len(person.seconds["answer"])
            rest = time.perf_counter() - start - began
            slowest = max(max(each) for each in person.seconds.values())
            told = f"{moves} answers of {policy}, each explained; slowest {slowest:.1f} s"
            walk.add(f"the rest of it: {told}", time.perf_counter() - rest)
        start, before = time.perf_counter(), common.seconds_of_children()
    walk.add("the server ends; its processor seconds in all", start, before)


def _environment() -> dict[str, str]:
    """Our environment variables without those that show our packages to the new environment."""
    return common.environment_of_peers("VIRTUAL_ENV", "NUMBA_CACHE_DIR")


if __name__ == "__main__":
    common.run(measure, used="as many threads as each command takes by itself")
