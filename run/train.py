"""Trains a learner by self-play, on any two-player zero-sum OpenSpiel game that it can learn.

--help with another --algorithm shows its flags: policy networks, critics, particle networks.

Examples:
  python run/train.py --algorithm=mmd --preset=goofspiel_5_descending --run_dir=runs/goofspiel_5
  python run/train.py --game=python_leduc --transformations=pure --run_dir=runs/sepot/leduc
  python run/train.py --algorithm=critic --blueprint=runs/goofspiel_5 --run_dir=runs/critic
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from spiel_dl.commands import config_flags, learners, script
from spiel_dl.system.parameters import Positive
from spiel_dl.system.run_directory import RunDirectory, slug

_DEFAULT = "rnad"
_PRINTED_METRICS = {
    "entropy": "policy entropy (nats)",
    "loss": "squared error of values",
    "critic_loss": "critic's squared error",
    "nash_conv": "NashConv",
    "nash_conv_fine_tuned": "NashConv, fine-tuned",
    "critic_error": "critic's mean error",
    "trunk_nash_conv": "trunk NashConv of DL-CFR+",
}
"""Titles of the metrics of the last line that are printed at the end."""


def train(
    new: learners.NewLearner,
    open_run: Callable[[str, Mapping[str, Any]], RunDirectory],
    /,
    *,
    num_steps: Positive = 100_000,
    steps_per_evaluation: Positive | None = None,
    fine_tuning: bool = False,
    device: str = "cpu",
    num_threads: Positive = 1,
) -> None:
    """Trains a learner in its run directory, and prints the results and their paths.

    Args:
      new: the learner.
      open_run: see `script.open_run`.
      num_steps: total number of learner steps.
      steps_per_evaluation: learner steps between evaluations. Default: a tenth of the steps, at
        most 5000.
      fine_tuning: evaluate the fine-tuned policy, too.
      device: torch device, such as cpu or cuda.
      num_threads: threads of torch.

    Raises:
      ValueError: as `RunDirectory` and `learner_run.run_learner`.
    """
    from spiel_dl.policies.network_policy import FineTuning  # Torch, which --help does not need.
    from spiel_dl.runs import learner_run

    learner, tuning = new.learner, FineTuning() if fine_tuning else None
    every = steps_per_evaluation or min(5000, max(1, num_steps // 10))
    learner_run.check_fine_tuning(learner, tuning)
    directory = open_run(
        f"runs/{learner.name}/{slug(str(learner.game))}-{learner.config.seed}",
        {
            "game": str(learner.game),
            "algorithm": learner.name,
            "learner": learner.settings(),
            "steps_per_evaluation": steps_per_evaluation,
            "fine_tuning": dataclasses.asdict(tuning) if tuning else None,
            "device": device,
            "num_threads": num_threads,
            **new.identity,
        },
    )
    last = learner_run.run_learner(
        learner, directory, num_steps, steps_per_evaluation=every, fine_tuning=tuning
    )
    print(f"{'game':<40}{learner.game}")
    print(f"{'learner steps':<40}{last['step']:,}")
    print(f"{'seconds of learning':<40}{last['seconds']:.1f}")
    for name, title in _PRINTED_METRICS.items():
        if name in last:
            print(f"{title:<40}{last[name]:.4f}")
    print(f"{'curves':<40}{directory.path / learner_run.PLOT_FILE}")
    print(f"{'checkpoint':<40}{directory.checkpoint_path}")


_NAME = config_flags.read_early("algorithm", _DEFAULT)
_LEARNER = learners.LEARNERS.get(_NAME, learners.LEARNERS[_DEFAULT])()
_RUN = config_flags.define(train, defaults=_LEARNER.defaults)
_DIRECTORY = script.run_directory()


def main(*, algorithm: str = _DEFAULT) -> None:
    """Trains a learner.

    Args:
      algorithm: the learner's algorithm, which determines the flags below.
    """
    import torch

    del algorithm  # `read_early` has read it.
    torch.set_num_threads(_RUN.values["num_threads"])
    _RUN.build(_LEARNER.build(_RUN.values), _DIRECTORY.build)


if __name__ == "__main__":
    script.run(main, one_of=_LEARNER.games, choices={"algorithm": learners.LEARNERS})
