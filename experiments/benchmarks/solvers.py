"""CFR+ iterations and NashConv beside OpenSpiel's C++ and LiteEFG, and compile times, in one run.

Every figure is the median over rounds; in each round they run one after the other, and ratios
are taken within a round. One thread each.

  python experiments/benchmarks/solvers.py --output=results/benchmarks
"""

import contextlib
import functools
import importlib.metadata
import io
import os
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
        functions: dict[str, Callable[[], object]] = {
            common.OURS: lambda: exploitability.nash_conv(self.solver.tree, policy),
            "OpenSpiel C++": lambda: pyspiel.nash_conv(self.game, tabular),
            "LiteEFG": lambda: self.environment.exploitability(strategy, "avg-iterate"),
        }
        return {name: common.repeat(function) for name, function in functions.items()}

    def _iterate_liteefg(self) -> None:
        self.graph.update_graph(self.environment)
        self.environment.update_strategy(self.graph.current_strategy())


def compare(
    game: str, implementations: dict[str, Callable[[int], object]], rounds: int, seconds: float
) -> dict[str, Any]:
    """A row of microseconds and of ratios to ours."""
    microseconds, ratios = common.compare(implementations, rounds, seconds)
    return {"game": game, **{f"{n}, µs": each for n, each in microseconds.items()}, **ratios}


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
        made = [
            common.timed(functools.partial(GameTree.from_game, game_string)) for _ in range(rounds)
        ]
        median = common.medians([seconds for _, seconds in made])["seconds"]
        compiled.append({"game": name, "histories": made[0][0].num_histories, "seconds": median})
    tables = {
        "One CFR+ iteration: both players updated, average accumulated": iterations,
        "NashConv of a tabular policy": nash_convs,
        "From game string to arrays": compiled,
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
