"""OpenSpiel's own R-NaD, as a peer in a process of its own: for `rnad.py` to start.

It was removed after OpenSpiel 1.5, so it needs an environment without spiel_dl:

  python -m venv peer
  peer/bin/pip install open_spiel==1.5 jax==0.4.35 dm-haiku==0.0.13 optax==0.2.3 chex==0.1.87

Says "ready" once it is compiled. Then, for every line on standard input, a number of seconds, it
does learner steps for at least so long, and prints the seconds per step.

  peer/bin/python experiments/benchmarks/openspiel_rnad.py GAME LONGEST BATCH_SIZE HIDDEN_SIZE...

LONGEST is the number of moves in the game's longest play, chance's not counted: OpenSpiel steps all
games of a batch so often, also those that are over.
"""

import sys
import time

from open_spiel.python.algorithms.rnad import rnad


def main() -> None:
    """Answers until the input ends."""
    game, longest, batch_size, *hidden_sizes = sys.argv[1:]
    config = rnad.RNaDConfig(
        game_name=game,
        trajectory_max=int(longest),
        batch_size=int(batch_size),
        policy_network_layers=tuple(map(int, hidden_sizes)),
        learning_rate=3e-4,
        entropy_schedule_size=(500, 10_000),
        entropy_schedule_repeats=(200, 1),
    )
    solver = rnad.RNaDSolver(config)
    for _ in range(3):  # compiled in the first ones
        solver.step()
    print("ready", flush=True)
    for line in sys.stdin:
        begin, steps = time.perf_counter(), 0
        while time.perf_counter() - begin < float(line):
            solver.step()
            steps += 1
        print((time.perf_counter() - begin) / steps, flush=True)


if __name__ == "__main__":
    main()
