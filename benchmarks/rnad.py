"""R-NaD's learner steps per second, and how much of a step is self-play.

A learner step plays a batch of games and learns from them. Every figure is the median over rounds.
Writes rnad.json and rnad.md to --output. The peer, OpenSpiel's R-NaD, was removed from OpenSpiel
and needs an environment of its own (see `openspiel_rnad.py`); its Python is given by --peer_python,
and it takes turns with ours in every round.

  python benchmarks/rnad.py --output=results/benchmarks --threads=1 --peer_python=peer/bin/python
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import common
import peer_process
import torch
from absl import app, flags

from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.runs import reports
from spiel_dl.runs.run_directory import describe_environment
from spiel_dl.tree import GameTree

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 2.0, "Least seconds per figure and round.")
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
_CUDA_GRAPH = flags.DEFINE_bool("cuda_graph", False, "On CUDA: a learner step as one graph.")
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 64, "Games per learner step.", lower_bound=1)
_HIDDEN = flags.DEFINE_multi_integer("hidden_size", [128, 128], "Units of the hidden layers.")
_THREADS = flags.DEFINE_integer("threads", 1, "Threads of torch.", lower_bound=1)
_PEER_PYTHON = flags.DEFINE_string(
    "peer_python", None, "A Python that has OpenSpiel's R-NaD. Default, or empty: no peer."
)

_GOOFSPIEL_5 = "python_goofspiel_ii(num_cards=5,points_order=descending)"
_PEER_GOOFSPIEL_5 = (
    "turn_based_simultaneous_game(game="
    "goofspiel(imp_info=true,num_cards=5,points_order=descending))"
)
# The game, the histories up to which it is compiled and played by tables, and the peer's game.
GAMES = {
    "leduc": ("leduc_poker", 200_000, "leduc_poker"),
    "goofspiel 5": (_GOOFSPIEL_5, 200_000, _PEER_GOOFSPIEL_5),
    "goofspiel 5, by its rules": (_GOOFSPIEL_5, 0, None),
    "goofspiel 8": ("python_goofspiel_ii(num_cards=8,points_order=descending)", 0, None),
}


def measure(game: str, max_tree_histories: int, peer_game: str | None) -> dict[str, Any]:
    """Learner steps per second, the share of their time that is self-play, and the peer's."""
    solver = RNaDSolver(
        game,
        RNaDConfig(
            batch_size=_BATCH_SIZE.value,
            hidden_sizes=tuple(_HIDDEN.value),
            max_tree_histories=max_tree_histories,
        ),
        device=_DEVICE.value,
        cuda_graph=_CUDA_GRAPH.value,
    )
    has_peer = peer_game is not None and bool(_PEER_PYTHON.value)
    with peer(peer_game) if has_peer else contextlib.nullcontext() as seconds_of_peer:
        rounds = [
            (
                common.seconds_per_call(synchronised(solver.step), _SECONDS.value),
                common.seconds_per_call(synchronised(solver.play), _SECONDS.value),
                seconds_of_peer(_SECONDS.value) if has_peer else None,
            )
            for _ in range(_ROUNDS.value)
        ]
    result = {
        "game": str(solver.game),
        "steps_per_second": statistics.median(1 / step for step, _, _ in rounds),
        "self_play_share": statistics.median(played / step for step, played, _ in rounds),
    }
    if has_peer:
        result["peer_steps_per_second"] = statistics.median(1 / theirs for *_, theirs in rounds)
        result["ratio"] = statistics.median(theirs / step for step, _, theirs in rounds)
    return result


def peer(game: str) -> contextlib.AbstractContextManager[Callable[[float], float]]:
    """The peer, started and compiled: from the least seconds to the seconds of a step."""
    command = [
        _PEER_PYTHON.value,
        str(Path(__file__).with_name("openspiel_rnad.py")),
        game,
        str(longest_play(game)),
        str(_BATCH_SIZE.value),
        *map(str, _HIDDEN.value),
    ]
    return peer_process.started(command, peer_process.own_variables())


def longest_play(game: str) -> int:
    """Moves in the longest play of a game, chance's not counted."""
    return int(GameTree.from_game(game).move_number.max())


def synchronised(function: Any) -> Any:
    """The function, so many times, and then waits for the device."""
    run = common.repeat(function)

    def run_and_wait(times: int) -> None:
        run(times)
        if torch.device(_DEVICE.value).type == "cuda":
            torch.cuda.synchronize()

    return run_and_wait


def report(results: dict[str, Any]) -> str:
    """The whole report in Markdown."""
    machine = reports.describe_machine(results["environment"], f"{results['threads']} threads used")
    lines = [
        "# R-NaD\n",
        reports.describe_run(results["environment"]),
        f"{machine}. Device: {results['device']}; {results['batch_size']} games per learner step, "
        f"hidden layers {results['hidden_sizes']}. Medians of {results['rounds']} rounds. "
        f"Wall-clock of the whole run: {results['seconds']:.0f} s.\n",
        "| game | learner steps/s | share of self-play | OpenSpiel's R-NaD | ratio |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, result in results["games"].items():
        share = f"{100 * result['self_play_share']:.0f}%"
        has_peer = "ratio" in result
        theirs = f"{result['peer_steps_per_second']:.2f}" if has_peer else ""
        ratio = f"{result['ratio']:,.0f}x" if has_peer else ""
        ours = f"{result['steps_per_second']:,.0f}"
        lines.append(f"| {name} | {ours} | {share} | {theirs} | {ratio} |")
    lines += ["\nThe games:\n", *(f"- {n}: `{r['game']}`" for n, r in results["games"].items())]
    return "\n".join([*lines, ""])


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    begin = time.perf_counter()
    torch.set_num_threads(_THREADS.value)
    results: dict[str, Any] = {
        "environment": describe_environment(),
        "device": _DEVICE.value,
        "batch_size": _BATCH_SIZE.value,
        "hidden_sizes": _HIDDEN.value,
        "threads": _THREADS.value,
        "rounds": _ROUNDS.value,
        "games": {name: measure(*settings) for name, settings in GAMES.items()},
    }
    results["seconds"] = time.perf_counter() - begin
    common.publish(f"{_OUTPUT.value}/rnad", results, report)


if __name__ == "__main__":
    app.run(main)
