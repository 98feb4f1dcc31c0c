"""What the scripts that train by R-NaD share: groups of flags, and the run that they ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import config_flags
from parameters import Positive

from spiel_dl.algorithms.rnad import RNaDConfig
from spiel_dl.jobs import learner_run
from spiel_dl.learning.learner import Learner
from spiel_dl.play.presets import PRESETS
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs.run_directory import RunDirectory, slug

OF_ADAM = ("adam_beta1", "adam_beta2", "adam_epsilon", "gradient_clip", "decay_steps")
"""What the paper fixes, and no flag changes."""


def game_string(*, game: str | None = None, preset: str | None = None) -> str:
    """The game that is asked for.

    Args:
      game: OpenSpiel game string, with parameters.
      preset: a game of the paper, by name.
    """
    return game or PRESETS[preset or ""]


def define_game() -> config_flags.Flags[str]:
    """Defines --game and --preset."""
    return config_flags.define(game_string, "Game", choices={"preset": PRESETS})


def define_rnad() -> config_flags.Flags[RNaDConfig]:
    """Defines how R-NaD is to learn."""
    return config_flags.define(
        RNaDConfig,
        "R-NaD",
        leave_out=[*OF_ADAM, "neurd_clip", "c_bar", "rho_bar", "target_averaging"],
        names={"hidden_sizes": "hidden_size"},
        texts={
            "hidden_sizes": "units of each hidden layer.",
            "learning_rate": "Adam's, of the first step.",
            "final_learning_rate": "Adam's, of the last step. Default: it does not fall.",
            "max_tree_histories": "larger games are not compiled, and NashConv is not measured.",
        },
    )


def rnad_config(group: config_flags.Flags[RNaDConfig], num_steps: int) -> RNaDConfig:
    """How R-NaD is to learn, in a run of so many learner steps."""
    if group.values["final_learning_rate"] is None:
        return group.build()
    return group.build(decay_steps=num_steps)


def train(
    learner: Learner,
    also: Mapping[str, Any],
    open_run: Callable[[str, Mapping[str, Any]], RunDirectory],
    algorithm: str,
    /,
    *,
    num_steps: Positive = 100_000,
    steps_per_evaluation: Positive = 5000,
    fine_tuning: bool = False,
    device: str = "cpu",
    num_threads: Positive = 1,
) -> tuple[RunDirectory, dict[str, Any]]:
    """Trains a learner in its run directory.

    Args:
      learner: a fresh one.
      also: what identifies the run besides the flags that are shared.
      open_run: see `script.open_run`.
      algorithm: names the default run directory, with the game and the seed.
      num_steps: learner steps in all.
      steps_per_evaluation: learner steps between evaluations.
      fine_tuning: evaluate the fine-tuned policy, too.
      device: torch device, such as cpu or cuda.
      num_threads: threads of torch.

    Returns:
      The run directory, and the last line of its metrics.

    Raises:
      ValueError: as `RunDirectory` and `learner_run.run_learner`.
    """
    tuning = FineTuning() if fine_tuning else None
    learner_run.check_fine_tuning(learner, tuning)
    directory = open_run(
        f"runs/{algorithm}/{slug(str(learner.game))}-{learner.config.seed}",
        {
            "game": str(learner.game),
            "algorithm": learner.name,
            "learner": learner.settings(),
            "steps_per_evaluation": steps_per_evaluation,
            "fine_tuning": dataclasses.asdict(tuning) if tuning else None,
            "device": device,
            "num_threads": num_threads,
            **also,
        },
    )
    last = learner_run.run_learner(
        learner, directory, num_steps, steps_per_evaluation=steps_per_evaluation, fine_tuning=tuning
    )
    return directory, last
