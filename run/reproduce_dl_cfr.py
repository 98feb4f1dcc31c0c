"""Makes the figures and tables of the DL-CFR paper (Kovařík et al. 2021), with our numbers.

Example:
  python run/reproduce_dl_cfr.py --domain=goofspiel --experiment=all

The same on a game of one's own, in seconds:
  python run/reproduce_dl_cfr.py --game="python_goofspiel_ii(num_cards=3)" --rounds=1 --shards=2 \\
      --num_epochs=5 --num_units=32 --experiment=checkpoints --work_dir=runs/tiny \\
      --output_dir=runs/tiny/results
"""

import sys
from collections.abc import Sequence

import depth_limit_flags
import on_policy_flags
import script
import unused_flags
from absl import app, flags
from papers.dl_cfr.experiments import EXPERIMENTS, run_experiments
from papers.dl_cfr.study import DOMAINS, Choices, Study, StudyConfig

from spiel_dl.runs import distributed
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.value_functions.dataset import DatasetConfig
from spiel_dl.value_functions.training import LOSSES, TrainingConfig

_TRAINING = TrainingConfig()
_DATA = DatasetConfig("", DepthLimit(rounds=1))
_CHOICES = Choices()

_DOMAIN = flags.DEFINE_enum("domain", None, list(DOMAINS), "Game and depth limit of the paper.")
_GAME = flags.DEFINE_string(
    "game", None, "OpenSpiel game string, instead of a domain; with a depth limit."
)
_limit = depth_limit_flags.define("Depth limit of --game")
_EXPERIMENT = flags.DEFINE_enum("experiment", "all", [*EXPERIMENTS, "all"], "Which experiment.")
_WORK_DIR = flags.DEFINE_string(
    "work_dir", None, "Data and networks; what is there is reused. Default: runs/dl_cfr/DOMAIN."
)
_OUTPUT_DIR = flags.DEFINE_string(
    "output_dir", None, "Where reports go. Default: results/dl_cfr/DOMAIN."
)
_SEEDS = flags.DEFINE_multi_integer("seed", [0, 1], "Seed of a network; may be repeated.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations", 1000, "Iterations of DL-CFR+ and CFR+.", lower_bound=1
)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device of networks, such as cpu or cuda.")
_ENGINE = script.workers().build

_SHARDS = flags.DEFINE_integer("shards", 40, "Files of data.", lower_bound=1)
_SHARD_SIZE = flags.DEFINE_integer("shard_size", 100, "Trunk strategies per file.", lower_bound=1)
_DATA_ITERATIONS = flags.DEFINE_integer(
    "max_iterations", _DATA.max_iterations, "Iterations of CFR+ per trunk strategy.", lower_bound=1
)
_TOLERANCE = flags.DEFINE_float(
    "tolerance",
    _DATA.tolerance,
    "Stop earlier once no subgame's gap exceeds this many utility units.",
)
_DATA_SEED = flags.DEFINE_integer("data_seed", 0, "Seed of the trunk strategies.", lower_bound=0)

_LAYERS = flags.DEFINE_integer("num_layers", 5, "Hidden layers.", lower_bound=1)
_UNITS = flags.DEFINE_integer("num_units", 400, "Units in a hidden layer.", lower_bound=1)
_EPOCHS = flags.DEFINE_integer(
    "num_epochs", _TRAINING.num_epochs, "Passes over the data.", lower_bound=1
)
_BATCH = flags.DEFINE_integer(
    "batch_size", _TRAINING.batch_size, "Samples in a step of Adam.", lower_bound=1
)
_RATE = flags.DEFINE_float("learning_rate", _TRAINING.learning_rate, "Adam's at the first step.")
_FINAL_RATE = flags.DEFINE_float(
    "final_learning_rate", _TRAINING.final_learning_rate, "Adam's at the last step."
)
_LOSS = flags.DEFINE_enum("loss", _TRAINING.loss, LOSSES, "What is minimised.")
_KEPT = flags.DEFINE_integer("networks_per_decade", 8, "Networks kept per factor of 10 in steps.")

_EVERY = flags.DEFINE_integer("every_state", 1, "left_out: take every so-manyth public state.")
_AMOUNTS = flags.DEFINE_multi_integer(
    "amount", [], "amount: trunk strategies to train on; may be repeated."
)
_VARIED_LAYERS = flags.DEFINE_multi_integer(
    "layers", list(_CHOICES.layers), "size: hidden layers; may be repeated."
)
_VARIED_UNITS = flags.DEFINE_multi_integer(
    "units", list(_CHOICES.units), "size: units in a hidden layer; may be repeated."
)

_EXACT_TOLERANCE = flags.DEFINE_float(
    "exact_tolerance",
    _CHOICES.exact_tolerance,
    "exact: gap of the subgames that the optimal value function solves, in utility units.",
)
_EXACT_RESOLVING = flags.DEFINE_bool(
    "exact_resolving", True, "resolving: with the optimal value function too."
)
flags.adopt_module_key_flags(on_policy_flags)


def main(argv: Sequence[str]) -> None:
    """Runs the experiments, and says where their reports are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    if (_DOMAIN.value is None) == (_GAME.value is None):
        raise app.UsageError("give either --domain or --game")
    if _DOMAIN.value:
        unused_flags.refuse(depth_limit_flags.NAMES, "a --domain has its own depth limit")
    if _GAME.value and not (_WORK_DIR.value and _OUTPUT_DIR.value):
        raise app.UsageError("with --game, give --work_dir and --output_dir")
    try:
        study = Study(
            _config(), _WORK_DIR.value or f"runs/dl_cfr/{_DOMAIN.value}", engine=_ENGINE()
        )
        choices = Choices(
            every_state=_EVERY.value,
            amounts=tuple(_AMOUNTS.value),
            layers=tuple(_VARIED_LAYERS.value),
            units=tuple(_VARIED_UNITS.value),
            paper_left_out_linf=DOMAINS[_DOMAIN.value].paper_left_out_linf
            if _DOMAIN.value
            else None,
            on_policy=on_policy_flags.config(_ITERATIONS.value),
            exact_resolving=_EXACT_RESOLVING.value,
            exact_tolerance=_EXACT_TOLERANCE.value,
        )
        names = list(EXPERIMENTS) if _EXPERIMENT.value == "all" else [_EXPERIMENT.value]
        output = _OUTPUT_DIR.value or f"results/dl_cfr/{_DOMAIN.value}"
        for report in run_experiments(study, names, choices, output):
            print(report)
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")


def _config() -> StudyConfig:
    """What the flags say about sizes."""
    if _DOMAIN.value:
        game, limit = DOMAINS[_DOMAIN.value].game, DOMAINS[_DOMAIN.value].depth_limit
    else:
        game = _GAME.value
        limit = _limit()
    data = DatasetConfig(
        game=str(load_turn_based(game)),
        depth_limit=limit,
        seed=_DATA_SEED.value,
        shard_size=_SHARD_SIZE.value,
        max_iterations=_DATA_ITERATIONS.value,
        tolerance=_TOLERANCE.value,
    )
    training = TrainingConfig(
        num_epochs=_EPOCHS.value,
        batch_size=_BATCH.value,
        learning_rate=_RATE.value,
        final_learning_rate=_FINAL_RATE.value,
        loss=_LOSS.value,
        networks_per_decade=_KEPT.value,
    )
    return StudyConfig(
        data,
        _SHARDS.value,
        training,
        num_layers=_LAYERS.value,
        num_units=_UNITS.value,
        num_iterations=_ITERATIONS.value,
        seeds=tuple(_SEEDS.value),
        device=_DEVICE.value,
    )


if __name__ == "__main__":
    app.run(main)
