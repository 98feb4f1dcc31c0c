"""Policy gradients in games too large to list: exploitability along the way."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.learners.strength import Algorithm
from experiments.policy_gradients.training import make_learner, train
from experiments.settings import Checked, as_json
from experiments.verdicts import OPEN, Judgement, Tables, at_most, numbers_of, told_each, verdict
from spiel_dl.factored.families import factored_game
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.runs import large_games as judging
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.parameters import Positive, Seed

ALGORITHMS = ("ppo", "mmd", "rnad")
"""Names of learners, in the order of reports."""
JUDGED = ("value", "best_0", "best_1", "exploitability")
"""What is kept of an evaluation; its own seconds are none of learning."""


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
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

    not_empty = ("algorithms",)
    games: tuple[str, ...] = judging.GAMES
    algorithms: tuple[Algorithm, ...] = ALGORITHMS
    seeds: tuple[Seed, ...] = (0,)
    environment_steps: Positive = 10_000_000
    evaluations: tuple[Positive, ...] = (100_000, 300_000, 1_000_000, 3_000_000)
    steps_per_checkpoint: Positive = 500_000
    batch_size: Positive = 64
    hidden_sizes: tuple[int, ...] = (128, 128)

    @property
    def points(self) -> list[int]:
        """When learners are judged, in order."""
        inner = {step for step in self.evaluations if step < self.environment_steps}
        return [*sorted(inner), self.environment_steps]


@dataclasses.dataclass(frozen=True)
class FallingRate(Settings):
    """The same with a learning rate that falls within the budget.

    Attributes:
      decay_steps: learner steps until the learning rate is at its least. As shipped they are more
        than there are in 10 million environment steps, so that the rate hardly falls.
    """

    decay_steps: Positive = 10_000


class Run(NamedTuple):
    """One learner in one game with one seed."""

    algorithm: str
    game: str
    seed: int


class Study(experiment.Study[Settings]):
    """Runs of all learners in all games with all seeds."""

    num_threads = 1

    @property
    def runs(self) -> list[Run]:
        """All of them, in the order of reports."""
        chosen = self.settings
        each = itertools.product(chosen.games, chosen.algorithms, chosen.seeds)
        return [Run(algorithm, game, seed) for game, algorithm, seed in each]

    def curves(self) -> list[list[dict[str, Any]]]:
        """Of each run, what is said at each evaluation; what is finished is not done again."""
        told = as_json(self.settings)
        own = {name: told[name] for name in told if name not in ("games", "algorithms", "seeds")}
        learn = functools.partial(_learn, self.settings, self.workspace)
        return experiment.curves_of(self.workspace, self.runs, own, learn)


def _of_rate(settings: Settings) -> dict[str, int]:
    return {"decay_steps": settings.decay_steps} if isinstance(settings, FallingRate) else {}


def _learn(settings: Settings, workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """The evaluations of one run."""
    config = {"seed": run.seed, "batch_size": settings.batch_size, **_of_rate(settings)}
    learner = make_learner(run.algorithm, run.game, hidden_sizes=settings.hidden_sizes, **config)
    identity = {"game": run.game, "algorithm": run.algorithm, "learner": learner.settings()}
    game = factored_game(run.game)

    def judge(learner: SelfPlayLearner) -> dict[str, float]:
        found = judging.judge(game, learner.policy())
        return {name: found[name] for name in JUDGED}

    return train(
        learner,
        workspace.run_directory(file_name(*run), identity),
        settings.environment_steps,
        settings.points,
        settings.steps_per_checkpoint,
        judge,
    )


_PEER = "rnad"
_GENERIC = ("ppo", "mmd")
_BUDGET = 10_000_000
_PANEL = Panel(
    "environment_steps", "exploitability", "environment steps", "exploitability (utility)"
)
_TITLE = "Policy gradients in games too large to list"
_KEPT = ("evaluation", "environment_steps", "learner_steps", *JUDGED)
Curves = list[list[dict[str, Any]]]


def report(study: Study, curves: Curves) -> Report:
    """A row per run, with its exploitability at each evaluation, and a picture of each game."""
    settings, runs = study.settings, study.runs
    rows = [_row(run, points) for run, points in zip(runs, curves, strict=True)]
    titles = {"game": "game", "algorithm": "learner", "seed": "seed"}
    titles |= {str(step): f"at {step:,} steps" for step in settings.points}
    return Report(
        "",
        [
            "Exploitability is exact: half the NashConv of the policy that the learner hands out, "
            "by the game's factored form. An environment step is a move of a player; the learner "
            "step in which a number of them is reached is finished first.",
            f"{settings.batch_size} games per learner step, hidden layers "
            f"{list(settings.hidden_sizes)}, all else as shipped: hyperparameters were chosen in "
            "other games, not for these, while the paper's are the best of a sweep.",
            *(
                f"The learning rate falls for {steps:,} learner steps."
                for steps in _of_rate(settings).values()
            ),
            "Value and best responses of every evaluation are in the JSON file.",
        ],
        {"Exploitability (utility) along the way": Table(rows, titles)},
        [
            Picture(
                file_name("large_games", game),
                f"{_TITLE}\n{game}",
                [_PANEL],
                {
                    f"{run.algorithm}, seed {run.seed}": points
                    for run, points in zip(runs, curves, strict=True)
                    if run.game == game
                },
            )
            for game in settings.games
        ],
        more={
            "curves": {
                f"{run.game}, {run.algorithm}, seed {run.seed}": [
                    {name: point[name] for name in _KEPT} for point in points
                ]
                for run, points in zip(runs, curves, strict=True)
            }
        },
    )


def _row(run: Run, points: list[dict[str, Any]]) -> dict[str, Any]:
    return run._asdict() | {str(point["evaluation"]): point["exploitability"] for point in points}


def _judge(tables: Tables) -> Judgement:
    """PPO and MMD, each against R-NaD in each game, at the last evaluation."""
    [rows] = tables.values()
    last = max((name for name in rows[0] if name.isdigit()), key=int)
    found = numbers_of(rows, last, "game", "algorithm")
    means = {key: statistics.fmean(values) for key, values in found.items()}
    holds = {
        f"{name} in {game}": means[game, name] <= means[game, _PEER]
        for game, name in means
        if name in _GENERIC and (game, _PEER) in means
    }
    is_known = min(map(len, found.values())) > 1
    counted = f"{sum(holds.values())} of {len(holds)} comparisons with {_PEER} hold"
    told_of_seeds = verdict(holds) if is_known or not holds else OPEN
    return Judgement(told_of_seeds, f"{counted}; {_headline(found)}")


def _headline(found: Mapping[tuple[str, str], Sequence[float]]) -> str:
    return told_each({f"{name} in {game}:": own for (game, name), own in found.items()})


_GOALS = {
    "python_phantom_ttt": 0.117,
    "python_dark_hex": 0.0077,
    "liars_dice(numdice=2,dice_sides=5)": 0.089,
    "python_abrupt_phantom_ttt": 0.191,
    "python_abrupt_dark_hex": 0.148,
}
"""The largest mean: the least that any learner had with networks of sequences, in one run."""


def _judge_goals(tables: Tables) -> Judgement:
    """Every learner's mean in every game; open if its interval holds the goal."""
    [rows] = tables.values()
    found = numbers_of(rows, str(_BUDGET), "game", "algorithm")
    parts = {f"{name} in {game}": at_most(own, _GOALS[game]) for (game, name), own in found.items()}
    return Judgement(verdict(parts), _headline(found))


LARGE_GAMES = Experiment(
    name="large_games",
    title=_TITLE,
    metric="exploitability = NashConv / 2 (utility)",
    claim=(
        "generic policy gradients do no worse than what was made for imperfect information "
        "(abstract; curves without numbers); held of PPO and of MMD, each against R-NaD, and "
        "open with one seed."
    ),
    study=Study,
    compute=lambda study: study.curves(),
    render=report,
    judge=_judge,
)
WITH_FEATURES = Experiment(
    name="exploitability",
    title="Learners in games too large to list, with networks that see features",
    metric=LARGE_GAMES.metric,
    claim=(
        "has no such experiment with these learners; held are goals that were set before any seed "
        "was run, the least that PPO, MMD or R-NaD had with networks of sequences: "
        + ", ".join(f"{game} {goal:g}" for game, goal in _GOALS.items())
        + "."
    ),
    study=Study,
    compute=LARGE_GAMES.compute,
    render=report,
    judge=_judge_goals,
)
_OF_GOALS: dict[str, Any] = {"algorithms": ("mmd",), "seeds": (1, 2, 3), "evaluations": ()}
_NAMES = ("phantom_ttt", "dark_hex", "liars_dice_2x5", "abrupt_phantom_ttt", "abrupt_dark_hex")
FEATURE_ROWS = tuple(
    Row(WITH_FEATURES, f"learners/{name}", settings, minutes=60)
    for name, settings in (
        *zip(_NAMES, (Settings((game,), **_OF_GOALS) for game in _GOALS), strict=True),
        ("dark_hex_falling_rate", FallingRate(("python_dark_hex",), **_OF_GOALS)),
    )
)
ROWS = (
    Row(
        LARGE_GAMES,
        "policy_gradients",
        Settings(),
        "Figures, by eye",
        180,
        "one seed of three; networks of sequences; all learners, games and steps",
    ),
    Row(
        LARGE_GAMES,
        "policy_gradients/phantom_ttt",
        Settings(("phantom_ttt",), ("mmd",), environment_steps=3_000_000),
        "Figures, by eye",
        15,
        "one learner of three, one game of five, one seed of three, 3 of 10 million steps",
    ),
)
