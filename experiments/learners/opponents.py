"""Strength of learners in games too large to list: returns against uniform play and a script."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.learners.strength import Algorithm, Preset, Run, headline, learn, runs_of
from experiments.settings import Checked
from experiments.verdicts import Judgement, Tables, grouped, numbers_of, student_half_width, verdict
from spiel_dl.play.matches import play_match
from spiel_dl.play.presets import PRESETS
from spiel_dl.play.registry import load_policy
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.runs.reports import Report, Table
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system.parameters import Bounds, Positive, Seed


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Games, learners, opponents and goals.

    Attributes:
      presets: games, and settings for learners, by name.
      script: the name of a scripted policy of these games.
      algorithms: names of learners.
      seeds: of each.
      num_steps: learner steps of each.
      threshold: of `FineTuning`, which drops what is played with less probability; probabilities
        are not rounded.
      num_games: of each match, half in each seat.
      goal: the least mean return against uniform play, set before the seeds were run.
      script_goal: the same against the script, fine-tuned; None: there is none.
    """

    not_empty = ("presets",)
    presets: tuple[Preset, ...]
    script: str
    algorithms: tuple[Algorithm, ...] = ("rnad", "mmd")
    seeds: tuple[Seed, ...] = (2, 3, 4)
    num_steps: Positive = 8_000
    threshold: float = 0.1
    num_games: Annotated[int, Bounds(2)] = 8_192
    goal: float = 0.8
    script_goal: float | None = 0.0


Study = experiment.Study[Settings]


def _compute(study: Study) -> list[dict[str, Any]]:
    """A row of each run."""
    names = ("num_steps", "threshold", "num_games", "script")
    return [rows[0] for rows in experiment.measured_runs(study, runs_of(study), names, _play)]


def _play(settings: Settings, workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """Trains a learner and plays its policy against all opponents."""
    learner, (*_, last) = learn(
        workspace, run, settings.num_steps, max(1, settings.num_steps // 10)
    )
    row: dict[str, Any] = {"step": last["step"], "seconds": last["seconds"]}
    game = str(learner.game)
    tuned = learner.policy(FineTuning(settings.threshold, None))
    for which, policy in (("", learner.policy()), (_TUNED, tuned)):
        for name in ("uniform", settings.script):
            opponent = load_policy(name, game)
            result = play_match(policy, opponent, settings.num_games, seed=run.seed)
            row |= {name + which: result.mean_return}
            row |= {f"{name}{which}_half_width": result.half_width}
    return [row]


# By an exact search, experiments/learners/battleships_ceiling.py of commit f5a089b0.
_CEILINGS = {"battleships_3x3": 0.733851410934744}
"""The best-response value against uniform play, over both seats, by preset."""
_TUNED = ", fine-tuned"
_MEANS, _ALL, _GOALS = "Means", "By seed", "Goals, and the script against uniform play"


def _report(study: Study, measured: Sequence[Mapping[str, Any]]) -> Report:
    settings, runs = study.settings, runs_of(study)
    script = settings.script
    columns = ["uniform", script, f"uniform{_TUNED}", script + _TUNED, "seconds"]
    rows = [
        {
            "game": run.preset,
            "learner": run.algorithm,
            "seed": run.seed,
            **{name: row[name] for name in columns},
        }
        for run, row in zip(runs, measured, strict=True)
    ]
    return Report(
        "",
        [
            f"Mean return of the policy after {settings.num_steps:,} learner steps in "
            f"{settings.num_games:,} games, half of them in each seat, of all seeds that were run; "
            f"and the same fine-tuned, without actions of less probability than "
            f"{settings.threshold}. The learning rate falls until the last step. Intervals of "
            "single matches are in the file beside this one.",
            *(f"{preset} is `{PRESETS[preset].game}`." for preset in settings.presets),
        ],
        {
            _MEANS: Table.of(
                [_means(own, script) for own in grouped(rows, "game", "learner").values()],
                mean="against uniform, mean",
                half_width="± (95 %, t)",
                script=f"against {script}, mean",
                uniform_tuned="against uniform, fine-tuned",
                script_tuned=f"against {script}, fine-tuned",
            ),
            _ALL: Table.of(
                rows,
                seconds="seconds of learning",
                **{name: f"against {name}" for name in columns[:-1]},
            ),
            _GOALS: Table.of(
                [_goals(settings, preset) for preset in settings.presets],
                mean=f"{script} against uniform",
                most="a best response against uniform, exactly",
                goal="goal against uniform",
                script_goal=f"goal against {script}, fine-tuned",
            ),
        },
        more={"matches": list(measured)},
    )


def _means(rows: Sequence[Mapping[str, Any]], script: str) -> dict[str, Any]:
    """The line of means over the rows of a learner's seeds in a game."""
    against = {name: [row[name] for row in rows] for name in rows[0]}
    return {
        "game": rows[0]["game"],
        "learner": rows[0]["learner"],
        "seeds": len(rows),
        "mean": statistics.fmean(against["uniform"]),
        "half_width": student_half_width(against["uniform"]),
        "script": statistics.fmean(against[script]),
        "uniform_tuned": statistics.fmean(against[f"uniform{_TUNED}"]),
        "script_tuned": statistics.fmean(against[script + _TUNED]),
    }


def _goals(settings: Settings, preset: str) -> dict[str, Any]:
    """The line of what is held against the means in a game."""
    game = PRESETS[preset].game
    pair = (load_policy(settings.script, game), load_policy("uniform", game))
    return {
        "game": preset,
        "mean": play_match(*pair, settings.num_games, seed=0).mean_return,
        "most": _CEILINGS.get(preset),
        "goal": settings.goal,
        "script_goal": settings.script_goal,
    }


def _judge(tables: Tables) -> Judgement:
    """Judges every learner in every game against its goals, by means over seeds."""
    goals = {row["game"]: row for row in tables[_GOALS]}
    parts: dict[str, bool | None] = {}
    for row in tables[_MEANS]:
        label, goal = f"{row['learner']} in {row['game']}", goals[row["game"]]
        parts[f"{label} against uniform"] = row["mean"] >= goal["goal"]
        if goal["script_goal"] is not None:
            parts[f"{label} against the script"] = row["script_tuned"] > goal["script_goal"]
    by_learner = numbers_of(tables[_ALL], "uniform", "learner", "game")
    return Judgement(verdict(parts), headline(by_learner))


OPPONENTS = Experiment(
    name="opponents",
    title="Learners in large games against uniform play and a script",
    metric="mean return (utility) after the last step",
    claim=(
        "has no such experiment with these learners; held are goals for mean returns against "
        "uniform play and, after fine-tuning, a script, which were set before any seed was run."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    num_threads=1,
)
# Seed 1 was run before, to fix the settings; of R-NaD in Battleships 3x3 seeds 2 to 4, too.
ROWS = (
    Row(
        OPPONENTS,
        "learners/battleships_5x5",
        Settings(("battleships_5x5",), "hunter", ("rnad",), num_steps=15_000),
        minutes=60,
    ),
    Row(
        OPPONENTS,
        "learners/battleships_5x5_mmd",
        Settings(("battleships_5x5",), "hunter", ("mmd",), num_steps=30_000),
        minutes=75,
    ),
    Row(
        OPPONENTS,
        "learners/battleships_3x3",
        Settings(
            ("battleships_3x3",),
            "hunter",
            ("rnad",),
            seeds=(5, 6, 7),
            num_steps=100_000,
            num_games=65_536,
            goal=0.7,
        ),
        minutes=20,
    ),
    Row(
        OPPONENTS,
        "learners/battleships_3x3_rnad",
        Settings(
            ("battleships_3x3",),
            "hunter",
            ("rnad",),
            seeds=(8, 9, 10),
            num_steps=300_000,
            num_games=65_536,
            goal=0.7,
        ),
        minutes=130,
    ),
    Row(
        OPPONENTS,
        "learners/battleships_3x3_mmd",
        Settings(
            ("battleships_3x3",),
            "hunter",
            ("mmd",),
            num_steps=300_000,
            num_games=65_536,
            goal=0.7,
        ),
        minutes=100,
    ),
    Row(
        OPPONENTS,
        "learners/goofspiel_13_descending",
        Settings(
            ("goofspiel_13_descending",),
            "highest",
            ("rnad",),
            seeds=(5, 6, 7),
            num_steps=16_000,
            goal=0.6,
            script_goal=None,
        ),
        minutes=8,
    ),
    Row(
        OPPONENTS,
        "learners/goofspiel_13_descending_mmd",
        Settings(("goofspiel_13_descending",), "highest", ("mmd",), goal=0.6, script_goal=None),
        minutes=8,
    ),
)
