"""What the benchmarks share: timing in interleaved rounds, and reports."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from spiel_dl.io import tensor_files
from spiel_dl.io.run_directory import write_json

OURS = "spiel_dl"


def seconds_per_call(function: Callable[[int], object], least_seconds: float) -> float:
    """Seconds per iteration of `function(iterations)`, run long enough to be measured."""
    iterations = 1
    while True:
        start = time.perf_counter()
        function(iterations)
        elapsed = time.perf_counter() - start
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
    contestants: Mapping[str, Callable[[int], object]], rounds: int, least_seconds: float
) -> dict[str, Any]:
    """Median microseconds of each contestant, and median ratios to ours.

    Args:
      contestants: functions of the number of iterations; one of them is `OURS`.
      rounds: in each round the contestants run one after the other; ratios are taken within it.
      least_seconds: how long each runs in a round at least.
    """
    seconds = [
        {name: seconds_per_call(f, least_seconds) for name, f in contestants.items()}
        for _ in range(rounds)
    ]
    return {
        "microseconds": {n: 1e6 * statistics.median(r[n] for r in seconds) for n in contestants},
        "ratio": {
            name: statistics.median(r[name] / r[OURS] for r in seconds) for name in contestants
        },
    }


def describe_run(environment: dict[str, Any]) -> str:
    """The line of a report that says what was run, when, and on which code."""
    command, started = environment["command"], environment["started"]
    return f"`{command}`, {started}, commit {environment['git_commit']}\n"


def describe_machine(environment: dict[str, Any], used: str) -> str:
    """Processor, platform and versions; `used` says what of the machine was used."""
    versions = ", ".join(f"{n} {v}" for n, v in environment["versions"].items() if v)
    return (
        f"{environment['processor']}, {environment['cores']} cores, {used}; "
        f"{environment['platform']}; Python {environment['python']}; {versions}"
    )


def write_report(path: str, results: dict[str, Any], report: str) -> None:
    """Writes the results to `path`.json and the report to `path`.md."""
    write_json(f"{path}.json", results)
    with tensor_files.atomic_path(f"{path}.md") as temporary:
        temporary.write_text(report, encoding="utf-8")
