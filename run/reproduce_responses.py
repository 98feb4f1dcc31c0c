"""Makes the tables and figures of the CDBR and CDRNR paper (Milec et al. 2024), with our numbers.

Examples:
  python run/reproduce_responses.py --experiment=table_1
  python run/reproduce_responses.py --experiment=table_1 --game=goofspiel_6 --model=uniform \\
      --player=0 --output_dir=results/responses/goofspiel_6
  python run/reproduce_responses.py --experiment=frontier --game=leduc --model=uniform --player=0
"""

import dataclasses
import sys
from collections.abc import Sequence

from absl import app, flags
from papers.responses.contests import games
from papers.responses.experiments import EXPERIMENTS, run_experiments
from papers.responses.networks import NetworkChoices
from papers.responses.study import Choices, Study
from papers.responses.sweeps import Sweep

from spiel_dl.algorithms.cdrnr import GADGETS
from spiel_dl.play.registry import POLICY_NAMES
from spiel_dl.tree import DepthLimit
from spiel_dl.tree.pieces import SCHEMES

_SWEEP, _NETWORKS = Sweep(), NetworkChoices()
_EXPERIMENT = flags.DEFINE_enum("experiment", "all", [*EXPERIMENTS, "all"], "Which experiment.")
_GAMES = flags.DEFINE_multi_enum(
    "game",
    [],
    games(),
    "Which game, but in gadgets and biased_rps; may be repeated. Default: the experiment's.",
)
_MODELS = flags.DEFINE_multi_string(
    "model",
    [],
    f"{POLICY_NAMES}, but in gadgets and times; may be repeated. Default: the experiment's.",
)
_PLAYERS = flags.DEFINE_multi_integer(
    "player",
    [0, 1],
    "Who responds; may be repeated. In gadgets, biased_rps and times it is player 0.",
)
_PLIES = flags.DEFINE_integer("plies", 2, "frontier: depth limit in plies.", lower_bound=1)
_SCHEME = flags.DEFINE_enum("scheme", _SWEEP.scheme, SCHEMES, "frontier: scheme of CDRNR.")
_GADGETS = flags.DEFINE_multi_enum(
    "gadget", list(GADGETS), GADGETS, "Gadget of CDRNR; may be repeated."
)
_PARAMETERS = flags.DEFINE_multi_float(
    "p", list(_SWEEP.parameters), "frontier: p, alpha and weight of CDBR; may be repeated."
)
_ABR = flags.DEFINE_integer(
    "abr_episodes", 0, "table_1: episodes of training ABR for each model; 0: leave it out."
)
_STRATEGIES = flags.DEFINE_integer(
    "num_strategies", _NETWORKS.num_strategies, "network: trunk strategies of each of two kinds."
)
_LAYERS = flags.DEFINE_integer("num_layers", _NETWORKS.num_layers, "network: hidden layers.")
_UNITS = flags.DEFINE_integer(
    "num_units", _NETWORKS.num_units, "network: units in each hidden layer."
)
_EPOCHS = flags.DEFINE_integer(
    "num_epochs", _NETWORKS.training.num_epochs, "network: passes over the data."
)
_ITERATIONS = flags.DEFINE_integer(
    "iterations", _NETWORKS.iterations, "network: iterations of CFR+ in each step of CDBR."
)
_ROUNDS = flags.DEFINE_integer(
    "num_rounds", _NETWORKS.num_rounds, "network: rounds of learning from CDBR's responses."
)
_DEVICE = flags.DEFINE_string("device", _NETWORKS.device, "network: where networks compute.")
_WORK_DIR = flags.DEFINE_string(
    "work_dir", "runs/responses", "Finished parts; what is there is not done again."
)
_OUTPUT_DIR = flags.DEFINE_string("output_dir", "results/responses", "Where reports go.")


def main(argv: Sequence[str]) -> None:
    """Runs the experiments, and says where their reports are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        sweep = Sweep(
            DepthLimit(plies=_PLIES.value),
            _SCHEME.value,
            tuple(_GADGETS.value),
            tuple(_PARAMETERS.value),
        )
        choices = Choices(
            tuple(_GAMES.value),
            tuple(_MODELS.value),
            tuple(_PLAYERS.value),
            sweep,
            NetworkChoices(
                _STRATEGIES.value,
                _LAYERS.value,
                _UNITS.value,
                dataclasses.replace(_NETWORKS.training, num_epochs=_EPOCHS.value),
                _ITERATIONS.value,
                _ROUNDS.value,
                device=_DEVICE.value,
            ),
            _ABR.value,
        )
        names = list(EXPERIMENTS) if _EXPERIMENT.value == "all" else [_EXPERIMENT.value]
        for report in run_experiments(Study(choices, _WORK_DIR.value), names, _OUTPUT_DIR.value):
            print(report)
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    app.run(main)
