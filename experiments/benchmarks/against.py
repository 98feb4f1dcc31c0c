"""Times the hot paths here and in another checkout of this project, in pairs.

  python experiments/benchmarks/against.py --other=OTHER/.venv/bin/python \\
      --output=results/benchmarks

Each round measures all paths here and there, one process after the other, and within a process
takes the fastest of several stretches. Ratios are of the fastest rounds: other work on the machine
only ever adds time. The other checkout's own packages are used with this file.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import common
import numpy as np
import pyspiel

from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.config import RNaDConfig
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.play.presets import PRESETS
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.runs.reports import Report, Table
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.value_functions import ExactValue
from spiel_dl.value_functions.positional import PositionalNetwork

GOOFSPIEL_5 = common.GOOFSPIEL.format(5)
_STRETCHES = 10
_SECONDS = 0.2
Work = Callable[[int], object]
"""Does so many units of work."""


def _dl_cfr() -> Work:
    tree, limit = GameTree.from_game(GOOFSPIEL_5), DepthLimit(rounds=3)
    network = PositionalNetwork(5, 400)
    network.initialize(cut(tree, limit).leaves)
    return DLCFRSolver(tree, network, limit).run


def _value_solving() -> Work:
    leaves = cut(GameTree.from_game(GOOFSPIEL_5), DepthLimit(rounds=3)).leaves
    values = ExactValue(tolerance=0.01).bind(leaves)
    generator = np.random.default_rng(0)
    ranges = [generator.random(leaves.num_infosets(player)) for player in (0, 1)]
    return common.repeat(lambda: values.evaluate(*ranges))


def _sepot() -> Work:
    tree = GameTree.from_game(GOOFSPIEL_5)
    blueprint = ArrayPolicy.uniform(tree)
    named = transformations_by_name("paper", tree.game)
    critic = ExactCritic(tree, blueprint.strategies, named)
    config = SearchConfig(effort=Effort(200))
    state = tree.game.new_initial_state()
    for action in (4, 3):
        state.apply_action(action)

    def search() -> None:
        policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1), config=config)
        policy.action_probabilities(state)

    return common.repeat(search)


def _rnad(game: str, max_tree_histories: int, transformations: str | None = None) -> Work:
    config = RNaDConfig(
        batch_size=64, hidden_sizes=(128, 128), max_tree_histories=max_tree_histories
    )
    named = transformations and transformations_by_name(transformations, pyspiel.load_game(game))
    return common.repeat(RNaDSolver(game, config, transformations=named).step)


PATHS: dict[str, Callable[[], Work]] = {
    "CFR+ iteration, leduc_poker": lambda: CFRPlusSolver("leduc_poker").run,
    "CFR+ iteration, goofspiel 5": lambda: CFRPlusSolver(GOOFSPIEL_5).run,
    "DL-CFR+ iteration, goofspiel 5, 3 rounds, 5 layers of 400": _dl_cfr,
    "value solving, goofspiel 5, 3 rounds, gap 0.01": _value_solving,
    "SePoT search, goofspiel 5, 1 round, 200 iterations": _sepot,
    "R-NaD step, goofspiel 5, compiled": functools.partial(_rnad, GOOFSPIEL_5, 200_000),
    "R-NaD step, goofspiel 5, by the rules": functools.partial(_rnad, GOOFSPIEL_5, 0),
    "R-NaD and critic, goofspiel 5, compiled": functools.partial(
        _rnad, GOOFSPIEL_5, 200_000, "paper"
    ),
    "R-NaD and critic, battleships 5x5": functools.partial(
        _rnad, PRESETS["battleships_5x5"].game, 0, "paper"
    ),
}


def _fastest(work: Work) -> float:
    """Microseconds of one unit of work, of the fastest stretch."""
    work(2)  # compiles
    return 1e6 * min(common.seconds_per_call(work, _SECONDS) for _ in range(_STRETCHES))


def measure(*, other: str, rounds: int = 5) -> Report:
    """Measures in pairs.

    Args:
      other: the Python of the other checkout's environment, which lies in it.
      rounds: pairs of processes.
    """
    times: dict[str, list[dict[str, float]]] = {sys.executable: [], other: []}
    for number in range(rounds):
        for python in list(times)[:: 1 if number % 2 == 0 else -1]:
            output = common.by_python(python, "import against; against.print_times()")
            times[python].append(json.loads(output))
    rows = []
    for name in PATHS:
        here, there = (min(each[name] for each in times[side]) for side in (sys.executable, other))
        rows.append(
            {"path": name, "here, µs": here, "other, µs": there, "here / other": here / there}
        )
    command = ["git", "-C", str(Path(other).parents[2]), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return Report(
        "Hot paths beside another commit",
        [
            "In each round both checkouts run, one process after the other; the fastest of "
            f"{rounds} rounds counts. The other checkout is of commit {commit}."
        ],
        {"Times": Table.of(rows)},
        more={"rounds": list(times.values())},
    )


def print_times() -> None:
    """Prints the times that one process measures."""
    print(json.dumps({name: _fastest(make()) for name, make in PATHS.items()}))


if __name__ == "__main__":
    common.run(measure)
