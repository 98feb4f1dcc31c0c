"""What the scripts that train by R-NaD share: flags, and the run that they ask for."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from absl import flags

from spiel_dl.algorithms import learner_run, rnad
from spiel_dl.algorithms.learner import Learner
from spiel_dl.algorithms.network_policy import FineTuning
from spiel_dl.experiments.sepot_games import PRESETS
from spiel_dl.io.run_directory import RunDirectory, slug

_DEFAULT = rnad.RNaDConfig()
_GAME = flags.DEFINE_string("game", None, "OpenSpiel game string, with parameters.")
_PRESET = flags.DEFINE_enum("preset", None, list(PRESETS), "A game of the paper, by name.")
_STEPS = flags.DEFINE_integer("num_steps", 100_000, "Learner steps in all.", lower_bound=1)
_EVALUATION = flags.DEFINE_integer(
    "steps_per_evaluation", 5000, "Learner steps between evaluations.", lower_bound=1
)
BATCH = flags.DEFINE_integer("batch_size", _DEFAULT.batch_size, "Games per learner step.")
_HIDDEN = flags.DEFINE_multi_integer(
    "hidden_size", list(_DEFAULT.hidden_sizes), "Units of a hidden layer; repeated for each."
)
_RATE = flags.DEFINE_float("learning_rate", _DEFAULT.learning_rate, "Adam's.")
_FINAL_RATE = flags.DEFINE_float(
    "final_learning_rate", None, "Adam's at the last step. Default: it does not fall."
)
_ETA = flags.DEFINE_float("eta", _DEFAULT.eta, "Weight of the reward regularisation.")
_FIRST = flags.DEFINE_integer(
    "first_period", _DEFAULT.first_period, "Steps per regularisation policy at first."
)
_NUM_FIRST = flags.DEFINE_integer(
    "num_first_periods", _DEFAULT.num_first_periods, "How many periods are of this length."
)
_PERIOD = flags.DEFINE_integer("period", _DEFAULT.period, "Steps per regularisation policy later.")
_THRESHOLD = flags.DEFINE_float("neurd_threshold", _DEFAULT.neurd_threshold, "NeuRD's beta.")
_FINE_TUNING = flags.DEFINE_bool("fine_tuning", False, "Evaluate the fine-tuned policy, too.")
SEED = flags.DEFINE_integer("seed", 0, "Seed of parameters and games.", lower_bound=0)
DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
THREADS = flags.DEFINE_integer("num_threads", 1, "Threads of torch.", lower_bound=1)
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory. Default: runs/ALGORITHM/GAME-SEED.")
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")


def game_string() -> str:
    """The game that is asked for."""
    return _GAME.value or PRESETS[_PRESET.value]


def rnad_config() -> rnad.RNaDConfig:
    """How R-NaD is to learn."""
    return rnad.RNaDConfig(
        batch_size=BATCH.value,
        hidden_sizes=tuple(_HIDDEN.value),
        learning_rate=_RATE.value,
        final_learning_rate=_FINAL_RATE.value,
        decay_steps=_STEPS.value if _FINAL_RATE.value else _DEFAULT.decay_steps,
        eta=_ETA.value,
        first_period=_FIRST.value,
        num_first_periods=_NUM_FIRST.value,
        period=_PERIOD.value,
        neurd_threshold=_THRESHOLD.value,
        seed=SEED.value,
    )


def train(
    learner: Learner, algorithm: str, game: str, also: Mapping[str, Any]
) -> tuple[RunDirectory, dict[str, Any]]:
    """Trains a learner in the run directory.

    Args:
      learner: a fresh one.
      algorithm: names the default run directory, with the game.
      game: see `algorithm`.
      also: what identifies the run besides the flags that are shared.

    Returns:
      The run directory, and the last line of its metrics.

    Raises:
      ValueError: as `RunDirectory` and `learner_run.run_learner`.
    """
    tuning = FineTuning() if _FINE_TUNING.value else None
    directory = RunDirectory(
        _RUN_DIR.value or f"runs/{algorithm}/{slug(game)}-{SEED.value}",
        {
            "game": str(learner.game),
            "algorithm": learner.name,
            "learner": learner.config.to_json(),
            "steps_per_evaluation": _EVALUATION.value,
            "fine_tuning": dataclasses.asdict(tuning) if tuning else None,
            "device": DEVICE.value,
            "num_threads": THREADS.value,
            **also,
        },
        resume=_RESUME.value,
    )
    last = learner_run.run_learner(
        learner,
        directory,
        _STEPS.value,
        steps_per_evaluation=_EVALUATION.value,
        fine_tuning=tuning,
    )
    return directory, last
