"""Learner steps per second of R-NaD and MMD beside kubicon/rlg, a JAX library, in one run.

A learner step plays a batch of games and descends once. In every round ours, by the compiled tree
where it fits and by the rules, and the peer take turns on the same core; ratios are taken within a
round, figures are medians over rounds. What counts is the processor's time, of all threads: other
work on the machine adds little to it. Writes learners.json and learners.md to --output. Run it on
one core; `rlg_peer.py` says what environment the peer needs.

  taskset -c 0 python benchmarks/learners.py --peer_python=peer/bin/python --peer=rlg
"""

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import common
import peer_process
import rlg_games
import torch
from absl import app, flags

from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.learning.policy_gradient import PolicyGradientConfig
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 2.0, "Least seconds per figure and round.")
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 64, "Games per learner step.", lower_bound=1)
_HIDDEN = flags.DEFINE_multi_integer("hidden_size", [128, 128], "Units of the hidden layers.")
_PEER_PYTHON = flags.DEFINE_string("peer_python", None, "A Python that has jax. Default: no peer.")
_PEER = flags.DEFINE_string("peer", None, "A clone of rlg.")
_GAMES = flags.DEFINE_multi_string("game", [], "Names of the games to play; default: all.")

_WARM_UP = 3  # steps; loops are compiled in the first ones
_COMPILED, _RULES, _RLG = "compiled", "by the rules", "rlg"


class Game(NamedTuple):
    """A game.

    Attributes:
      name: ours.
      environment: rlg's name of it.
      is_compiled: whether its tree is small enough for learners to compile it.
    """

    name: str
    environment: rlg_games.Environment
    is_compiled: bool


def _battleships(side: int, ships: list[int], is_compiled: bool = False) -> Game:
    sizes = ";".join(map(str, ships))
    name = f"python_battleships(board_width={side},board_height={side},ship_sizes=[{sizes}])"
    return Game(name, rlg_games.battleships(side, ships), is_compiled)


def _goofspiel(num_cards: int, is_compiled: bool = False) -> Game:
    name = f"python_goofspiel_ii(num_cards={num_cards},points_order=descending)"
    return Game(name, rlg_games.goofspiel(num_cards), is_compiled)


GAMES = {
    "goofspiel 5": _goofspiel(5, is_compiled=True),
    "goofspiel 8": _goofspiel(8),
    "goofspiel 13": _goofspiel(13),
    "leduc": Game("python_leduc", rlg_games.LEDUC, True),
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
    "the rewards.",
]


def rnad(game: Game, max_tree_histories: int) -> SelfPlayLearner:
    """Our R-NaD."""
    config = RNaDConfig(
        batch_size=_BATCH_SIZE.value,
        hidden_sizes=tuple(_HIDDEN.value),
        max_tree_histories=max_tree_histories,
    )
    return RNaDSolver(game.name, config)


def mmd(game: Game, max_tree_histories: int) -> SelfPlayLearner:
    """Our MMD; one step of Adam per batch, as in rlg's public experiments."""
    config = PolicyGradientConfig(
        batch_size=_BATCH_SIZE.value,
        hidden_sizes=tuple(_HIDDEN.value),
        max_tree_histories=max_tree_histories,
        num_epochs=1,
    )
    return MMDSolver(game.name, config)


LEARNERS: dict[str, Callable[[Game, int], SelfPlayLearner]] = {"rnad": rnad, "mmd": mmd}


def measure(learner: str, game: Game) -> dict[str, Any]:
    """Steps per second of ours and of the peer, and ratios of ours to the peer's."""
    make = LEARNERS[learner]
    limits = {_COMPILED: PolicyGradientConfig.max_tree_histories} if game.is_compiled else {}
    solvers = {form: make(game, limit) for form, limit in {**limits, _RULES: 0}.items()}
    for solver in solvers.values():
        solver.run(_WARM_UP)
    with peer(learner, game) as seconds_of_peer:
        rounds = []
        for _ in range(_ROUNDS.value):
            seconds = {
                form: common.seconds_per_call(
                    common.repeat(solver.step), _SECONDS.value, time.process_time
                )
                for form, solver in solvers.items()
            }
            if seconds_of_peer is not None:
                seconds[_RLG] = seconds_of_peer(_SECONDS.value)
            rounds.append(seconds)
    result: dict[str, Any] = {
        form: statistics.median(1 / seconds[form] for seconds in rounds) for form in rounds[0]
    }
    for form in solvers if _RLG in rounds[0] else ():
        ratios = [seconds[_RLG] / seconds[form] for seconds in rounds]
        result[f"ratio, {form}"] = statistics.median(ratios)
        result[f"lowest ratio, {form}"] = min(ratios)
    return {**result, "seconds": rounds}


def peer(
    learner: str, game: Game
) -> contextlib.AbstractContextManager[Callable[[float], float] | None]:
    """The peer, started and compiled; without one, nothing."""
    if not _PEER_PYTHON.value:
        return contextlib.nullcontext()
    settings = {
        "env": game.environment,
        "loss_type": learner,
        "batch_size": _BATCH_SIZE.value,
        "hidden": _HIDDEN.value,
    }
    command = rlg_games.command(_PEER_PYTHON.value, _PEER.value, "time", settings)
    return peer_process.started(command, rlg_games.peer_variables())


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    if bool(_PEER_PYTHON.value) != bool(_PEER.value):
        raise app.UsageError("pass both --peer_python and --peer, or neither")
    if len(os.sched_getaffinity(0)) > 1:
        raise app.UsageError("pin it to one core: taskset -c 0 python benchmarks/learners.py ...")
    if unknown := set(_GAMES.value) - set(GAMES):
        raise app.UsageError(f"unknown games {sorted(unknown)}; use some of {list(GAMES)}")
    begin, environment = time.perf_counter(), describe_environment()
    torch.set_num_threads(1)
    rows = []
    for name in _GAMES.value or GAMES:
        for learner in LEARNERS:
            rows.append({"learner": learner, "game": name, **measure(learner, GAMES[name])})
            print({n: v for n, v in rows[-1].items() if n != "seconds"}, flush=True)
    titles = {
        "learner": "learner",
        "game": "game",
        _COMPILED: "compiled, steps/s",
        _RULES: "by the rules, steps/s",
        _RLG: "rlg, steps/s",
        f"ratio, {_COMPILED}": "compiled / rlg",
        f"ratio, {_RULES}": "by the rules / rlg",
    }
    games = {name: game._asdict() for name, game in GAMES.items()}
    strings = [f"{name}: `{game.name}`, rlg: `{game.environment}`" for name, game in GAMES.items()]
    report = reports.Report(
        "R-NaD and MMD beside a JAX library",
        [*NOTES, f"Medians of {_ROUNDS.value} rounds. The games: {'; '.join(strings)}."],
        {"Learner steps per second": reports.Table(rows, titles)},
        more={"games": games},
    )
    settings = {
        "batch_size": _BATCH_SIZE.value,
        "hidden_sizes": _HIDDEN.value,
        "rounds": _ROUNDS.value,
        "seconds": _SECONDS.value,
    }
    path = reports.write(
        report,
        f"{_OUTPUT.value}/learners",
        environment,
        settings=settings,
        seconds=time.perf_counter() - begin,
        used="pinned to one of them",
    )
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    app.run(main)
