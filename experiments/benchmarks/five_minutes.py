"""From nothing to a game against SePoT on the page: what each command of the walk takes.

Builds the wheel, and then does in an empty directory, with an empty environment, what
docs/index.md tells a newcomer to do. The clicks on the page are the requests that
they make. Packages come from the package index that pip is set up to use.

  python experiments/benchmarks/five_minutes.py --output=results/benchmarks
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import common
from serve import Client

from spiel_dl.runs.reports import Report, Table

ROOT = Path(__file__).parents[2]
_LIMIT = 300.0
INSTALL = "pip install -c constraints.txt spiel_dl[runs,serve]"
SOLVE = "spiel-dl solve --game=leduc_poker --iterations=1000 --run_dir=leduc"
SHOW = "spiel-dl show --game=kuhn_poker --policy=cfr+:100 --moves=3 --output=kuhn.html"
TRAIN = "spiel-dl train --preset=leduc --transformations=pure --num_steps=100 --run_dir=learner"
SERVE = "spiel-dl serve --port=0 --policies=sepot:learner"
ZOO = ("goofspiel_5_descending", "rnad:goofspiel_5_descending")
SEPOT = ("leduc", "sepot:learner")


class _Person(Client):
    """Plays one game on the page, and looks at what the opponent thought of each of its moves."""

    def __init__(self, address: str, game: str, policy: str):
        super().__init__(address, policy, 0, 1)
        self._game = game

    def _ask(self, what: str, path: str, **body: Any) -> dict[str, Any]:
        return super()._ask(what, path, **(body | {"game": self._game} if "game" in body else body))


def measure() -> Report:
    """Takes the walk."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = _build(folder / "wheels")
        walk = folder / "walk"
        walk.mkdir()
        shutil.copy(ROOT / "constraints.txt", walk)
        rows = list(_walk(walk, wheel))
    total = sum(row["seconds"] for row in rows)
    verdict = "met" if total <= _LIMIT else "not met"
    return Report(
        "From nothing to a game against SePoT",
        [
            f"**{verdict}**: {total:.0f} s from an empty directory to the end of a game against "
            f"SePoT, of {_LIMIT:g} s.",
            "Wall clock of each command in a new environment without any package, with whatever "
            "else the machine does. The wheel is made from the checkout before; everything else "
            "comes from the package index.",
        ],
        {"Commands": Table.of(rows, command="command", seconds="seconds", told="what came of it")},
    )


def _build(folder: Path) -> Path:
    """The wheel of this checkout, by the way of an sdist."""
    builder = folder / "builder"
    subprocess.run([sys.executable, "-m", "venv", str(builder)], check=True)
    pip = [str(builder / "bin" / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, "build"], check=True)
    build = [str(builder / "bin" / "python"), "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _walk(folder: Path, wheel: Path) -> Iterator[dict[str, Any]]:
    """Each command, what it took and what came of it."""
    new = [sys.executable, "-m", "venv", "new"]
    yield _row("python -m venv new", *_timed(new, folder))
    binaries = folder / "new" / "bin"
    for command in (INSTALL, "spiel-dl --help", SOLVE, SHOW, TRAIN):
        words = shlex.split(command.replace("spiel_dl[", f"{wheel}["))
        words[0] = str(binaries / words[0])
        yield _row(command, *_timed(words, folder))
    start = time.perf_counter()
    with _served(binaries, folder) as address:
        yield _row(SERVE, time.perf_counter() - start, "the page is there")
        for game, policy in (ZOO, SEPOT):
            start = time.perf_counter()
            person = _Person(address, game, policy)
            person.run()
            if person.errors:
                raise ValueError(f"a game against {policy} ended with {person.errors[0]}")
            moves = len(person.seconds["answer"])
            slowest = max(max(each) for each in person.seconds.values())
            told = f"{moves} answers of {policy}; the slowest request took {slowest:.1f} s"
            yield _row(f"a game of {game} on the page", time.perf_counter() - start, told)


def _row(command: str, seconds: float, told: str) -> dict[str, Any]:
    return {"command": f"`{command}`", "seconds": round(seconds, 1), "told": told}


def _timed(words: list[str], folder: Path) -> tuple[float, str]:
    """Seconds, and the last line that a command printed.

    Raises:
      ValueError: if it failed.
    """
    start = time.perf_counter()
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, env=_environment(), check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise ValueError(f"{shlex.join(words)} failed: {done.stderr[-500:]}")
    lines = done.stdout.strip().splitlines()
    is_ours = "spiel-dl" in words[0]
    return seconds, " ".join(lines[-1].split()) if lines and is_ours else ""


def _environment() -> dict[str, str]:
    """This one's, without what would let the new environment see packages that are here already."""
    left_out = ("PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PIP_NO_CACHE_DIR": "1"}


@contextlib.contextmanager
def _served(binaries: Path, folder: Path) -> Iterator[str]:
    """The address of the page."""
    words = [str(binaries / "spiel-dl"), *shlex.split(SERVE)[1:]]
    server = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, text=True, env=_environment()
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://[\d.]+:\d+", server.stdout.readline())
        if found is None:
            raise ValueError(f"{SERVE} did not say where the page is")
        yield found[0]
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    common.run(measure, used="as many threads as each command takes by itself")
