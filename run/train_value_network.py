"""Trains a value network on data that run/generate_data.py made.

Example:
  python run/train_value_network.py --data=runs/data/goofspiel_5 --run_dir=runs/network/goofspiel_5
"""

import sys
from collections.abc import Sequence

from absl import app, flags

from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.value_functions import training
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.validation import ERROR_TITLES, UNNORMALISED

_DEFAULT = training.TrainingConfig()
_DATA = flags.DEFINE_string(
    "data", None, "Directory of the dataset, which run/generate_data.py made.", required=True
)
_RUN_DIR = flags.DEFINE_string(
    "run_dir", None, "Run directory; the network goes there.", required=True
)
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")
_NETWORK = flags.DEFINE_string(
    "network", None, "File of a network to start from. Default: a new one."
)
_LAYERS = flags.DEFINE_integer("num_layers", 5, "Hidden layers of a new network.", lower_bound=1)
_UNITS = flags.DEFINE_integer(
    "num_units", 400, "Units in each hidden layer of a new network.", lower_bound=1
)
_EPOCHS = flags.DEFINE_integer(
    "num_epochs", _DEFAULT.num_epochs, "Passes over the data.", lower_bound=1
)
_BATCH = flags.DEFINE_integer(
    "batch_size", _DEFAULT.batch_size, "Samples in a step of Adam.", lower_bound=1
)
_RATE = flags.DEFINE_float("learning_rate", _DEFAULT.learning_rate, "Adam's at the first step.")
_FINAL_RATE = flags.DEFINE_float(
    "final_learning_rate", _DEFAULT.final_learning_rate, "Adam's at the last step."
)
_LOSS = flags.DEFINE_enum("loss", _DEFAULT.loss, training.LOSSES, "What is minimised.")
_SHARE = flags.DEFINE_float(
    "validation_share",
    _DEFAULT.validation_share,
    "Share of the trunk strategies set apart to measure errors on.",
)
_MAX_STRATEGIES = flags.DEFINE_integer(
    "max_strategies", None, "Trunk strategies to train on. Default: all that are not set apart."
)
_LEFT_OUT = flags.DEFINE_multi_integer(
    "left_out_state", [], "A leaf public state to leave out of training; may be repeated."
)
_KEPT = flags.DEFINE_integer(
    "networks_per_decade", _DEFAULT.networks_per_decade, "Networks kept per factor of 10 in steps."
)
_SEED = flags.DEFINE_integer("seed", 0, "Seed of parameters and batches.", lower_bound=0)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")


def main(argv: Sequence[str]) -> None:
    """Trains, and says how well and where the network is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        dataset = Dataset.load(_DATA.value)
        config = training.TrainingConfig(
            num_epochs=_EPOCHS.value,
            batch_size=_BATCH.value,
            learning_rate=_RATE.value,
            final_learning_rate=_FINAL_RATE.value,
            loss=_LOSS.value,
            validation_share=_SHARE.value,
            seed=_SEED.value,
            max_strategies=_MAX_STRATEGIES.value,
            left_out_states=tuple(_LEFT_OUT.value),
            networks_per_decade=_KEPT.value,
        )
        if _NETWORK.value:
            network = PositionalNetwork.load(_NETWORK.value, _DEVICE.value)
        else:
            network = PositionalNetwork(
                _LAYERS.value, _UNITS.value, seed=_SEED.value, device=_DEVICE.value
            )
        network.initialize(dataset.trunk.leaves)
        directory = RunDirectory(
            _RUN_DIR.value,
            {
                "data": _DATA.value,
                "num_strategies": dataset.num_strategies,
                "started_from": _NETWORK.value,
                "network": network.header(),
                "training": config.to_json(),
            },
            resume=_RESUME.value,
        )
        last = training.train(network, dataset, directory, config)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"game                        {dataset.trunk.tree.game}")
    print(f"depth limit                 {dataset.trunk.depth_limit}")
    print(f"samples, validation's too   {dataset.num_samples:,}")
    print(f"steps                       {last['step']:,}")
    print("validation errors           at ranges of sum 1    unnormalised")
    for name, title in ERROR_TITLES.items():
        error, unnormalised = last[name], last[UNNORMALISED + name]
        print(f"  {title:<25} {error:<21.3e} {unnormalised:.3e}")
    print(f"network                     {directory.path / training.NETWORK_FILE}")


if __name__ == "__main__":
    app.run(main)
