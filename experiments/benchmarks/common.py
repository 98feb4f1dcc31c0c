"""Flags, timing in interleaved rounds, processes and reports of the benchmarks.

A benchmark is a function of its settings that returns a report; it is started by `run`.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch

from spiel_dl.commands import config_flags, script
from spiel_dl.runs import reports
from spiel_dl.system.environment import describe_environment

T = TypeVar("T")
OURS = "spiel_dl"
GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"


def run(
    measure: Callable[..., reports.Report], *, threads: int = 1, used: str | None = None
) -> None:
    """Starts a benchmark: its keyword arguments become flags; its report is written and printed.

    Args:
      measure: the benchmark; the docstring of its module describes it.
      threads: torch threads by default; `torch.get_num_threads` returns them.
      used: the used part of the machine, if other programs did the work; None: torch's threads.
    """
    benchmark = config_flags.define(measure)

    def main(*, threads: int, output: str = "runs/benchmarks") -> None:
        """Measures, and writes the report.

        Args:
          threads: of torch, and of what is told to use as many.
          output: where the report goes; results/benchmarks has those of commits.
        """
        torch.set_num_threads(threads)
        environment, start = describe_environment(), time.perf_counter()
        path = reports.write(
            benchmark.build(),
            Path(output) / Path(sys.argv[0]).stem,
            environment,
            seconds=time.perf_counter() - start,
            used=used or f"{threads} thread{'s' if threads > 1 else ''}",
        )
        print(path.read_text(encoding="utf-8"))

    script.run(main, defaults={"threads": threads})


def by_python(python: str, program: str) -> str:
    """The output of a program, run with the benchmarks' folder by the Python of any checkout.

    Torch has as many threads as here.
    """
    program = f"import torch; torch.set_num_threads({torch.get_num_threads()})\n{program}"
    command, folder = [str(Path(python).absolute()), "-c", program], Path(__file__).parent
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder)
    return done.stdout


def in_process(function: Callable[..., T], *arguments: Any) -> T:
    """Runs a function in a process of its own, so that its peak memory is its own."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(function, *arguments).result()


@contextlib.contextmanager
def serving(command: Sequence[str], **options: Any) -> Iterator[str]:
    """A context with a running server of policies, by the page's address.

    Args:
      command: the server's command.
      **options: options of `subprocess.Popen`.

    Raises:
      ValueError: if the server does not print the page's address.
    """
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    try:
        assert server.stdout is not None
        address = re.search(r"http://[\d.]+:\d+", server.stdout.readline())
        if address is None:
            raise ValueError(f"{' '.join(command)} did not say where the page is")
        yield address[0]
    finally:
        server.terminate()
        server.wait()


def environment_of_peers(*left_out: str) -> dict[str, str]:
    """Our environment variables without PYTHONPATH and without some others."""
    return {name: v for name, v in os.environ.items() if name not in ("PYTHONPATH", *left_out)}


def check_peer(peer_python: str | None, peer: str | None) -> None:
    """Raises a ValueError if a peer's Python is given without its clone, or the other way round."""
    if bool(peer_python) != bool(peer):
        raise ValueError(f"peer_python={peer_python} and peer={peer}; pass both, or neither")


def check_games(games: Sequence[str], known: Sequence[str]) -> None:
    """Raises a ValueError if some games are unknown."""
    if unknown := set(games) - set(known):
        raise ValueError(f"games={sorted(unknown)} are unknown; use some of {list(known)}")


def peak_gigabytes() -> float:
    """The peak memory of this process, in gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def seconds_of_children() -> float:
    """Processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(function: Callable[[], T]) -> tuple[T, dict[str, float]]:
    """A function's result, its wall-clock `seconds`, and `processor` seconds of all threads.

    A process that waits for others has fewer processor seconds.
    """
    start, processor_start = time.perf_counter(), time.process_time()
    result = function()
    wall, processor = time.perf_counter() - start, time.process_time() - processor_start
    return result, {"seconds": wall, "processor": processor}


def medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The median of every figure over the rounds."""
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def seconds_per_call(
    function: Callable[[int], object],
    least_seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds per iteration of `function(iterations)`, run long enough to be measured.

    One iteration, which may compile and fill caches, comes before and is not counted.
    """
    function(1)
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

    def run_often(times: int) -> None:
        for _ in range(times):
            function()

    return run_often


def compare(
    implementations: Mapping[str, Callable[[int], object]], rounds: int, least_seconds: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Median microseconds of each implementation, and median ratios of the others' to ours.

    Args:
      implementations: functions of the number of iterations; one of them is `OURS`.
      rounds: in each round the implementations run one after the other; ratios are taken within
        it, so that a machine whose speed drifts does not favour anybody.
      least_seconds: how long each runs in a round at least.
    """
    microseconds = [
        {name: 1e6 * seconds_per_call(f, least_seconds) for name, f in implementations.items()}
        for _ in range(rounds)
    ]
    ratios = [{f"{n} / {OURS}": r[n] / r[OURS] for n in r if n != OURS} for r in microseconds]
    return medians(microseconds), medians(ratios)
