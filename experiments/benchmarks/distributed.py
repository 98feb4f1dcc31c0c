"""Data generation by one worker and by two: in other processes, and on a local Ray cluster.

Goofspiel with 5 cards, the last round played out, cut after 3 rounds. Times include the start of
the workers, and of Ray; all files are compared.

  python experiments/benchmarks/distributed.py --output=results/benchmarks
"""

import tempfile
from pathlib import Path
from typing import Any

import common

from spiel_dl.runs.reports import Report, Table
from spiel_dl.system.distributed import IN_PROCESS, Engine, LocalProcesses, Ray
from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.generation import generate

DEPTH_LIMIT = DepthLimit(rounds=3)
CREWS = {"processes": LocalProcesses, "Ray": Ray}
ALONE = "in process"


def make(engine: Engine, num_shards: int, shard_size: int) -> tuple[dict[str, bytes], float]:
    """The files of a dataset, and the seconds that it takes."""
    config = DatasetConfig(common.PAPERS_GOOFSPIEL, DEPTH_LIMIT, shard_size=shard_size)
    with tempfile.TemporaryDirectory() as folder:
        directory = RunDirectory(Path(folder) / "data", config.to_json())
        _, took = common.timed(
            lambda: generate(directory, config, num_shards, engine=engine, show_progress=False)
        )
        files = {path.name: path.read_bytes() for path in directory.path.glob("*.safetensors")}
        return files, took["seconds"]


def measure(*, shards: int = 40, shard_size: int = 100, rounds: int = 3) -> Report:
    """Medians over rounds, in which everything runs one after the other.

    Args:
      shards: files of data.
      shard_size: trunk strategies per file.
      rounds: per figure.
    """
    engines: dict[str, Engine] = {ALONE: IN_PROCESS}
    for name, crew in CREWS.items():
        engines |= {f"{name}, {number}": crew(number) for number in (1, 2)}
    make(IN_PROCESS, 1, shard_size)
    found, differing = [], set()
    for _ in range(rounds):
        made = {name: make(engine, shards, shard_size) for name, engine in engines.items()}
        differing |= {name for name, (files, _) in made.items() if files != made[ALONE][0]}
        seconds = {name: took for name, (_, took) in made.items()}
        ratios = {name: seconds[f"{name}, 1"] / seconds[f"{name}, 2"] for name in CREWS}
        found.append({**seconds, **ratios})
    median = common.medians(found)
    rows: list[dict[str, Any]] = [
        {
            "engine": name,
            "1": median[f"{name}, 1"],
            "2": median[f"{name}, 2"],
            "ratio": median[name],
        }
        for name in CREWS
    ]
    rows.append({"engine": ALONE, "1": median[ALONE]})
    titles = {"1": "seconds, 1 worker", "2": "seconds, 2 workers", "ratio": "speed-up"}
    return Report(
        "Data generation by one worker and by two",
        [
            f"Workers have one thread each. Medians over {rounds} rounds.",
            f"`{common.PAPERS_GOOFSPIEL}`, depth limit {DEPTH_LIMIT}: {shards} files of "
            f"{shard_size} trunk strategies. Seconds include the start of the workers. Engines "
            f"whose files differ from those made in process: "
            f"{', '.join(sorted(differing)) or 'none'}.",
        ],
        {"Times": Table.of(rows, **titles)},
    )


if __name__ == "__main__":
    common.run(measure)
