"""Makes training data for value functions: random trunk strategies and the values they lead to.

Example:
  python run/generate_data.py --rounds=3 --shards=40 --num_workers=2 \\
      --run_dir=runs/data/goofspiel_5 \\
      --game="python_goofspiel_ii(num_cards=5,points_order=descending)"
"""

import sys
from collections.abc import Sequence

import depth_limit_flags
from absl import app, flags

from spiel_dl.runs import distributed
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig
from spiel_dl.value_functions.generation import generate

_GAME = flags.DEFINE_string("game", "leduc_poker", "OpenSpiel game string, with parameters.")
_limit = depth_limit_flags.define()
_SHARDS = flags.DEFINE_integer("shards", 10, "Files in all.", lower_bound=1)
_SHARD_SIZE = flags.DEFINE_integer("shard_size", 100, "Trunk strategies per file.", lower_bound=1)
_ITERATIONS = flags.DEFINE_integer(
    "max_iterations", 1000, "Iterations of predictive CFR+ in the subgames, at most.", lower_bound=1
)
_TOLERANCE = flags.DEFINE_float(
    "tolerance", 1e-4, "Stop earlier once no subgame's gap exceeds this many utility units."
)
_SEED = flags.DEFINE_integer("seed", 0, "Seed of the trunk strategies.", lower_bound=0)
_ENGINE = distributed.define_flags()
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Where the dataset goes.", required=True)
_RESUME = flags.DEFINE_bool("resume", False, "Go on with a dataset, or make it longer.")


def main(argv: Sequence[str]) -> None:
    """Makes what is missing, and says how much there is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        config = DatasetConfig(
            game=str(load_turn_based(_GAME.value)),
            depth_limit=_limit(),
            seed=_SEED.value,
            shard_size=_SHARD_SIZE.value,
            max_iterations=_ITERATIONS.value,
            tolerance=_TOLERANCE.value,
        )
        engine = _ENGINE()
        directory = RunDirectory(_RUN_DIR.value, config.to_json(), resume=_RESUME.value)
        generate(directory, config, _SHARDS.value, engine=engine)
        dataset = Dataset.load(directory.path)
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")
    print(f"game               {config.game}")
    print(f"depth limit        {config.depth_limit}")
    print(f"trunk strategies   {dataset.num_strategies:,}")
    print(f"samples            {dataset.num_samples:,}")
    print(f"largest gap        {dataset.gaps.max():.1e}")
    print(f"dataset            {directory.path}")


if __name__ == "__main__":
    app.run(main)
