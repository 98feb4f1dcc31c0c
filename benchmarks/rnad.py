"""R-NaD's learner steps per second, and how much of a step is self-play.

A learner step plays a batch of games and learns from them. There is no peer: OpenSpiel has removed
its R-NaD. Every figure is the median over rounds. Writes rnad.json and rnad.md to --output.

  python benchmarks/rnad.py --output=results/benchmarks --threads=1
"""

import statistics
import time
from collections.abc import Sequence
from typing import Any

import common
import torch
from absl import app, flags

from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.io import reports
from spiel_dl.io.run_directory import describe_environment

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_ROUNDS = flags.DEFINE_integer("rounds", 5, "Rounds per figure.", lower_bound=1)
_SECONDS = flags.DEFINE_float("seconds", 2.0, "Least seconds per figure and round.")
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
_BATCH_SIZE = flags.DEFINE_integer("batch_size", 64, "Games per learner step.", lower_bound=1)
_HIDDEN = flags.DEFINE_multi_integer("hidden_size", [128, 128], "Units of the hidden layers.")
_THREADS = flags.DEFINE_integer("threads", 1, "Threads of torch.", lower_bound=1)

_GOOFSPIEL_5 = "python_goofspiel_ii(num_cards=5,points_order=descending)"
# The game, and the histories up to which it is compiled and played by tables.
GAMES = {
    "leduc": ("leduc_poker", 200_000),
    "goofspiel 5": (_GOOFSPIEL_5, 200_000),
    "goofspiel 5, by its rules": (_GOOFSPIEL_5, 0),
    "goofspiel 8": ("python_goofspiel_ii(num_cards=8,points_order=descending)", 0),
}


def measure(game: str, max_tree_histories: int) -> dict[str, Any]:
    """Learner steps per second, and the share of their time that is self-play."""
    solver = RNaDSolver(
        game,
        RNaDConfig(
            batch_size=_BATCH_SIZE.value,
            hidden_sizes=tuple(_HIDDEN.value),
            max_tree_histories=max_tree_histories,
        ),
        _DEVICE.value,
    )
    rounds = [
        (common.seconds_per_call(synchronised(solver.step), _SECONDS.value),
         common.seconds_per_call(synchronised(solver.play), _SECONDS.value))
        for _ in range(_ROUNDS.value)
    ]  # fmt: skip
    return {
        "game": str(solver.game),
        "steps_per_second": statistics.median(1 / step for step, _ in rounds),
        "self_play_share": statistics.median(played / step for step, played in rounds),
    }


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
        "| game | learner steps/s | share of self-play |",
        "|---|---:|---:|",
    ]
    for name, result in results["games"].items():
        share = f"{100 * result['self_play_share']:.0f}%"
        lines.append(f"| {name} | {result['steps_per_second']:,.0f} | {share} |")
    lines += ["\nThe games:\n", *(f"- {n}: `{r['game']}`" for n, r in results["games"].items())]
    return "\n".join([*lines, ""])


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    del argv
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
