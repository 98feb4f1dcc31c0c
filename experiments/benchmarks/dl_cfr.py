"""Value solving and DL-CFR+ with a network, beside OpenSpiel's C++ CFR+ on the whole game.

Goofspiel with 5 cards, the last round played out, cut after 3 rounds: 27 leaf public states. One
sample is a leaf public state with both players' counterfactual values. The peer has one thread, and
its Goofspiel has no forced round, so its game has about half as many histories: both are reported,
and DL-CFR+ is measured with one thread too.

  python experiments/benchmarks/dl_cfr.py --output=results/benchmarks
"""

import concurrent.futures
import functools
from collections.abc import Callable

import common
import pyspiel
import torch

from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.generation import random_ranges, solve_ranges
from spiel_dl.value_functions.positional import PositionalNetwork

GAME = common.PAPERS_GOOFSPIEL
DEPTH_LIMIT = DepthLimit(rounds=3)
PEER_GAME = "goofspiel(num_cards=5,imp_info=True,points_order=descending)"
PEER = "OpenSpiel C++ CFR+, whole game, threads: 1"
# The first tolerance is not to be reached, so that all iterations are done.
SOLVING = {
    "1000 iterations": 1e-300,
    "until gaps are at most 1e-4": 1e-4,
    "until gaps are at most 1e-3": 1e-3,
}


def solve(tree: GameTree, tolerance: float, strategies: int, threads: int) -> dict[str, float]:
    """Samples per second of value solving with at most 1000 iterations, and the largest gap."""
    trunk = cut(tree, DEPTH_LIMIT)
    config = DatasetConfig(GAME, DEPTH_LIMIT, tolerance=tolerance)
    ranges = random_ranges(trunk, config, range(strategies))

    def gap(first: int) -> float:
        rows = (ranges[0][first::threads], ranges[1][first::threads])
        return float(solve_ranges(trunk.leaves, rows, config)["gap"].max())

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        gaps, took = common.timed(lambda: list(pool.map(gap, range(threads))))
    samples = strategies * trunk.leaves.num_public_states
    return {"samples per second": samples / took["seconds"], "largest gap (utility)": max(gaps)}


def dl_cfr_seconds(tree: GameTree, iterations: int, *, alternating: bool, threads: int) -> float:
    """Of DL-CFR+ with an untrained network of 5 layers of 400 units."""
    torch.set_num_threads(threads)
    network = PositionalNetwork(5, 400)
    network.initialize(cut(tree, DEPTH_LIMIT).leaves)
    solver = DLCFRSolver(tree, network, DEPTH_LIMIT, alternating_updates=alternating)
    solver.run(10)
    return common.timed(lambda: solver.run(iterations))[1]["seconds"]


def peer_seconds(iterations: int) -> float:
    """Of OpenSpiel's C++ CFR+ on the whole game; a tenth of the iterations are made."""
    game = pyspiel.convert_to_turn_based(pyspiel.load_game(PEER_GAME))
    tenth = max(1, iterations // 10)
    run = common.repeat(pyspiel.CFRPlusSolver(game).evaluate_and_update_policy)
    return common.timed(lambda: run(tenth))[1]["seconds"] / tenth * iterations


def measure(*, strategies: int = 40, iterations: int = 1000, rounds: int = 3) -> Report:
    """Medians over rounds, in which everything runs one after the other.

    Args:
      strategies: trunk strategies to solve.
      iterations: of DL-CFR+.
      rounds: per figure.
    """
    tree, threads = GameTree.from_game(GAME), torch.get_num_threads()
    ways: dict[str, Callable[[], float]] = {
        f"DL-CFR+, {updates} updates, threads: {number}": functools.partial(
            dl_cfr_seconds, tree, iterations, alternating=is_alternating, threads=number
        )
        for updates, is_alternating in (("simultaneous", False), ("alternating", True))
        for number in sorted({1, threads})
    }
    ways[PEER] = functools.partial(peer_seconds, iterations)
    solve(tree, 1e-1, 2, 1)
    found = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
    seconds = common.medians(found)
    solving = [
        {"value solving": name}
        | common.medians([solve(tree, gap, strategies, threads) for _ in range(rounds)])
        for name, gap in SOLVING.items()
    ]
    return Report(
        "DL-CFR+ with a network, and value solving",
        [
            f"Medians over {rounds} rounds.",
            f"Ours: `{GAME}`, {tree.num_histories:,} histories, depth limit {DEPTH_LIMIT}; 5 "
            f"layers of 400 units; value solving with {threads} threads. The peer: `{PEER_GAME}`, "
            f"turn-based, {GameTree.from_game(PEER_GAME).num_histories:,} histories, because it "
            "ends before the forced round.",
        ],
        {
            f"{iterations:,} iterations": Table.of(
                [
                    {"solver": n, "seconds": s, "times faster than the peer": seconds[PEER] / s}
                    for n, s in seconds.items()
                ]
            ),
            "Value solving": Table.of(solving),
        },
    )


if __name__ == "__main__":
    common.run(measure, threads=2)
