"""Trains a value network on the ranges at which DL-CFR+ evaluates it, round by round.

Example:
  python run/generate_data.py --game="python_goofspiel_ii(num_cards=4,points_order=descending)" \\
      --rounds=2 --run_dir=runs/data/goofspiel_4
  python run/train_on_policy.py --data=runs/data/goofspiel_4 --run_dir=runs/on_policy/goofspiel_4
"""

from pathlib import Path

from spiel_dl.commands import config_flags, script
from spiel_dl.commands.value_networks import NewNetwork
from spiel_dl.runs.dl_cfr_run import METRIC
from spiel_dl.value_functions.config import OnPolicyConfig
from spiel_dl.value_functions.dataset import Dataset

_ROUNDS = config_flags.define(
    OnPolicyConfig,
    leave_out=["seed"],
    names={"num_iterations": "iterations"},
)
_NETWORK = config_flags.define(NewNetwork)
_RUN = script.run_directory(is_required=True)


def main(*, data: str) -> None:
    """Trains the network, and prints its errors and path.

    Args:
      data: directory of random data from run/generate_data.py.
    """
    from spiel_dl.runs.on_policy import ON_POLICY, train_on_policy  # Imports torch.
    from spiel_dl.value_functions import training

    config = _ROUNDS.build(seed=_NETWORK.values["seed"])
    network = _NETWORK.build().make()
    dataset = Dataset.load(data)
    training.check(network, dataset, config.training_of(0))
    network.initialize(dataset.trunk.leaves)
    identity = {"data": str(Path(data)), "num_strategies": dataset.num_strategies}
    identity |= {"network": network.header(), **config.to_json()}
    directory = _RUN.build("", identity)
    lines = train_on_policy(network, data, directory, config)
    print("round    samples' strategies    L1 on policy    normalised trunk exploitability")
    for line in lines:
        error = f"{line[f'{ON_POLICY}l1']:.3e}"
        print(f"{line['round']:<9}{line['num_strategies']:<23,}{error:<16}{line[METRIC]:.3e}")
    print(f"network  {directory.path / training.NETWORK_FILE}")


if __name__ == "__main__":
    script.run(main)
