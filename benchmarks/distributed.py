"""Data generation by one worker and by two: in other processes, and on a local Ray cluster.

Goofspiel with 5 cards, the last round played out, cut after 3 rounds. Times include the start of
the workers, and of Ray; all files are compared. Writes distributed.json and distributed.md to
--output.

  python benchmarks/distributed.py --output=results/benchmarks
"""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
from absl import app, flags

from spiel_dl.runs import reports
from spiel_dl.runs.distributed import IN_PROCESS, Engine, LocalProcesses, Ray
from spiel_dl.runs.run_directory import RunDirectory, describe_environment
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.generation import generate

_OUTPUT = flags.DEFINE_string("output", "results/benchmarks", "Where the results go.")
_SHARDS = flags.DEFINE_integer("shards", 40, "Files of data.", lower_bound=2)
_SHARD_SIZE = flags.DEFINE_integer("shard_size", 100, "Trunk strategies per file.", lower_bound=1)
_ROUNDS = flags.DEFINE_integer("rounds", 3, "Rounds per figure.", lower_bound=1)

# The first domain of Kovařík et al. (2021), Table 2.
GAME = "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=true)"
DEPTH_LIMIT = DepthLimit(rounds=3)
CREWS = {"processes": LocalProcesses, "Ray": Ray}
ALONE = "in process"


def make(engine: Engine, num_shards: int) -> tuple[float, dict[str, bytes]]:
    """Seconds that a dataset takes, and its files."""
    config = DatasetConfig(GAME, DEPTH_LIMIT, shard_size=_SHARD_SIZE.value)
    with tempfile.TemporaryDirectory() as folder:
        directory = RunDirectory(Path(folder) / "data", config.to_json())
        start = time.perf_counter()
        generate(directory, config, num_shards, engine=engine, show_progress=False)
        seconds = time.perf_counter() - start
        return seconds, {p.name: p.read_bytes() for p in directory.path.glob("*.safetensors")}


def measure() -> dict[str, Any]:
    """All figures: medians over rounds, in which everything runs one after the other."""
    engines: dict[str, Engine] = {ALONE: IN_PROCESS}
    for name, crew in CREWS.items():
        engines |= {f"{name}, 1": crew(1), f"{name}, 2": crew(2)}
    make(IN_PROCESS, 1)
    rounds, differing = [], set()
    for _ in range(_ROUNDS.value):
        made = {name: make(engine, _SHARDS.value) for name, engine in engines.items()}
        rounds.append({name: seconds for name, (seconds, _) in made.items()})
        differing |= {name for name, (_, files) in made.items() if files != made[ALONE][1]}
    return {
        "seconds": {name: statistics.median(r[name] for r in rounds) for name in engines},
        "speed_up": {
            name: statistics.median(r[f"{name}, 1"] / r[f"{name}, 2"] for r in rounds)
            for name in CREWS
        },
        "differing": sorted(differing),
    }


def report(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    environment, seconds = results["environment"], results["seconds"]
    differing = ", ".join(results["differing"]) or "none"
    lines = [
        "# Data generation by one worker and by two\n",
        reports.describe_run(environment),
        f"{reports.describe_machine(environment, 'one thread per worker')}. Medians over "
        f"{results['rounds']} rounds.\n",
        f"`{GAME}`, depth limit {DEPTH_LIMIT}: {results['shards']} files of "
        f"{results['shard_size']} trunk strategies. Seconds include the start of the workers. "
        f"Engines whose files differ from those made in process: {differing}.\n",
        "| engine | seconds, 1 worker | seconds, 2 workers | speed-up |",
        "| --- | ---: | ---: | ---: |",
        f"| {ALONE} | {seconds[ALONE]:.3g} | | |",
    ]
    lines += [
        f"| {name} | {seconds[f'{name}, 1']:.3g} | {seconds[f'{name}, 2']:.3g} "
        f"| {results['speed_up'][name]:.2f} |"
        for name in CREWS
    ]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str]) -> None:
    """Measures and writes the report."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    results = {
        "environment": describe_environment(),
        "rounds": _ROUNDS.value,
        "shards": _SHARDS.value,
        "shard_size": _SHARD_SIZE.value,
        **measure(),
    }
    common.publish(f"{_OUTPUT.value}/distributed", results, report)


if __name__ == "__main__":
    app.run(main)
