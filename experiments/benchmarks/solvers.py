"""CFR+ iterations, NashConv and compile times beside OpenSpiel's C++ and LiteEFG, in one run.

Every figure is the median over rounds; in each round they run one after the other, and ratios
are taken within a round. One thread each.

  python experiments/benchmarks/solvers.py --output=results/benchmarks
"""

import contextlib
import importlib.metadata
import io
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any
from unittest import mock

import common
import LiteEFG
import pyspiel
from LiteEFG.baselines import CFRplus

from spiel_dl.algorithms import cfr, exploitability
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree import GameTree
from spiel_dl.tree.from_openspiel import load_turn_based

_GOOFSPIEL = "goofspiel(num_cards={},imp_info=True,points_order=descending)"
GAMES = {
    "leduc_poker": "leduc_poker",
    "liars_dice, 1 die, 4 sides": "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel 4": _GOOFSPIEL.format(4),
    "goofspiel 5": _GOOFSPIEL.format(5),
}
TWO_THREADS = f"{common.OURS}, two threads"
TIMED = """
import time
start = time.perf_counter()
{}
print(time.perf_counter() - start)
"""
FROM_IMPORT = {
    "1000 iterations of CFR+ and their NashConv": """
from spiel_dl.algorithms import cfr, exploitability
solver = cfr.CFRPlusSolver("leduc_poker")
solver.run(1000)
exploitability.nash_conv(solver.tree, solver.average_policy())
""",
    "NashConv of the uniform policy": """
import pyspiel
from open_spiel.python import policy
from spiel_dl.algorithms import exploitability
uniform = policy.UniformRandomPolicy(pyspiel.load_game("leduc_poker"))
exploitability.nash_conv("leduc_poker", uniform)
""",
}


class Implementations:
    """One game, ready to be iterated and evaluated by each library."""

    def __init__(self, game_string: str):
        self.game = load_turn_based(game_string)
        self.solver = cfr.CFRPlusSolver(self.game)
        self.openspiel = pyspiel.CFRPlusSolver(self.game)
        # LiteEFG prints, and keeps the game in a file below the home directory.
        with (
            contextlib.redirect_stdout(io.StringIO()),
            tempfile.TemporaryDirectory() as folder,
            mock.patch.dict(os.environ, HOME=folder),
        ):
            self.graph = CFRplus.graph()
            self.environment = LiteEFG.OpenSpielEnv(
                self.game, traverse_type="Enumerate", regenerate=True
            )
            self.environment.set_graph(self.graph)

    def iteration(self) -> dict[str, Callable[[int], object]]:
        """One CFR+ iteration: both players updated, the average accumulated."""
        return {
            common.OURS: self.solver.run,
            "OpenSpiel C++": common.repeat(self.openspiel.evaluate_and_update_policy),
            "LiteEFG": common.repeat(self._iterate_liteefg),
        }

    def nash_conv(self) -> dict[str, Callable[[int], object]]:
        """NashConv of a policy that each library has in its own form."""
        policy = self.solver.average_policy()
        tabular = policy.to_pyspiel()
        strategy = self.graph.current_strategy()
        ways: dict[str, Callable[[], object]] = {
            common.OURS: lambda: exploitability.nash_conv(self.solver.tree, policy),
            "OpenSpiel C++": lambda: pyspiel.nash_conv(self.game, tabular),
            "LiteEFG": lambda: self.environment.exploitability(strategy, "avg-iterate"),
        }
        return {name: common.repeat(way) for name, way in ways.items()}

    def _iterate_liteefg(self) -> None:
        self.graph.update_graph(self.environment)
        self.environment.update_strategy(self.graph.current_strategy())


def compare(
    game: str, implementations: dict[str, Callable[[int], object]], rounds: int, seconds: float
) -> dict[str, Any]:
    """A row of microseconds and of ratios to ours."""
    microseconds, ratios = common.compare(implementations, rounds, seconds)
    return {"game": game, **{f"{n}, µs": each for n, each in microseconds.items()}, **ratios}


def compiling(game_string: str, rounds: int) -> tuple[GameTree, float]:
    """A compiled game, and the median seconds that it takes."""
    found = [common.timed(lambda: GameTree.from_game(game_string)) for _ in range(rounds)]
    return found[-1][0], statistics.median(took["seconds"] for _, took in found)


def growth(num_cards: int, rounds: int, seconds: float) -> dict[str, Any]:
    """Compile and iteration times of goofspiel."""
    tree, compile_seconds = compiling(_GOOFSPIEL.format(num_cards), 1)
    tree.sequence_form  # noqa: B018 - computed on first use
    ways = {
        common.OURS: cfr.CFRPlusSolver(tree).run,
        TWO_THREADS: cfr.CFRPlusSolver(tree, num_threads=2).run,
    }
    microseconds, ratios = common.compare(ways, rounds, seconds)
    return {
        "cards": num_cards,
        "histories": tree.num_histories,
        "compile, s": compile_seconds,
        "CFR+ iteration, µs": microseconds[common.OURS],
        "per history, ns": 1e3 * microseconds[common.OURS] / tree.num_histories,
        "two threads, times faster": 1 / ratios[f"{TWO_THREADS} / {common.OURS}"],
    }


def from_import(what: str) -> dict[str, Any]:
    """Seconds that a program says it took, without and with cached kernels."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", TIMED.format(FROM_IMPORT[what])]
        runs = [
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for _ in range(4)
        ]
    first, *later = (float(run.stdout) for run in runs)
    when = "first time on a machine, kernels being compiled, s"
    return {"result": what, when: first, "later, s": statistics.median(later)}


def measure(*, rounds: int = 5, seconds: float = 0.5) -> Report:
    """Measures everything.

    Args:
      rounds: per figure.
      seconds: at least, of each implementation in a round.
    """
    LiteEFG.set_threads(1)
    iterations, nash_convs, compiled = [], [], []
    for name, game_string in GAMES.items():
        ready = Implementations(game_string)
        iterations.append(compare(name, ready.iteration(), rounds, seconds))
        nash_convs.append(compare(name, ready.nash_conv(), rounds, seconds))
        tree, took = compiling(game_string, rounds)
        compiled.append({"game": name, "histories": tree.num_histories, "seconds": took})
    tables = {
        "One CFR+ iteration: both players updated, average accumulated": iterations,
        "NashConv of a tabular policy": nash_convs,
        "From game string to arrays": compiled,
        "Growth: goofspiel, descending points, imperfect information, turn-based": [
            growth(num_cards, rounds, seconds) for num_cards in range(3, 7)
        ],
        "From the first import to results in leduc_poker": [from_import(n) for n in FROM_IMPORT],
    }
    return Report(
        "Solvers beside their peers",
        [
            f"LiteEFG {importlib.metadata.version('LiteEFG')}. Medians of {rounds} rounds; ratios "
            "within a round."
        ],
        {heading: Table.of(rows) for heading, rows in tables.items()},
    )


if __name__ == "__main__":
    common.run(measure)
