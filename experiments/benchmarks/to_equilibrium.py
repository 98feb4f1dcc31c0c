"""How long `dl.solve` takes to an equilibrium of 1e-9, by variant, beside a linear program.

Each variant has the best of some rounds, in which they run one after the other; a variant that
does not come there in the time it is given has no time. The game's string is compiled each time,
and compiled loops are loaded before.

  python experiments/benchmarks/to_equilibrium.py --output=results/benchmarks
"""

import time
from collections.abc import Sequence
from typing import Any

import common

import spiel_dl as dl
from spiel_dl.algorithms.solve import DEFAULT_VARIANT
from spiel_dl.runs.reports import Report, Table

GAME = "leduc_poker"
EXPLOITABILITY = 1e-9
BOUND = 2.0
VARIANTS = ("hs-pcfr+(30)", "pcfr+(5)", "pdcfr+", "pcfr+", "dcfr+")


def by_variant(name: str, seconds: float) -> dict[str, Any]:
    """A row of one run."""
    start = time.process_time()
    policy = dl.solve(GAME, seconds=seconds, exploitability=EXPLOITABILITY, variant=name)
    processor = time.process_time() - start
    return {
        "variant": name,
        "iterations": policy.iterations,
        "iterate": policy.iterate,
        "exploitability": policy.exploitability,
        "processor": processor,
        "wall": policy.seconds,
    }


def by_linear_program() -> dict[str, Any]:
    """The same of HiGHS."""
    start, begin = time.process_time(), time.perf_counter()
    _, _, policy, _ = dl.solve_lp(GAME)
    times = {"processor": time.process_time() - start, "wall": time.perf_counter() - begin}
    found = dl.exploitability(GAME, policy)
    return {"variant": "linear program", "iterate": "exact", "exploitability": found, **times}


def measure(*, rounds: int = 3, seconds: float = 10.0) -> Report:
    """Measures.

    Args:
      rounds: how often everything is run; the fastest of each counts.
      seconds: of the wall clock, what each variant is given.
    """
    for name in VARIANTS:
        dl.solve(GAME, seconds=0.01, variant=name)
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for row in [*(by_variant(name, seconds) for name in VARIANTS), by_linear_program()]:
            found.setdefault(row["variant"], []).append(row)
    best = [min(rows, key=lambda row: row["processor"]) for rows in found.values()]
    return Report(
        f"To an exploitability of {EXPLOITABILITY:g} in {GAME}",
        [
            f"The fastest of {rounds} rounds each. Seconds of the processor, and of the wall clock "
            "on a machine that may have done other things as well; compiling the game included, "
            f"loading compiled loops not. Variants had {seconds:g} s of the wall clock; who did "
            f"not come to {EXPLOITABILITY:g} in them has that exploitability.",
            f"`dl.solve` takes {DEFAULT_VARIANT} if nothing else is said.",
        ],
        {
            "Time": Table.of(best, processor="seconds (processor)", wall="seconds (wall clock)"),
        },
        verdict=_verdict(best, seconds),
    )


def _verdict(best: Sequence[dict[str, Any]], seconds: float) -> str:
    """Whether a variant comes to an equilibrium within the bound."""
    reached = [
        row
        for row in best
        if row["variant"] in VARIANTS and row["exploitability"] <= EXPLOITABILITY
    ]
    if not reached:
        return f"not met: no variant comes to {EXPLOITABILITY:g} in {seconds:g} s."
    fastest = min(reached, key=lambda row: row["processor"])
    verdict = "met" if fastest["processor"] < BOUND else "not met"
    return (
        f"{verdict}: {fastest['variant']} comes to {fastest['exploitability']:.2g} in "
        f"{fastest['processor']:.2f} s of the processor; the bound was {BOUND:g} s."
    )


if __name__ == "__main__":
    common.run(measure)
