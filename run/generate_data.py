"""Makes training data for value functions: ranges of random trunk strategies, and their values.

Example:
  python run/generate_data.py --rounds=3 --shards=40 --num_workers=2 \\
      --run_dir=runs/data/goofspiel_5 \\
      --game="python_goofspiel_ii(num_cards=5,points_order=descending)"
"""

from spiel_dl.commands import config_flags, script
from spiel_dl.system.parameters import Positive
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.value_functions import generation
from spiel_dl.value_functions.dataset import Dataset, DatasetConfig

_DATA = config_flags.define(
    DatasetConfig,
    leave_out=["depth_limit"],
    defaults={"game": "leduc_poker"},
    texts={"game": "OpenSpiel game string, with parameters."},
)
_LIMIT = script.depth_limit()
_WORKERS = script.workers()
_RUN = script.run_directory(is_required=True)


def main(*, shards: Positive = 10) -> None:
    """Computes the missing shards, and prints the dataset's size.

    Args:
      shards: total number of files.
    """
    game = str(load_turn_based(_DATA.values["game"]))
    config = _DATA.build(game=game, depth_limit=_LIMIT.build())
    engine = _WORKERS.build()
    generation.check(config)
    directory = _RUN.build("", config.to_json())
    generation.generate(directory, config, shards, engine=engine)
    dataset = Dataset.load(directory.path)
    print(f"game               {config.game}")
    print(f"depth limit        {config.depth_limit}")
    print(f"trunk strategies   {dataset.num_strategies:,}")
    print(f"samples            {dataset.num_samples:,}")
    print(f"largest gap        {dataset.gaps.max():.1e}")
    print(f"dataset            {directory.path}")


if __name__ == "__main__":
    script.run(main)
