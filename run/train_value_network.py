"""Trains a value network on data from run/generate_data.py.

Example:
  python run/train_value_network.py --data=runs/data/goofspiel_5 --run_dir=runs/network/goofspiel_5
"""

from pathlib import Path

from spiel_dl.commands import config_flags, script
from spiel_dl.commands.value_networks import NewNetwork
from spiel_dl.value_functions.config import LOSSES, TrainingConfig
from spiel_dl.value_functions.dataset import Dataset

_TRAINING = config_flags.define(
    TrainingConfig,
    leave_out=["mass_share", "epochs_per_validation"],
    names={"left_out_states": "left_out_state"},
    choices={"loss": LOSSES},
    texts={
        "loss": "loss to minimise.",
        "max_strategies": "strategies to train on. Default: all that are not for validation.",
        "left_out_states": "leaf public states to leave out of training.",
        "seed": "seed of parameters and batches.",
    },
)
_NETWORK = config_flags.define(NewNetwork)
_RUN = script.run_directory(is_required=True)


def main(*, data: str, network: str | None = None) -> None:
    """Trains the network, and prints its errors and path.

    Args:
      data: directory of the dataset from run/generate_data.py.
      network: file of a network to start from. Default: a new one.
    """
    from spiel_dl.value_functions import training  # Imports torch, which --help does not need.
    from spiel_dl.value_functions.positional import PositionalNetwork
    from spiel_dl.value_functions.validation import ERROR_TITLES, UNNORMALISED

    dataset = Dataset.load(data)
    config = _TRAINING.build()
    if network:
        _NETWORK.refuse("of a new network; leave --network out, or them", but=["device", "seed"])
        value_network = PositionalNetwork.load(network, device=_NETWORK.values["device"])
    else:
        value_network = _NETWORK.build().make()
    training.check(value_network, dataset, config)
    identity = {
        "data": str(Path(data)),  # Without a slash at the end.
        "num_strategies": dataset.num_strategies,
        "started_from": network,
        "network": value_network.header(),
        "training": config.to_json(),
    }
    directory = _RUN.build("", identity)
    last = training.train(value_network, dataset, directory, config)
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
    script.run(main)
