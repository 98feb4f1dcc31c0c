"""Makes the figures and tables of the SePoT paper (Kubíček et al. 2023), with our numbers.

Networks are trained as they are needed; what is finished in the working directory is not done
again.

Examples:
  python run/reproduce_sepot.py --experiment=curves --game=goofspiel_5_descending --steps=100000
  python run/reproduce_sepot.py --experiment=cfvs --game=leduc --seed=0 --seed=1 --seed=2
  python run/reproduce_sepot.py --experiment=safety --steps=20000 --seed=0
  python run/reproduce_sepot.py --experiment=distilled --game=goofspiel_5_descending --rounds=2
  python run/reproduce_sepot.py --experiment=position --num_workers=2
  python run/reproduce_sepot.py --experiment=table_1 --game=battleships_3x3 --num_games=10000
"""

import dataclasses
import sys
from collections.abc import Sequence

import critic_flags
import rnad_flags
import script
from absl import app, flags
from papers.sepot import experiments as sepot_experiments
from papers.sepot.distilled import DistilledConfig
from papers.sepot.experiments import GAMES_OF, Options
from papers.sepot.study import GAMES, Study, StudyConfig

from spiel_dl.learning.transformations import TRANSFORMATION_SETS
from spiel_dl.runs import distributed
from spiel_dl.tree import DepthLimit

_DEFAULT, _DISTILLED = StudyConfig("kuhn_poker"), DistilledConfig()
_EXPERIMENT = flags.DEFINE_enum(
    "experiment", None, list(GAMES_OF), "Which experiment; see above.", required=True
)
_GAMES = flags.DEFINE_multi_string(
    "game", [], f"Game string, or {', '.join(GAMES)}; may be repeated. Default: the experiment's."
)
_SEEDS = flags.DEFINE_multi_integer(
    "seed", list(_DEFAULT.seeds), "Seed of networks; may be repeated."
)
_STEPS = flags.DEFINE_integer("steps", _DEFAULT.num_steps, "Learner steps in all.")
_EVERY = flags.DEFINE_integer(
    "every", _DEFAULT.steps_per_evaluation, "Learner steps between evaluations."
)
_ROUNDS = flags.DEFINE_multi_integer(
    "rounds", [], "Depth limit of searches in rounds; may be repeated. Default: the paper's."
)
_MOVES = flags.DEFINE_multi_integer("moves", [], "Depth limit in moves, likewise.")
_ITERATIONS = flags.DEFINE_integer(
    "iterations", _DEFAULT.iterations, "Iterations of CFR+ in each search."
)
_CRITIC_STEPS = flags.DEFINE_integer(
    "critic_steps",
    _DEFAULT.critic_steps,
    "Learner steps of a critic for each kept network, on games of its own. Default: critics learn "
    "from the games of the network's training.",
)
_TRANSFORMATIONS = flags.DEFINE_enum(
    "transformations",
    None,
    list(TRANSFORMATION_SETS),
    "Of the critic. Default: those of the paper.",
)
_NUM_GAMES = flags.DEFINE_integer("num_games", Options().num_games, "table_1: games of each match.")
_STRATEGIES = flags.DEFINE_integer(
    "num_strategies", _DISTILLED.num_strategies, "distilled: random trunk strategies."
)
_LAYERS = flags.DEFINE_integer("num_layers", _DISTILLED.num_layers, "distilled: hidden layers.")
_UNITS = flags.DEFINE_integer(
    "num_units", _DISTILLED.num_units, "distilled: units in each hidden layer."
)
_EPOCHS = flags.DEFINE_integer(
    "num_epochs", _DISTILLED.training.num_epochs, "distilled: passes over the data."
)
_DEVICE = flags.DEFINE_string("device", _DEFAULT.device, "Torch device of training.")
_ENGINE = script.workers().build
_WORK_DIR = flags.DEFINE_string("work_dir", "runs/reproduce_sepot", "Networks and finished parts.")
_OUTPUT_DIR = flags.DEFINE_string("output_dir", "results/sepot", "Where the report goes.")
flags.adopt_module_key_flags(rnad_flags)
flags.set_default(rnad_flags.BATCH, _DEFAULT.learner.batch_size)
flags.set_default(rnad_flags.HIDDEN, list(_DEFAULT.learner.hidden_sizes))
flags.adopt_module_key_flags(critic_flags)
flags.set_default(critic_flags.HIDDEN, list(_DEFAULT.critic.hidden_sizes))


def main(argv: Sequence[str]) -> None:
    """Runs the experiment, and says where its report is."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    try:
        games = _GAMES.value or GAMES_OF[_EXPERIMENT.value]
        studies = [Study(_config(game), _WORK_DIR.value, engine=_ENGINE()) for game in games]
        training = dataclasses.replace(_DISTILLED.training, num_epochs=_EPOCHS.value)
        distilled = DistilledConfig(_STRATEGIES.value, _LAYERS.value, _UNITS.value, training)
        options = Options(_NUM_GAMES.value, distilled)
        print(
            sepot_experiments.run_experiment(_EXPERIMENT.value, studies, _OUTPUT_DIR.value, options)
        )
    except (ValueError, distributed.WorkerDiedError) as error:
        sys.exit(f"error: {error}")


def _config(game: str) -> StudyConfig:
    limits = [DepthLimit(rounds=number) for number in _ROUNDS.value]
    limits += [DepthLimit(moves=number) for number in _MOVES.value]
    return StudyConfig(
        game,
        seeds=tuple(_SEEDS.value),
        num_steps=_STEPS.value,
        steps_per_evaluation=_EVERY.value,
        learner=rnad_flags.config(_STEPS.value, seed=0),
        critic=critic_flags.config(seed=0),
        critic_steps=_CRITIC_STEPS.value,
        exploration=critic_flags.EXPLORATION.value,
        transformations=_TRANSFORMATIONS.value,
        limits=tuple(limits),
        iterations=_ITERATIONS.value,
        device=_DEVICE.value,
    )


if __name__ == "__main__":
    app.run(main)
