"""Environment steps per second beside OpenSpiel's C++ games stepped from Python, in one run.

A step is one player's action, chosen at random among the legal ones, with all chance events due
after it; then both players' information state tensors are read. Ours steps a batch of games at
once, OpenSpiel one game. Every figure is the median over rounds; in each round they run one
after the other, and ratios are taken within a round, so that a machine whose speed drifts does
not favour anybody. Writes environments.json and environments.md to --output.

  python benchmarks/environments.py --output=results/benchmarks --threads=2
"""

import random
import time
from collections.abc import Sequence
from typing import Any

import common
import pyspiel
import torch
from absl import app, flags
from open_spiel.python import observation

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 1.0, "Least seconds per implementation and round.")
_DEVICE = flags.DEFINE_string("device", "cpu", "Device of our environments, such as cuda.")
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 4096, "Games stepped at once.", lower_bound=1)
_THREADS = flags.DEFINE_integer("threads", 2, "Threads of our environments.", lower_bound=1)

PEER = "OpenSpiel C++"
GAMES = {
    "goofspiel 13, random order": (
        "python_goofspiel_ii(num_cards=13,points_order=random)",
        "goofspiel(imp_info=True,num_cards=13,points_order=random)",
    ),
    "battleships 5x5, ships 3, 2, 2": (
        "python_battleships(board_width=5,board_height=5,ship_sizes=[3;2;2])",
        "battleship(board_width=5,board_height=5,ship_sizes=[3;2;2],ship_values=[1;1;1],"
        "num_shots=25,allow_repeated_shots=False,loss_multiplier=1.0)",
    ),
}


class Batch:
    """Our environments; a run of n iterations makes n steps in every game of the batch."""

    def __init__(self, game_string: str):
        self._environment = BatchedEnvironment(
            pyspiel.load_game(game_string).rules, _BATCH_SIZE.value, _DEVICE.value
        )
        self._tensors = self._environment.information_state_tensors()
        self.run(1)  # the first step makes tables and memory ready

    def run(self, iterations: int) -> None:
        """Makes steps."""
        for _ in range(iterations):
            self._environment.step(self._environment.sample_random_actions())
            self._environment.information_state_tensors(out=self._tensors)
        if self._tensors.is_cuda:
            torch.cuda.synchronize()


class Single:
    """One game of OpenSpiel; a run of n iterations makes n steps."""

    def __init__(self, game_string: str):
        self._game = pyspiel.load_game(game_string)
        self._random = random.Random(0)
        # Fills one array; many times as fast as state.information_state_tensor, which is a list.
        self._observer = observation.make_observation(
            self._game, pyspiel.IIGObservationType(perfect_recall=True)
        )
        self._state = self._game.new_initial_state()
        self._play_chance()

    def run(self, iterations: int) -> None:
        """Makes steps; where both players move at once, that is two of them."""
        steps = 0
        while steps < iterations:
            state = self._state
            if state.is_simultaneous_node():
                state.apply_actions([self._choose(state.legal_actions(p)) for p in (0, 1)])
                steps += 2
            else:
                state.apply_action(self._choose(state.legal_actions()))
                steps += 1
            if state.is_terminal():
                state.returns()
                self._state = self._game.new_initial_state()
            self._play_chance()
            self._observer.set_from(self._state, 0)
            self._observer.set_from(self._state, 1)

    def _choose(self, actions: list[int]) -> int:
        return self._random.choice(actions)

    def _play_chance(self) -> None:
        while self._state.is_chance_node():
            outcomes, probabilities = zip(*self._state.chance_outcomes(), strict=True)
            self._state.apply_action(self._random.choices(outcomes, probabilities)[0])


def measure(ours: str, theirs: str) -> dict[str, Any]:
    """Median steps per second of both, and the median of their ratios."""
    single = Single(theirs)

    def run_single(iterations: int) -> None:
        single.run(iterations * _BATCH_SIZE.value)  # one iteration of ours is a step in each game

    implementations = {common.OURS: Batch(ours).run, PEER: run_single}
    result = common.compare(implementations, _ROUNDS.value, _SECONDS.value)
    return {
        "games": {common.OURS: ours, PEER: theirs},
        "steps_per_second": {
            name: 1e6 * _BATCH_SIZE.value / microseconds
            for name, microseconds in result["microseconds"].items()
        },
        "ratio": result["ratio"][PEER],
    }


def report(results: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    machine = reports.describe_machine(results["environment"], f"{results['threads']} threads used")
    lines = [
        "# Environments beside OpenSpiel's games\n",
        reports.describe_run(results["environment"]),
        f"{machine}. Device of ours: {results['device']}, {results['batch_size']:,} games at once; "
        "OpenSpiel: one game, one thread, stepped from Python. Random legal actions; a step is one "
        "player's action, chance included, after which both players' information state tensors "
        "are read. Where both players move at once in OpenSpiel's game, that is two steps and one "
        f"reading. Medians of {results['rounds']} rounds; ratios within a round. Wall-clock of the "
        f"whole run: {results['seconds']:.0f} s.\n",
        f"| game | {common.OURS}, steps/s | {PEER}, steps/s | ours ÷ OpenSpiel |",
        "|---|---:|---:|---:|",
    ]
    for game, result in results["games"].items():
        speeds = " | ".join(f"{speed:,.0f}" for speed in result["steps_per_second"].values())
        lines.append(f"| {game} | {speeds} | {result['ratio']:,.1f} |")
    lines.append("\nThe games:\n")
    lines += [
        f"- {library}: `{string}`"
        for result in results["games"].values()
        for library, string in result["games"].items()
    ]
    return "\n".join([*lines, ""])


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    begin = time.perf_counter()
    torch.set_num_threads(_THREADS.value)
    results: dict[str, Any] = {
        "environment": describe_environment(),
        "device": _device_name(),
        "batch_size": _BATCH_SIZE.value,
        "threads": _THREADS.value,
        "rounds": _ROUNDS.value,
        "games": {name: measure(*strings) for name, strings in GAMES.items()},
    }
    results["seconds"] = time.perf_counter() - begin
    common.publish(f"{_OUTPUT.value}/environments", results, report)


def _device_name() -> str:
    device = torch.device(_DEVICE.value)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)


if __name__ == "__main__":
    app.run(main)
