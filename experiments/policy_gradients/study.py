"""What the experiments with policy gradients share: who learns what, and what is finished."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, NamedTuple

from experiments import study as papers_study
from experiments.policy_gradients.training import ALGORITHMS, make_learner, train
from experiments.settings import as_json, check_least, check_seeds
from spiel_dl.factored.families import factored_game
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs import large_games
from spiel_dl.runs.workspace import Workspace, file_name

JUDGED = ("value", "best_0", "best_1", "exploitability")
"""What is kept of an evaluation; its own seconds are none of learning."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Who learns what, and how long.

    Attributes:
      games: game strings; those that have a factored form.
      algorithms: names of learners.
      seeds: of each.
      environment_steps: the budget of each, in moves of players.
      evaluations: after how many environment steps to judge exactly; also at the end.
      steps_per_checkpoint: environment steps between two checkpoints, from which a run goes on.
      batch_size: games per learner step.
      hidden_sizes: units of the hidden layers.
    """

    games: tuple[str, ...] = large_games.GAMES
    algorithms: tuple[str, ...] = ALGORITHMS
    seeds: tuple[int, ...] = (0, 1, 2)
    environment_steps: int = 10_000_000
    evaluations: tuple[int, ...] = (100_000, 300_000, 1_000_000, 3_000_000)
    steps_per_checkpoint: int = 500_000
    batch_size: int = 64
    hidden_sizes: tuple[int, ...] = (128, 128)

    def __post_init__(self) -> None:
        check_seeds(self.seeds)
        if not self.algorithms or set(self.algorithms) - set(ALGORITHMS):
            raise ValueError(f"algorithms={self.algorithms} must be some of {ALGORITHMS}")
        check_least(self, environment_steps=1, evaluations=1, steps_per_checkpoint=1, batch_size=1)

    @property
    def points(self) -> list[int]:
        """When learners are judged, in order."""
        inner = {step for step in self.evaluations if step < self.environment_steps}
        return [*sorted(inner), self.environment_steps]


class Run(NamedTuple):
    """One learner in one game with one seed."""

    algorithm: str
    game: str
    seed: int


class Study(papers_study.Study[Settings]):
    """Runs of all learners in all games with all seeds."""

    num_threads = 1

    @property
    def runs(self) -> list[Run]:
        """All of them, in the order of reports."""
        chosen = self.settings
        return [
            Run(algorithm, game, seed)
            for game, algorithm, seed in itertools.product(
                chosen.games, chosen.algorithms, chosen.seeds
            )
        ]

    def curves(self) -> list[list[dict[str, Any]]]:
        """Of each run, what is said at each evaluation; what is finished is not done again."""
        told = as_json(self.settings)
        own = {name: told[name] for name in told if name not in ("games", "algorithms", "seeds")}
        learn = functools.partial(_learn, self.settings, self.workspace)
        return papers_study.curves_of(self.workspace, self.runs, own, learn)


def _learn(settings: Settings, workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """The evaluations of one run."""
    config = {"seed": run.seed, "batch_size": settings.batch_size}
    learner = make_learner(run.algorithm, run.game, hidden_sizes=settings.hidden_sizes, **config)
    identity = {"game": run.game, "algorithm": run.algorithm, "learner": learner.settings()}
    game = factored_game(run.game)

    def judge(learner: SelfPlayLearner) -> dict[str, float]:
        found = large_games.judge(game, learner.policy())
        return {name: found[name] for name in JUDGED}

    return train(
        learner,
        workspace.run_directory(file_name(*run), identity),
        settings.environment_steps,
        settings.points,
        settings.steps_per_checkpoint,
        judge,
    )
