"""Trains a value network on the ranges that DL-CFR+ asks of it, round by round.

Example:
  python run/generate_data.py --game="python_goofspiel_ii(num_cards=4,points_order=descending)" \\
      --rounds=2 --run_dir=runs/data/goofspiel_4
  python run/train_on_policy.py --data=runs/data/goofspiel_4 --run_dir=runs/on_policy/goofspiel_4
"""

import sys
from collections.abc import Sequence

import on_policy_flags
from absl import app, flags

from spiel_dl.jobs.dl_cfr_run import METRIC
from spiel_dl.jobs.on_policy import ON_POLICY, OnPolicyConfig, train_on_policy
from spiel_dl.runs.run_directory import RunDirectory
from spiel_dl.value_functions.dataset import Dataset
from spiel_dl.value_functions.positional import PositionalNetwork
from spiel_dl.value_functions.training import NETWORK_FILE

_DEFAULT = OnPolicyConfig()
_DATA = flags.DEFINE_string(
    "data", None, "Directory of random data, which run/generate_data.py made.", required=True
)
_RUN_DIR = flags.DEFINE_string(
    "run_dir", None, "Run directory; the network goes there.", required=True
)
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations", _DEFAULT.num_iterations, "Iterations of DL-CFR+ per round.", lower_bound=1
)
_LAYERS = flags.DEFINE_integer("num_layers", 5, "Hidden layers.", lower_bound=1)
_UNITS = flags.DEFINE_integer("num_units", 400, "Units in each hidden layer.", lower_bound=1)
_SEED = flags.DEFINE_integer("seed", 0, "Seed of parameters and batches.", lower_bound=0)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
flags.adopt_module_key_flags(on_policy_flags)


def main(argv: Sequence[str]) -> None:
    """Trains, and says how well and where the network is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        config = on_policy_flags.config(_ITERATIONS.value).with_trainings(seed=_SEED.value)
        network = PositionalNetwork(
            _LAYERS.value, _UNITS.value, seed=_SEED.value, device=_DEVICE.value
        )
        network.initialize(Dataset.load(_DATA.value).trunk.leaves)
        identity = {"data": _DATA.value, "network": network.header(), **config.identity()}
        directory = RunDirectory(_RUN_DIR.value, identity, resume=_RESUME.value)
        lines = train_on_policy(network, _DATA.value, directory, config)
    except ValueError as error:
        sys.exit(f"error: {error}")
    print("round    samples' strategies    L1 on policy    normalised trunk exploitability")
    for line in lines:
        # Nothing has been asked of the network before the first round on policy.
        error = f"{line[f'{ON_POLICY}l1']:.3e}" if f"{ON_POLICY}l1" in line else "-"
        print(f"{line['round']:<9}{line['num_strategies']:<23,}{error:<16}{line[METRIC]:.3e}")
    print(f"network  {directory.path / NETWORK_FILE}")


if __name__ == "__main__":
    app.run(main)
