"""Trains a policy network by R-NaD, in self-play, on any two-player zero-sum OpenSpiel game.

Examples:
  python run/train_rnad.py --preset=goofspiel_5_descending --run_dir=runs/rnad/goofspiel_5
  python run/train_rnad.py --game="leduc_poker" --batch_size=64 --hidden_size=128,128
"""

import config_flags
import learners
import script
import torch

from spiel_dl.algorithms.rnad import RNaDSolver

_GAME = learners.define_game()
_RUN = config_flags.define(learners.train, "Run")
_DIRECTORY = script.run_directory()
_RNAD = learners.define_rnad()


def main(*, cuda_graph: bool = False) -> None:
    """Trains, and says how well and where the results are.

    Args:
      cuda_graph: with --device=cuda, do each learner step as one CUDA graph.
    """
    run = _RUN.values
    torch.set_num_threads(run["num_threads"])
    config = learners.rnad_config(_RNAD, run["num_steps"])
    solver = RNaDSolver(_GAME.build(), config, device=run["device"], cuda_graph=cuda_graph)
    directory, last = _RUN.build(solver, {}, _DIRECTORY.build, "rnad")
    print(f"game                        {solver.game}")
    print(f"learner steps               {last['step']:,}")
    print(f"seconds of learning         {last['seconds']:.1f}")
    print(f"policy entropy (nats)       {last['entropy']:.3f}")
    if "nash_conv" in last:
        print(f"NashConv, last iterate      {last['nash_conv']:.4f}")
    print(f"checkpoint                  {directory.checkpoint_path}")


if __name__ == "__main__":
    script.run(main, one_of=["game", "preset"])
