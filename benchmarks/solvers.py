"""CFR+ iterations, NashConv and compile times beside OpenSpiel's C++ and LiteEFG, in one run.

Every figure is the median over rounds; in each round they run one after the other, and ratios
are taken within a round, so that a machine whose speed drifts does not favour anybody. One
thread each. Writes solvers.json and solvers.md to --output.

  python benchmarks/solvers.py --output=results/benchmarks
"""

import contextlib
import importlib.metadata
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

import common
import LiteEFG
import pyspiel
from absl import app, flags
from LiteEFG.baselines import CFRplus

from spiel_dl.algorithms import cfr, exploitability
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.tree import GameTree

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 0.5, "Least seconds per implementation and round.")

GAMES = {
    "leduc_poker": "leduc_poker",
    "liars_dice, 1 die, 4 sides": "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel 4": "goofspiel(num_cards=4,imp_info=True,points_order=descending)",
    "goofspiel 5": "goofspiel(num_cards=5,imp_info=True,points_order=descending)",
}
TWO_THREADS = f"{common.OURS}, two threads"
GROWTH = "goofspiel(num_cards={},imp_info=True,points_order=descending)"
START = """
import time
start = time.perf_counter()
from spiel_dl.algorithms import cfr, exploitability
solver = cfr.CFRPlusSolver("leduc_poker")
solver.run(1000)
exploitability.nash_conv(solver.tree, solver.average_policy())
print(time.perf_counter() - start)
"""
NASH_CONV_START = """
import time
start = time.perf_counter()
import pyspiel
from open_spiel.python import policy
from spiel_dl.algorithms import exploitability
uniform = policy.UniformRandomPolicy(pyspiel.load_game("leduc_poker"))
exploitability.nash_conv("leduc_poker", uniform)
print(time.perf_counter() - start)
"""


class Implementations:
    """One game, ready to be iterated and evaluated by each library."""

    def __init__(self, game_string: str):
        self.game = pyspiel.load_game(game_string)
        if self.game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            self.game = pyspiel.convert_to_turn_based(self.game)
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
        return {
            common.OURS: common.repeat(lambda: exploitability.nash_conv(self.solver.tree, policy)),
            "OpenSpiel C++": common.repeat(lambda: pyspiel.nash_conv(self.game, tabular)),
            "LiteEFG": common.repeat(
                lambda: self.environment.exploitability(strategy, "avg-iterate")
            ),
        }

    def _iterate_liteefg(self) -> None:
        self.graph.update_graph(self.environment)
        self.environment.update_strategy(self.graph.current_strategy())


def compare(implementations: dict[str, Callable[[int], object]]) -> dict[str, Any]:
    """Median microseconds of each implementation, and median ratios to ours."""
    return common.compare(implementations, _ROUNDS.value, _SECONDS.value)


def measure_growth() -> list[dict[str, Any]]:
    """Compile and iteration times from goofspiel 3 to 6."""
    rows = []
    for num_cards in range(3, 7):
        start = time.perf_counter()
        tree = GameTree.from_game(GROWTH.format(num_cards))
        compile_seconds = time.perf_counter() - start
        tree.sequence_form  # noqa: B018 - computed on first use
        result = common.compare(
            {
                common.OURS: cfr.CFRPlusSolver(tree).run,
                TWO_THREADS: cfr.CFRPlusSolver(tree, num_threads=2).run,
            },
            _ROUNDS.value,
            _SECONDS.value,
        )
        one_thread = result["microseconds"][common.OURS]
        rows.append(
            {
                "cards": num_cards,
                "histories": tree.num_histories,
                "compile_seconds": compile_seconds,
                "microseconds_per_iteration": one_thread,
                "nanoseconds_per_history": 1e3 * one_thread / tree.num_histories,
                "speed_up_by_two_threads": 1 / result["ratio"][TWO_THREADS],
            }
        )
    return rows


def measure_start(program: str) -> dict[str, float]:
    """Seconds that a program says it took, without and with cached kernels."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", program]
        runs = [
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for _ in range(4)
        ]
    seconds = [float(run.stdout) for run in runs]
    return {"first": seconds[0], "later": statistics.median(seconds[1:])}


def table(title: str, results: dict[str, dict[str, Any]]) -> str:
    """A Markdown table of microseconds and ratios."""
    names = [common.OURS, "OpenSpiel C++", "LiteEFG"]
    lines = [
        f"\n## {title}\n",
        "| game | "
        + " | ".join(f"{n}, µs" for n in names)
        + " | OpenSpiel ÷ ours | LiteEFG ÷ ours |",
        "|---|" + "---:|" * 5,
    ]
    for game, result in results.items():
        times = " | ".join(f"{result['microseconds'][name]:,.1f}" for name in names)
        ratios = " | ".join(f"{result['ratio'][name]:,.0f}" for name in names[1:])
        lines.append(f"| {game} | {times} | {ratios} |")
    return "\n".join(lines)


def report(results: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    environment, start = results["environment"], results["start"]
    growth = [
        f"| {row['cards']} | {row['histories']:,} | {row['compile_seconds']:.3f} "
        f"| {row['microseconds_per_iteration']:,.1f} | {row['nanoseconds_per_history']:.2f} "
        f"| {row['speed_up_by_two_threads']:.2f} |"
        for row in results["growth"]
    ]
    return "\n".join(
        [
            "# Solvers beside their peers\n",
            reports.describe_run(environment),
            f"{reports.describe_machine(environment, 'one thread used')}, "
            f"LiteEFG {results['liteefg_version']}. Medians of {results['rounds']} rounds; ratios "
            f"within a round. Wall-clock of the whole run: {results['seconds']:.0f} s.",
            table(
                "One CFR+ iteration: both players updated, average accumulated",
                results["iteration"],
            ),
            table("NashConv of a tabular policy", results["nash_conv"]),
            "\n## From game string to arrays\n",
            "| game | histories | seconds |",
            "|---|---:|---:|",
            *(
                f"| {game} | {row['histories']:,} | {row['seconds']:.3f} |"
                for game, row in results["compile"].items()
            ),
            "\n## Growth: goofspiel, descending points, imperfect information, turn-based\n",
            "| cards | histories | compile, s | CFR+ iteration, µs | per history, ns "
            "| two threads, times faster |",
            "|---:|---:|---:|---:|---:|---:|",
            *growth,
            "\n## From the first import to results in leduc_poker\n",
            "| result | first time on a machine, kernels being compiled, s | later, s |",
            "|---|---:|---:|",
            *(
                f"| {what} | {start[what]['first']:.1f} | {start[what]['later']:.2f} |"
                for what in start
            ),
        ]
    )


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    begin = time.perf_counter()
    LiteEFG.set_threads(1)
    results: dict[str, Any] = {
        "environment": describe_environment(),
        "liteefg_version": importlib.metadata.version("LiteEFG"),
        "rounds": _ROUNDS.value,
        "iteration": {},
        "nash_conv": {},
        "compile": {},
    }
    for name, game_string in GAMES.items():
        implementations = Implementations(game_string)
        results["iteration"][name] = compare(implementations.iteration())
        results["nash_conv"][name] = compare(implementations.nash_conv())
        seconds = []
        for _ in range(_ROUNDS.value):
            start = time.perf_counter()
            tree = GameTree.from_game(game_string)
            seconds.append(time.perf_counter() - start)
        results["compile"][name] = {
            "histories": tree.num_histories,
            "seconds": statistics.median(seconds),
        }
        print(name, results["iteration"][name]["ratio"], results["nash_conv"][name]["ratio"])
    results["growth"] = measure_growth()
    results["start"] = {
        "1000 iterations of CFR+ and their NashConv": measure_start(START),
        "NashConv of the uniform policy": measure_start(NASH_CONV_START),
    }
    results["seconds"] = time.perf_counter() - begin
    common.publish(f"{_OUTPUT.value}/solvers", results, report)


if __name__ == "__main__":
    app.run(main)
