"""How fast the hot paths are beside another checkout of this project, in pairs.

  python benchmarks/against.py --other=OTHER/.venv/bin/python --output=results/benchmarks

Each round measures all paths here and there, one process after the other, and within a process
takes the fastest of several stretches. Ratios are of the fastest rounds: other work on the machine
only ever adds time. The other checkout may be one of the first house; `_first_house` speaks to it.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from absl import app, flags

_OTHER = flags.DEFINE_string("other", None, "The Python of the other checkout's environment.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Pairs of processes.", lower_bound=1)
_OUTPUT = flags.DEFINE_string("output", None, "Write OUTPUT/against.json and OUTPUT/against.md.")
_MEASURE = flags.DEFINE_bool("measure", False, "Only measure this checkout, and print it as JSON.")

GOOFSPIEL_5 = "python_goofspiel_ii(num_cards=5,points_order=descending)"
_STRETCHES = 10
_SECONDS = 0.2


def _fastest(work: Callable[[int], object]) -> float:
    """Seconds of one unit of work, of the fastest stretch."""
    work(2)  # compiles
    count = 1
    while True:
        start = time.perf_counter()
        work(count)
        seconds = time.perf_counter() - start
        if seconds > _SECONDS / 4:
            break
        count *= 2
    count = max(1, round(count * _SECONDS / seconds))
    best = seconds
    for _ in range(_STRETCHES):
        start = time.perf_counter()
        work(count)
        best = min(best, (time.perf_counter() - start) / count)
    return best


def _first_house() -> bool:
    return importlib.util.find_spec("spiel_dl.policies") is None


def _cfr(game: str) -> Callable[[int], object]:
    from spiel_dl.algorithms.cfr import CFRPlusSolver

    solver = CFRPlusSolver(game)
    return solver.run


def _dl_cfr() -> Callable[[int], object]:
    from spiel_dl.algorithms.dl_cfr import DLCFRSolver
    from spiel_dl.tree import DepthLimit, GameTree, cut
    from spiel_dl.value_functions.positional import PositionalNetwork

    tree, limit = GameTree.from_game(GOOFSPIEL_5), DepthLimit(rounds=3)
    network = PositionalNetwork(5, 400)
    if _first_house():
        return DLCFRSolver(tree, limit, network).run  # type: ignore[arg-type]
    network.initialize(cut(tree, limit).leaves)
    return DLCFRSolver(tree, network, limit).run


def _value_solving() -> Callable[[int], object]:
    from spiel_dl.tree import DepthLimit, GameTree, cut
    from spiel_dl.value_functions import ExactValue

    leaves = cut(GameTree.from_game(GOOFSPIEL_5), DepthLimit(rounds=3)).leaves
    function: Any = ExactValue(tolerance=0.01)
    bound = function.bind(leaves)
    values = function if bound is None else bound
    generator = np.random.default_rng(0)
    ranges = [generator.random(leaves.num_infosets(player)) for player in (0, 1)]

    def work(count: int) -> None:
        for _ in range(count):
            values.evaluate(*ranges)

    return work


def _sepot() -> Callable[[int], object]:
    from spiel_dl.algorithms import sepot
    from spiel_dl.learning import transformations
    from spiel_dl.learning.critics import ExactCritic
    from spiel_dl.tree import DepthLimit, GameTree

    tree = GameTree.from_game(GOOFSPIEL_5)
    strategies = tuple(treeplex.uniform_strategy() for treeplex in tree.treeplexes)
    if _first_house():
        from spiel_dl.algorithms.array_policy import ArrayPolicy  # type: ignore[import-not-found]

        config = sepot.SearchConfig.as_printed(effort=sepot.SearchEffort(200))  # type: ignore[attr-defined]
    else:
        from spiel_dl.policies.array_policy import ArrayPolicy
        from spiel_dl.solvers.effort import Effort

        config = sepot.SearchConfig.as_printed(effort=Effort(200))
    blueprint = ArrayPolicy(tree, strategies)
    named = transformations.transformations_by_name("paper", tree.game)
    critic = ExactCritic(tree, strategies, named)
    state = tree.game.new_initial_state()
    for action in (4, 3):
        state.apply_action(action)

    def work(count: int) -> None:
        for _ in range(count):
            search = sepot.SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1), config=config)
            search.action_probabilities(state)

    return work


def _rnad(game: str, **settings: Any) -> Callable[[int], object]:
    from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver

    config = RNaDConfig(batch_size=64, hidden_sizes=(128, 128), **settings)
    learner = RNaDSolver(game, config)

    def work(count: int) -> None:
        for _ in range(count):
            learner.step()

    return work


PATHS: dict[str, Callable[[], Callable[[int], object]]] = {
    "CFR+ iteration, leduc_poker": lambda: _cfr("leduc_poker"),
    "CFR+ iteration, goofspiel 5": lambda: _cfr(GOOFSPIEL_5),
    "DL-CFR+ iteration, goofspiel 5, 3 rounds, 5 layers of 400": _dl_cfr,
    "value solving, goofspiel 5, 3 rounds, gap 0.01": _value_solving,
    "SePoT search, goofspiel 5, 1 round, 200 iterations": _sepot,
    "R-NaD step, goofspiel 5, compiled": lambda: _rnad(GOOFSPIEL_5),
    "R-NaD step, python_leduc, by the rules": lambda: _rnad("python_leduc", max_tree_histories=0),
}


def _measure() -> dict[str, float]:
    import torch

    torch.set_num_threads(1)
    return {name: _fastest(make()) for name, make in PATHS.items()}


def main(argv: Sequence[str]) -> None:
    """Measures in pairs, and prints a table."""
    del argv
    if _MEASURE.value:
        print(json.dumps(_measure()))
        return
    # The first house has no such modules.
    from spiel_dl.runs import reports
    from spiel_dl.runs.run_directory import describe_environment

    if not _OTHER.value:
        raise app.UsageError("pass --other, the Python of another checkout's environment")
    environment = describe_environment()
    rounds: dict[str, list[dict[str, float]]] = {"here": [], "there": []}
    for number in range(_ROUNDS.value):
        pair = [("here", sys.executable), ("there", _OTHER.value)]
        for side, python in pair if number % 2 == 0 else pair[::-1]:
            found = subprocess.run(
                [python, __file__, "--measure"], check=True, capture_output=True, text=True
            )
            rounds[side].append(json.loads(found.stdout))
    rows = []
    for name in PATHS:
        here, there = (min(each[name] for each in rounds[side]) for side in ("here", "there"))
        ratio = here / there
        rows.append({"path": name, "here": 1e6 * here, "there": 1e6 * there, "ratio": ratio})
    table = reports.Table(
        rows, {"path": "path", "here": "here, µs", "there": "other, µs", "ratio": "here / other"}
    )
    print(table.to_markdown())
    if _OUTPUT.value:
        notes = [
            "One core. In each round both checkouts run, one process after the other; the fastest "
            f"of {_ROUNDS.value} rounds counts. The other checkout is of commit {_commit_there()}."
        ]
        report = reports.Report(
            "Hot paths beside another commit", notes, {"Times": table}, more={"rounds": rounds}
        )
        used = "one process at a time, with one thread"
        reports.write(report, f"{_OUTPUT.value}/against", environment, used=used)


def _commit_there() -> str:
    """The commit of the other checkout, whose environment lies in it."""
    folder = Path(_OTHER.value).parents[2]
    command = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    app.run(main)
