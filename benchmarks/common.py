"""What the benchmarks share: timing in interleaved rounds, and reports."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from spiel_dl.runs import reports

OURS = "spiel_dl"


def seconds_per_call(
    function: Callable[[int], object],
    least_seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds per iteration of `function(iterations)`, run long enough to be measured."""
    iterations = 1
    while True:
        start = clock()
        function(iterations)
        elapsed = clock() - start
        if elapsed >= least_seconds:
            return elapsed / iterations
        iterations *= 2 if elapsed <= 0 else max(2, int(1.2 * least_seconds / elapsed))


def repeat(function: Callable[[], object]) -> Callable[[int], object]:
    """A function of the number of repetitions."""

    def run(times: int) -> None:
        for _ in range(times):
            function()

    return run


def compare(
    implementations: Mapping[str, Callable[[int], object]], rounds: int, least_seconds: float
) -> dict[str, Any]:
    """Median microseconds of each implementation, and median ratios to ours.

    Args:
      implementations: functions of the number of iterations; one of them is `OURS`.
      rounds: in each round the implementations run one after the other; ratios are taken within it.
      least_seconds: how long each runs in a round at least.
    """
    seconds = [
        {name: seconds_per_call(f, least_seconds) for name, f in implementations.items()}
        for _ in range(rounds)
    ]
    return {
        "microseconds": {
            n: 1e6 * statistics.median(r[n] for r in seconds) for n in implementations
        },
        "ratio": {
            name: statistics.median(r[name] / r[OURS] for r in seconds) for name in implementations
        },
    }


def publish(path: str, results: dict[str, Any], report: Callable[[dict[str, Any]], str]) -> None:
    """Writes results to `path`.json and what `report` makes of them to `path`.md, and prints it."""
    text = report(results)
    reports.write_report(path, results, text)
    print(text)
