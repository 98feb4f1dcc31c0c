"""Value solving and DL-CFR+ with a network, beside OpenSpiel's C++ CFR+ on the whole game.

Goofspiel with 5 cards, the last round played out, cut after 3 rounds: 27 leaf public states. One
sample is a leaf public state with both players' counterfactual values. The peer has one thread, and
its Goofspiel has no forced round, so its game has about half as many histories: both are reported,
and DL-CFR+ is measured with one thread too. Writes dl_cfr.json and dl_cfr.md to --output.

  python benchmarks/dl_cfr.py --output=results/benchmarks
"""

import concurrent.futures
import functools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import common
import pyspiel
import torch
from absl import app, flags

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.generation import random_ranges, solve_ranges
from spiel_dl.value_functions.positional import PositionalNetwork

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_STRATEGIES = flags.DEFINE_integer("strategies", 40, "Trunk strategies to solve.", lower_bound=2)
_ITERATIONS = flags.DEFINE_integer("iterations", 1000, "Of DL-CFR+.", lower_bound=1)
_ROUNDS = flags.DEFINE_integer("rounds", 3, "Rounds per figure.", lower_bound=1)
_THREADS = flags.DEFINE_integer("threads", 2, "Threads.", lower_bound=1)

# The first domain of Kovařík et al. (2021), Table 2.
GAME = "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=true)"
DEPTH_LIMIT = DepthLimit(rounds=3)
PEER_GAME = "goofspiel(num_cards=5,imp_info=True,points_order=descending)"
# Not to be reached, so that all iterations are done.
NO_TOLERANCE = 1e-300
PEER = "OpenSpiel C++ CFR+, whole game, 1 thread"


def samples_per_second(tree: GameTree, tolerance: float, num_threads: int) -> dict[str, float]:
    """Of value solving with at most 1000 iterations, and the largest gap that it left."""
    trunk = cut(tree, DEPTH_LIMIT)
    config = DatasetConfig(GAME, DEPTH_LIMIT, tolerance=tolerance)
    numbers = range(_STRATEGIES.value)
    ranges = random_ranges(trunk, config, numbers)
    gaps = []

    def solve(first: int) -> None:
        rows = (ranges[0][first::num_threads], ranges[1][first::num_threads])
        gaps.append(solve_ranges(trunk.leaves, rows, config)["gap"])

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(num_threads) as pool:
        list(pool.map(solve, range(num_threads)))
    seconds = time.perf_counter() - start
    num_samples = len(numbers) * trunk.leaves.num_public_states
    return {
        "samples_per_second": num_samples / seconds,
        "largest_gap": float(max(g.max() for g in gaps)),
    }


def dl_cfr_seconds(tree: GameTree, *, alternating: bool, num_threads: int) -> float:
    """Of DL-CFR+ with an untrained network of 5 layers of 400 units."""
    torch.set_num_threads(num_threads)
    network = PositionalNetwork(5, 400)
    solver = DLCFRSolver(tree, network, DEPTH_LIMIT, alternating_updates=alternating)
    solver.run(10)
    start = time.perf_counter()
    solver.run(_ITERATIONS.value)
    return time.perf_counter() - start


def peer_seconds() -> float:
    """Of OpenSpiel's C++ CFR+ on the whole game, in as many iterations."""
    game = pyspiel.convert_to_turn_based(pyspiel.load_game(PEER_GAME))
    solver = pyspiel.CFRPlusSolver(game)
    tenth = max(1, _ITERATIONS.value // 10)
    start = time.perf_counter()
    for _ in range(tenth):
        solver.evaluate_and_update_policy()
    return (time.perf_counter() - start) / tenth * _ITERATIONS.value


def measure() -> dict[str, Any]:
    """All figures: medians over rounds, in which everything runs one after the other."""
    tree = GameTree.from_game(GAME)
    seconds: dict[str, Callable[[], float]] = {
        f"DL-CFR+, {updates} updates, {threads(number)}": functools.partial(
            dl_cfr_seconds, tree, alternating=updates == "alternating", num_threads=number
        )
        for updates in ("simultaneous", "alternating")
        for number in sorted({1, _THREADS.value})
    }
    seconds[PEER] = peer_seconds
    solving = {
        "1000 iterations": NO_TOLERANCE,
        "until gaps are at most 1e-4": 1e-4,
        "until gaps are at most 1e-3": 1e-3,
    }
    samples_per_second(tree, 1e-1, 1)
    rounds = [
        {
            "seconds": {name: function() for name, function in seconds.items()},
            "solving": {
                name: samples_per_second(tree, tolerance, _THREADS.value)
                for name, tolerance in solving.items()
            },
        }
        for _ in range(_ROUNDS.value)
    ]
    return {
        "histories": tree.num_histories,
        "histories_of_peer": GameTree.from_game(PEER_GAME).num_histories,
        "seconds": {n: statistics.median(r["seconds"][n] for r in rounds) for n in seconds},
        "solving": {
            name: {
                what: statistics.median(r["solving"][name][what] for r in rounds)
                for what in ("samples_per_second", "largest_gap")
            }
            for name in solving
        },
    }


def threads(number: int) -> str:
    """So many threads, in words."""
    return "1 thread" if number == 1 else f"{number} threads"


def report(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    environment = results["environment"]
    peer = results["seconds"][PEER]
    used = f"up to {threads(results['threads'])} used"
    lines = [
        "# DL-CFR+ with a network, and value solving\n",
        reports.describe_run(environment),
        f"{reports.describe_machine(environment, used)}. Medians over "
        f"{results['rounds']} rounds.\n",
        f"Ours: `{GAME}`, {results['histories']:,} histories, depth limit "
        f"{DEPTH_LIMIT}; 5 layers of 400 units; value solving with "
        f"{threads(results['threads'])}. The peer: `{PEER_GAME}`, turn-based, "
        f"{results['histories_of_peer']:,} histories, because it ends before the forced round.\n",
        f"| {results['iterations']:,} iterations | seconds | times faster than the peer |",
        "| --- | ---: | ---: |",
    ]
    lines += [f"| {n} | {s:.3g} | {peer / s:.3g} |" for n, s in results["seconds"].items()]
    lines += [
        "",
        "| value solving | samples per second | largest gap (utility) |",
        "| --- | ---: | ---: |",
    ]
    for name, row in results["solving"].items():
        lines.append(f"| {name} | {row['samples_per_second']:,.0f} | {row['largest_gap']:.1e} |")
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(_THREADS.value)
    results = {
        "environment": describe_environment(),
        "threads": _THREADS.value,
        "rounds": _ROUNDS.value,
        "iterations": _ITERATIONS.value,
        **measure(),
    }
    common.publish(f"{_OUTPUT.value}/dl_cfr", results, report)


if __name__ == "__main__":
    app.run(main)
