"""Learner steps per second of R-NaD and MMD beside kubicon/rlg, a JAX library, in one run.

A learner step plays a batch of games and descends once. In every round ours, by the compiled tree
where it fits and by the rules, and the peer take turns on the same core; ratios are taken within a
round, figures are medians over rounds. What counts is the processor's time, of all threads: other
work on the machine adds little to it. Run it on one core; `rlg_peer.py` says what environment the
peer needs.

  taskset -c 0 python experiments/benchmarks/learners.py --peer_python=peer/bin/python --peer=rlg
"""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import common

from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.config import LearnerConfig
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs.reports import Report, Table

_BATCH_SIZE, _HIDDEN_SIZES = 64, (128, 128)
_WARM_UP = 3  # steps; loops are compiled in the first ones
_COMPILED, _PLAIN, _RULES, _RLG = "compiled", "compiled, plain", "by the rules", "rlg"


class Game(NamedTuple):
    """A game.

    Attributes:
      name: ours.
      environment: what rlg's configurations say of it. In its goofspiel bids are hidden and the
        last round is played out; its Leduc is `leduc_poker` with ranks in place of suits.
      is_compiled: whether its tree is small enough for learners to compile it.
    """

    name: str
    environment: dict[str, Any]
    is_compiled: bool


def _battleships(side: int, ships: list[int], is_compiled: bool = False) -> Game:
    sizes = ";".join(map(str, ships))
    name = f"python_battleships(board_width={side},board_height={side},ship_sizes=[{sizes}])"
    rlg = {"name": "battleship", "board_size": side, "ship_lengths": ships}
    return Game(name, {**rlg, "reward_type": "binary"}, is_compiled)


def _goofspiel(num_cards: int, is_compiled: bool = False) -> Game:
    rlg = {"name": "goofspiel", "n_cards": num_cards, "prize_order": "descending"}
    name = common.GOOFSPIEL.format(num_cards)
    return Game(name, {**rlg, "reward_type": "binary"}, is_compiled)


GAMES = {
    "goofspiel 5": _goofspiel(5, is_compiled=True),
    "goofspiel 8": _goofspiel(8),
    "goofspiel 13": _goofspiel(13),
    "leduc": Game("python_leduc", {"name": "leduc", "reward_type": "difference"}, True),
    "battleships 2x2": _battleships(2, [2], is_compiled=True),
    "battleships 3x3": _battleships(3, [2]),
    "battleships 5x5": _battleships(5, [3, 2]),
}
NOTES = [
    "One batch of games and one step of Adam per learner step; steps per second of processor "
    "time, all threads counted. A ratio says how many learner steps ours does in the time of one "
    "of rlg's.",
    "What rlg does otherwise: its networks have one more layer, of 128 units without activation, "
    "before the heads, and normalise after each hidden layer; both players act at every step of "
    "its Leduc, and its games go on, masked, to their greatest length. In its battleships both "
    "shoot at once, and ships may not touch; two on 3x3 do not always have room, hence one. Its "
    "goofspiel plays the forced last round. Its R-NaD has the regularisation in the loss, not in "
    "the rewards. Action values of histories, a second network, which it does not have, are "
    "learned by ours in compiled games, as by default, and left out in the plain ones and in those "
    "played by rules.",
]


LEARNERS: dict[str, tuple[type[SelfPlayLearner], dict[str, Any]]] = {
    "rnad": (RNaDSolver, {}),
    "mmd": (MMDSolver, {"num_epochs": 1}),
}
"""Ours, and what they are told besides: one step of Adam per batch, as rlg's public experiments."""


@contextlib.contextmanager
def started(
    peer_python: str, rlg: str, settings: dict[str, Any]
) -> Iterator[Callable[[float], float]]:
    """Starts `rlg_peer.py`, which says "ready" once it is compiled, and ends it.

    Args:
      peer_python: a Python that has jax.
      rlg: a clone of it.
      settings: what the peer is told.

    Returns:
      A context with a function from the least seconds to the seconds per step.
    """
    script = str(Path(__file__).with_name("rlg_peer.py"))
    command = [peer_python, script, str(Path(rlg).resolve()), json.dumps(settings)]
    variables = {
        **common.environment_of_peers(),
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    }
    with subprocess.Popen(
        command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def answer() -> str:
            line = stdout.readline()
            if not line:
                raise SystemExit(f"the peer has ended: {' '.join(command)}")
            return line

        def seconds_per_step(least_seconds: float) -> float:
            print(least_seconds, file=stdin, flush=True)
            return float(answer())

        while answer().strip() != "ready":
            pass  # what the peer says besides
        yield seconds_per_step
        stdin.close()


def figures_of(
    solvers: Mapping[str, SelfPlayLearner],
    *,
    rounds: int,
    seconds: float,
    peer: contextlib.AbstractContextManager[Callable[[float], float] | None],
) -> dict[str, float]:
    """Medians of steps per second, ours and the peer's, and of the ratios of ours to the peer's."""
    for solver in solvers.values():
        solver.run(_WARM_UP)
    found = []
    with peer as seconds_of_peer:
        for _ in range(rounds):
            times = {
                form: common.seconds_per_call(
                    common.repeat(solver.step), seconds, time.process_time
                )
                for form, solver in solvers.items()
            }
            if seconds_of_peer is not None:
                times[_RLG] = seconds_of_peer(seconds)
            figures = {f"{form}, steps/s": 1 / each for form, each in times.items()}
            if _RLG in times:
                figures |= {f"{form} / {_RLG}": times[_RLG] / times[form] for form in solvers}
            found.append(figures)
    return common.medians(found)


def solvers_of(learner: str, game: Game) -> dict[str, SelfPlayLearner]:
    """The learners of a game, by how they play it and what they learn."""
    solver, own = LEARNERS[learner]
    limit = LearnerConfig.max_tree_histories
    forms = {_COMPILED: (limit, True), _PLAIN: (limit, False)} if game.is_compiled else {}
    found = {}
    for form, (most, has_values) in {**forms, _RULES: (0, False)}.items():
        told = {"max_tree_histories": most, "history_values": has_values}
        sizes = {"batch_size": _BATCH_SIZE, "hidden_sizes": _HIDDEN_SIZES}
        found[form] = solver(game.name, solver.default_config(**sizes, **own, **told))
    return found


def measure(
    *,
    rounds: int = 3,
    seconds: float = 1.0,
    games: tuple[str, ...] = tuple(GAMES),
    peer_python: str | None = None,
    peer: str | None = None,
) -> Report:
    """Learner steps per second, and the peer's.

    Args:
      rounds: per figure.
      seconds: of the processor, at least, per figure and round.
      games: which of the games.
      peer_python: a Python that has jax. Default, or empty: no peer.
      peer: a clone of rlg.
    """
    if len(os.sched_getaffinity(0)) > 1:
        raise ValueError("pin it to one core: taskset -c 0 python .../learners.py")
    common.check_peer(peer_python, peer)
    common.check_games(games, list(GAMES))
    rows: list[dict[str, Any]] = []
    for name in games:
        for learner in LEARNERS:
            theirs: Any = contextlib.nullcontext()
            if peer_python and peer:
                asked = {"env": GAMES[name].environment, "loss_type": learner}
                asked |= {"batch_size": _BATCH_SIZE, "hidden": _HIDDEN_SIZES}
                theirs = started(peer_python, peer, asked)
            solvers = solvers_of(learner, GAMES[name])
            found = figures_of(solvers, rounds=rounds, seconds=seconds, peer=theirs)
            rows.append({"learner": learner, "game": name, **found})
            print(rows[-1], flush=True)
    # Games that are not compiled do not have all the entries.
    forms = (_COMPILED, _PLAIN, _RULES, _RLG)
    names = [f"{form}, steps/s" for form in forms] + [f"{form} / {_RLG}" for form in forms]
    strings = [f"- {name}: `{GAMES[name].name}`, `{GAMES[name].environment}`" for name in games]
    return Report(
        "R-NaD and MMD beside a JAX library",
        [
            *NOTES,
            f"Pinned to one core. {_BATCH_SIZE} games per learner step, hidden layers "
            f"{list(_HIDDEN_SIZES)}. Medians of {rounds} rounds.",
            "The games, ours and rlg's:\n\n" + "\n".join(strings),
        ],
        {
            "Learner steps per second": Table(
                rows, {name: name for name in ("learner", "game", *names)}
            )
        },
    )


if __name__ == "__main__":
    common.run(measure)
