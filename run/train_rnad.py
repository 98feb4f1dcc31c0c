"""Trains a policy network by R-NaD, in self-play, on any two-player zero-sum OpenSpiel game.

Examples:
  python run/train_rnad.py --preset=goofspiel_5_descending --run_dir=runs/rnad/goofspiel_5
  python run/train_rnad.py --game="leduc_poker" --batch_size=64 --hidden_size=128 --hidden_size=128
"""

import sys
from collections.abc import Sequence

import learner_flags
import torch
from absl import app, flags

from spiel_dl.algorithms import rnad

_CUDA_GRAPH = flags.DEFINE_bool(
    "cuda_graph", False, "With --device=cuda: do each learner step as one CUDA graph."
)
flags.adopt_module_key_flags(learner_flags)
flags.mark_flags_as_mutual_exclusive(["game", "preset"], required=True)


def main(argv: Sequence[str]) -> None:
    """Trains, and says how well and where the results are."""
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    game_string = learner_flags.game_string()
    torch.set_num_threads(learner_flags.THREADS.value)
    try:
        config = learner_flags.rnad_config()
        solver = rnad.RNaDSolver(
            game_string, config, device=learner_flags.DEVICE.value, cuda_graph=_CUDA_GRAPH.value
        )
        directory, last = learner_flags.train(solver, "rnad", game_string, {})
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
