"""Environment steps per second beside OpenSpiel's C++ games stepped from Python, in one run.

A step is one player's action, chosen at random among the legal ones, with all chance events due
after it; then both players' information state tensors are read. Ours steps a batch of games at
once, OpenSpiel one game. Ratios are of one thread each; with more threads, ours is measured beside.

  python experiments/benchmarks/environments.py --output=results/benchmarks
"""

import functools
import random
from typing import Any

import common
import pyspiel
import torch
from open_spiel.python import observation

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.runs.reports import Report, Table

PEER = "OpenSpiel C++"
GAMES = {
    "goofspiel 13, random order": (
        "python_goofspiel_ii(num_cards=13,points_order=random)",
        "goofspiel(imp_info=True,num_cards=13,points_order=random)",
    ),
    "battleships 5x5, ships 3, 2, 2": common.battleships(5, (3, 2, 2)),
}


class Batch:
    """Our environments; a run of n iterations makes n steps in every game of the batch."""

    def __init__(self, game_string: str, batch_size: int, device: str):
        rules = pyspiel.load_game(game_string).rules
        self._environment = BatchedEnvironment(rules, batch_size, device)
        self._tensors = [self._environment.information_state_tensor(p) for p in (0, 1)]
        self.run(1)  # the first step makes tables and memory ready

    def run(self, iterations: int, threads: int = 1) -> None:
        """Makes steps, with so many of torch's threads."""
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        for _ in range(iterations):
            self._environment.step(self._environment.sample_random_actions())
            for player, out in enumerate(self._tensors):
                self._environment.information_state_tensor(player, out=out)
        if self._tensors[0].is_cuda:
            torch.cuda.synchronize()
        torch.set_num_threads(before)


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


def measure(
    *, rounds: int = 5, seconds: float = 1.0, batch_size: int = 4096, device: str = "cpu"
) -> Report:
    """Median steps per second of both, and the median of their ratios.

    Args:
      rounds: per figure.
      seconds: at least, of each implementation in a round.
      batch_size: games stepped at once.
      device: of our environments, such as cuda.
    """
    rows: list[dict[str, Any]] = []
    threads = torch.get_num_threads()
    for name, (ours, theirs) in GAMES.items():
        # An iteration of ours is a step in each game of the batch.
        batch, single = Batch(ours, batch_size, device), Single(theirs)
        implementations = {
            common.OURS: batch.run,
            PEER: lambda iterations, single=single: single.run(iterations * batch_size),
        }
        if threads > 1:
            several = functools.partial(batch.run, threads=threads)
            implementations[f"{common.OURS}, {threads} threads"] = several
        microseconds, ratios = common.compare(implementations, rounds, seconds)
        speeds = {f"{n}, steps/s": 1e6 * batch_size / each for n, each in microseconds.items()}
        rows.append({"game": name, **speeds, "times faster": ratios[f"{PEER} / {common.OURS}"]})
    strings = [
        f"- {whose}: `{string}`"
        for pair in GAMES.values()
        for whose, string in zip((common.OURS, PEER), pair, strict=True)
    ]
    return Report(
        "Environments beside OpenSpiel's games",
        [
            f"Device of ours: {device}, {batch_size:,} games at once; OpenSpiel: one game, "
            "stepped from Python. Both have one thread where no other number is said. Random legal "
            "actions; a step is one player's action, chance included, after which both players' "
            "information state tensors are read. Where both players move at once in OpenSpiel's "
            f"game, that is two steps and one reading. Medians of {rounds} rounds; ratios within a "
            "round.",
            "The games:\n\n" + "\n".join(strings),
        ],
        {"Random play": Table.of(rows)},
    )


if __name__ == "__main__":
    common.run(measure, threads=2)
