"""What the scripts that train by R-NaD share: flags, and the run that they ask for."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import rnad_flags
from absl import flags

from spiel_dl.algorithms.rnad import RNaDConfig
from spiel_dl.jobs import learner_run
from spiel_dl.learning.learner import Learner
from spiel_dl.play.presets import PRESETS
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs.run_directory import RunDirectory, slug

_GAME = flags.DEFINE_string("game", None, "OpenSpiel game string, with parameters.")
_PRESET = flags.DEFINE_enum("preset", None, list(PRESETS), "A game of the paper, by name.")
_STEPS = flags.DEFINE_integer("num_steps", 100_000, "Learner steps in all.", lower_bound=1)
_EVALUATION = flags.DEFINE_integer(
    "steps_per_evaluation", 5000, "Learner steps between evaluations.", lower_bound=1
)
_FINE_TUNING = flags.DEFINE_bool("fine_tuning", False, "Evaluate the fine-tuned policy, too.")
SEED = flags.DEFINE_integer("seed", 0, "Seed of parameters and games.", lower_bound=0)
DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
THREADS = flags.DEFINE_integer("num_threads", 1, "Threads of torch.", lower_bound=1)
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory. Default: runs/ALGORITHM/GAME-SEED.")
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")
flags.adopt_module_key_flags(rnad_flags)


def game_string() -> str:
    """The game that is asked for."""
    return _GAME.value or PRESETS[_PRESET.value]


def rnad_config() -> RNaDConfig:
    """How R-NaD is to learn."""
    return rnad_flags.config(_STEPS.value, SEED.value)


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
    learner_run.check_fine_tuning(learner, tuning)
    directory = RunDirectory(
        _RUN_DIR.value or f"runs/{algorithm}/{slug(game)}-{SEED.value}",
        {
            "game": str(learner.game),
            "algorithm": learner.name,
            "learner": learner.settings(),
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
