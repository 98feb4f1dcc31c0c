"""Environment steps per second of our learners in games too large to list.

A learner step plays a batch of games and descends. What counts is the processor's time, of all
threads: other work on the machine adds little to it. Run it on one core.

  taskset -c 0 python experiments/benchmarks/large_learners.py
"""

import os
import time

import common

from spiel_dl.algorithms.mmd import MMDConfig, MMDSolver
from spiel_dl.algorithms.ppo import PPOConfig, PPOSolver
from spiel_dl.algorithms.rnad import RNaDConfig, RNaDSolver
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs.large_games import GAMES
from spiel_dl.runs.reports import Report, Table

_LEARNERS: dict[str, type[SelfPlayLearner]] = {
    "ppo": PPOSolver,
    "mmd": MMDSolver,
    "rnad": RNaDSolver,
}
_CONFIGS = {"ppo": PPOConfig, "mmd": MMDConfig, "rnad": RNaDConfig}
_OWN_RULES = (  # of games in GAMES
    "python_liars_dice(numdice=2,dice_sides=5)",
    "python_abrupt_phantom_ttt",
    "python_abrupt_dark_hex",
)
_WARM_UP = 3  # learner steps; loops are compiled in the first ones
BUDGET = 10_000_000
_MOST_HOURS = 2.0


def steps_per_second(learner: SelfPlayLearner, seconds: float) -> tuple[float, float]:
    """Learner and environment steps per second of the processor, over so many seconds at least."""
    learner.run(_WARM_UP)
    learner.metrics()
    start, done = time.process_time(), learner.num_steps
    while time.process_time() - start < seconds:
        learner.step()
    elapsed = time.process_time() - start
    found, told = learner.num_steps - done, learner.metrics()
    moves = told["environment_steps_per_second"] / told["learner_steps_per_second"]
    return found / elapsed, found * moves / elapsed


def measure(
    *,
    rounds: int = 3,
    seconds: float = 2.0,
    batch_size: int = 64,
    hidden_sizes: tuple[int, ...] = (128, 128),
) -> Report:
    """Environment steps per second.

    Args:
      rounds: per figure.
      seconds: of the processor, at least, per figure and round.
      batch_size: games per learner step.
      hidden_sizes: units of the hidden layers.
    """
    if len(os.sched_getaffinity(0)) > 1:
        raise ValueError("pin it to one core: taskset -c 0 python .../large_learners.py")
    rows = []
    for game in (*GAMES, *_OWN_RULES):
        for name, solver in _LEARNERS.items():
            config = _CONFIGS[name](batch_size=batch_size, hidden_sizes=hidden_sizes)
            learner = solver(game, config)
            each = [steps_per_second(learner, seconds) for _ in range(rounds)]
            speeds = common.medians([{"learner": a, "environment": b} for a, b in each])
            hours = BUDGET / speeds["environment"] / 3600
            rows.append({"game": game, "algorithm": name, **speeds, "hours": hours})
            print(rows[-1], flush=True)
    late = [f"{row['algorithm']} in {row['game']}" for row in rows if row["hours"] > _MOST_HOURS]
    titles = {
        "game": "game",
        "algorithm": "learner",
        "learner": "learner steps/s",
        "environment": "environment steps/s",
        "hours": f"hours for {BUDGET:,}",
    }
    goal = f"{BUDGET:,} environment steps of each learner in at most {_MOST_HOURS:g} hours"
    return Report(
        "Learners in games too large to list",
        [
            f"{batch_size} games per learner step, hidden layers {list(hidden_sizes)}; all other "
            "settings are the defaults as shipped. Seconds are the processor's, pinned to one "
            f"core: hours are those of one core that does nothing else. Medians of {rounds} "
            "rounds. An environment step is a move of a player.",
        ],
        {"Steps per second": Table(rows, titles)},
        verdict=f"not met by {', '.join(late)}: {goal}." if late else f"met: {goal}.",
    )


if __name__ == "__main__":
    common.run(measure)
