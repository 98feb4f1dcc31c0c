"""Small datasets that several tests make."""

import dataclasses

from spiel_dl.system.run_directory import RunDirectory
from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import generate

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"
KUHN = DatasetConfig("kuhn_poker", DepthLimit(moves=1), shard_size=3)
CONFIGS = [
    dataclasses.replace(KUHN, tolerance=1e-6, max_iterations=20_000),
    DatasetConfig(
        GOOFSPIEL_4, DepthLimit(rounds=1), shard_size=3, tolerance=5e-5, max_iterations=20_000
    ),
]


def make(directory, config, num_shards=1):
    """A dataset, and the bytes of its shards."""
    run = RunDirectory(directory, config.to_json(), resume=True)
    generate(run, config, num_shards, show_progress=False)
    return Dataset.load(directory), shards(directory)


def shards(directory):
    return {path.name: path.read_bytes() for path in directory.glob("*.safetensors")}
