"""Trains a policy network by R-NaD, in self-play, on any two-player zero-sum OpenSpiel game.

Example:
  python run/train_rnad.py --preset=goofspiel_5_descending --run_dir=runs/rnad/goofspiel_5
  python run/train_rnad.py --game="leduc_poker" --batch_size=64 --hidden_size=128 --hidden_size=128
"""

import dataclasses
import re
import sys
from collections.abc import Sequence

import torch
from absl import app, flags

from spiel_dl.algorithms import learner_run, rnad
from spiel_dl.algorithms.network_policy import FineTuning
from spiel_dl.io.run_directory import RunDirectory

_GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order={},returns_type=win_loss)"
_BATTLESHIPS = "python_battleships(board_width={0},board_height={0},ship_sizes={1})"
# The games of Kubíček et al. (2023), which share one set of parameters, and leduc.
PRESETS = {
    "leduc": "python_leduc",
    **{
        f"goofspiel_{cards}_{order}": _GOOFSPIEL.format(cards, order)
        for cards in (5, 8, 13)
        for order in ("descending", "random")
    },
    "battleships_3x3": _BATTLESHIPS.format(3, "[2;2]"),
    "battleships_5x5": _BATTLESHIPS.format(5, "[3;2;2]"),
}

_DEFAULT = rnad.RNaDConfig()
_GAME = flags.DEFINE_string("game", None, "OpenSpiel game string, with parameters.")
_PRESET = flags.DEFINE_enum("preset", None, list(PRESETS), "A game of the paper, by name.")
_STEPS = flags.DEFINE_integer("num_steps", 100_000, "Learner steps in all.", lower_bound=1)
_EVALUATION = flags.DEFINE_integer(
    "steps_per_evaluation", 5000, "Learner steps between evaluations.", lower_bound=1
)
_BATCH = flags.DEFINE_integer("batch_size", _DEFAULT.batch_size, "Games per learner step.")
_HIDDEN = flags.DEFINE_multi_integer(
    "hidden_size", list(_DEFAULT.hidden_sizes), "Units of a hidden layer; repeated for each."
)
_RATE = flags.DEFINE_float("learning_rate", _DEFAULT.learning_rate, "Adam's.")
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
_SEED = flags.DEFINE_integer("seed", 0, "Seed of parameters and games.", lower_bound=0)
_DEVICE = flags.DEFINE_string("device", "cpu", "Torch device, such as cpu or cuda.")
_THREADS = flags.DEFINE_integer("num_threads", 1, "Threads of torch.", lower_bound=1)
_RUN_DIR = flags.DEFINE_string("run_dir", None, "Run directory. Default: runs/rnad/GAME-SEED.")
_RESUME = flags.DEFINE_bool("resume", False, "Go on with the run in the run directory.")
flags.mark_flags_as_mutual_exclusive(["game", "preset"], required=True)


def main(argv: Sequence[str]) -> None:
    """Trains, and says how well and where the results are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    game_string = _GAME.value or PRESETS[_PRESET.value]
    torch.set_num_threads(_THREADS.value)
    slug = re.sub(r"\W+", "_", game_string).strip("_")
    try:
        config = rnad.RNaDConfig(
            batch_size=_BATCH.value,
            hidden_sizes=tuple(_HIDDEN.value),
            learning_rate=_RATE.value,
            eta=_ETA.value,
            first_period=_FIRST.value,
            num_first_periods=_NUM_FIRST.value,
            period=_PERIOD.value,
            neurd_threshold=_THRESHOLD.value,
            seed=_SEED.value,
        )
        fine_tuning = FineTuning() if _FINE_TUNING.value else None
        solver = rnad.RNaDSolver(game_string, config, _DEVICE.value)
        directory = RunDirectory(
            _RUN_DIR.value or f"runs/rnad/{slug}-{_SEED.value}",
            {
                "game": str(solver.game),
                "algorithm": solver.name,
                "learner": config.to_json(),
                "steps_per_evaluation": _EVALUATION.value,
                "fine_tuning": dataclasses.asdict(fine_tuning) if fine_tuning else None,
                "device": _DEVICE.value,
                "num_threads": _THREADS.value,
            },
            resume=_RESUME.value,
        )
        last = learner_run.run_learner(
            solver,
            directory,
            _STEPS.value,
            steps_per_evaluation=_EVALUATION.value,
            fine_tuning=fine_tuning,
        )
    except ValueError as error:
        sys.exit(f"error: {error}")
    print(f"game                        {solver.game}")
    print(f"learner steps               {last['step']:,}")
    print(f"seconds of learning         {last['seconds']:.1f}")
    print(f"policy entropy (nats)       {last['entropy']:.3f}")
    if "nash_conv" in last:
        print(f"NashConv, last iterate      {last['nash_conv']:.4f}")
    print(f"checkpoint                  {directory.checkpoint_path}")


if __name__ == "__main__":
    app.run(main)
