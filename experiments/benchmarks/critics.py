"""Learner steps per second of a critic alone: by compiled loops, and by torch, in one run.

A step plays a batch of games by a frozen network and descends once. By torch, the network is asked
move by move, histories are matrices, and targets and gradients are torch's: what devices other than
a CPU do. In every round both take turns on the same core; what counts is the processor's time.

  taskset -c 0 python experiments/benchmarks/critics.py
"""

import functools
import os
import time
from collections.abc import Callable

import common
import pyspiel
import torch

from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.runs.reports import Report, Table
from spiel_dl.tree.load import turn_based_game

_WARM_UP = 3  # steps; loops are compiled in the first ones
_LOOPS, _TORCH = "compiled loops, steps/s", "torch, steps/s"
GAMES = {
    "goofspiel 5": (common.GOOFSPIEL.format(5), "paper"),
    "goofspiel 8": (common.GOOFSPIEL.format(8), "paper"),
    "goofspiel 13": (common.GOOFSPIEL.format(13), "paper"),
    "leduc": ("python_leduc", "pure"),
    "battleships 3x3": (common.battleships(3, [2])[0], "paper"),
    "battleships 5x5": (common.battleships(5, [3, 2])[0], "paper"),
}


class ByTorch(CriticLearner):
    """The same critic, without compiled loops of its own."""

    def _acting_policy(self) -> ActingPolicy | torch.Tensor:
        """What no loop knows."""
        acting = super()._acting_policy()
        if isinstance(acting, torch.Tensor):
            return acting
        return lambda observation, legal: acting(observation, legal)

    def use_torch(self) -> None:
        """From now on, steps are torch's."""
        trainer = self._critic
        assert trainer is not None
        trainer._learn_by_kernel = trainer._learn_by_torch  # type: ignore[method-assign]


def learner_of(
    kind: type[CriticLearner], game: pyspiel.Game, transformations: str, batch_size: int
) -> CriticLearner:
    """A fresh critic of a network of two layers of 128 units."""
    sizes = (game.information_state_tensor_size(), game.num_distinct_actions())
    network = PolicyNetwork(*sizes, (128, 128))
    blueprint = NetworkPolicy(game, network, network.initial_parameters(1))
    named = transformations_by_name(transformations, game)
    return kind(game, blueprint, named, CriticConfig(), batch_size=batch_size)


def figures_of(learners: dict[str, CriticLearner], rounds: int, seconds: float) -> dict[str, float]:
    """Medians of steps per second, and of the ratio."""
    for learner in learners.values():
        learner.run(_WARM_UP)
    found = []
    for _ in range(rounds):
        figures: dict[str, float] = {}
        for name, learner in learners.items():
            step: Callable[[int], object] = common.repeat(learner.step)
            figures[name] = 1 / common.seconds_per_call(step, seconds, time.process_time)
        figures["ratio"] = figures[_LOOPS] / figures[_TORCH]
        found.append(figures)
    return common.medians(found)


def measure(
    *,
    rounds: int = 3,
    seconds: float = 1.0,
    batch_size: int = 64,
    games: tuple[str, ...] = tuple(GAMES),
) -> Report:
    """Learner steps per second of critics.

    Args:
      rounds: per figure.
      seconds: of the processor, at least, per figure and round.
      batch_size: games per learner step.
      games: which of the games.
    """
    if len(os.sched_getaffinity(0)) > 1:
        raise ValueError("pin it to one core: taskset -c 0 python .../critics.py")
    if unknown := set(games) - set(GAMES):
        raise ValueError(f"games={sorted(unknown)} are unknown; use some of {list(GAMES)}")
    rows = []
    for name in games:
        game, transformations = turn_based_game(GAMES[name][0]), GAMES[name][1]
        make = functools.partial(
            learner_of, game=game, transformations=transformations, batch_size=batch_size
        )
        by_torch = make(ByTorch)
        assert isinstance(by_torch, ByTorch)
        by_torch.use_torch()
        rows.append(
            {
                "game": name,
                **figures_of({_LOOPS: make(CriticLearner), _TORCH: by_torch}, rounds, seconds),
            }
        )
        print(rows[-1], flush=True)
    strings = [f"- {name}: `{GAMES[name][0]}`, '{GAMES[name][1]}'" for name in games]
    width = "x".join(map(str, CriticConfig().hidden_sizes))
    return Report(
        "Critics by compiled loops and by torch",
        [
            "Learner steps per second of processor time, all threads counted. One batch of games "
            "by a frozen network of 128x128 units and one step of Adam per learner step.",
            f"Pinned to one core. {batch_size} games per learner step, {width} units. Medians of "
            f"{rounds} rounds. Goofspiel with 5 cards and Leduc are compiled.",
            "The games, and the policy transformations:\n\n" + "\n".join(strings),
        ],
        {
            "Learner steps per second": Table(
                rows, {n: n for n in ("game", _LOOPS, _TORCH, "ratio")}
            )
        },
    )


if __name__ == "__main__":
    common.run(measure)
