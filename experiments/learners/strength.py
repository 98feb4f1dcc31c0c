"""NashConv of the learners after training, with their defaults, beside goals and a peer."""

from __future__ import annotations

import dataclasses
import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from experiments import experiment
from experiments.experiment import Experiment, Row
from experiments.settings import Checked, OneOf
from experiments.verdicts import (
    Judgement,
    Tables,
    at_most,
    mean_texts,
    numbers_of,
    student_half_width,
    verdict,
)
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.self_play_learner import SelfPlayLearner
from spiel_dl.play.presets import PRESETS
from spiel_dl.runs.learner_run import run_learner
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import Workspace, file_name
from spiel_dl.system.json_files import read_json
from spiel_dl.system.parameters import Positive, Seed

SOLVERS: dict[str, type[SelfPlayLearner]] = {
    solver.name: solver for solver in (RNaDSolver, MMDSolver, PPOSolver)
}
ALGORITHMS = tuple(SOLVERS)
"""Names of learners, in the order of reports."""
Algorithm = Annotated[str, OneOf(ALGORITHMS)]
Preset = Annotated[str, OneOf(PRESETS)]


@dataclasses.dataclass(frozen=True)
class Settings(Checked):
    """Games, learners and training lengths.

    Attributes:
      presets: games, and settings for learners, by name; games that can be compiled.
      algorithms: names of learners.
      seeds: of each.
      num_steps: learner steps of each.
      steps_per_evaluation: learner steps between two measurements of NashConv.
      peer: JSON file with the peer's results, for comparison; None: no peer.
    """

    not_empty = ("presets", "algorithms")
    presets: tuple[Preset, ...]
    algorithms: tuple[Algorithm, ...] = ALGORITHMS
    seeds: tuple[Seed, ...] = (11, 12, 13, 14, 15)
    num_steps: Positive = 100_000
    steps_per_evaluation: Positive = 10_000
    peer: str | None = "results/benchmarks/rlg_strength.json"


class Run(NamedTuple):
    """One learner in one game with one seed."""

    preset: str
    algorithm: str
    seed: int


Study = experiment.Study[Settings]
Curves = Sequence[Sequence[Mapping[str, Any]]]
"""Each run's metrics lines of evaluations."""


def _compute(study: Study) -> Curves:
    """Trains all learners; a file that is no peer's is refused before that."""
    _lines_of_peer(study.settings.peer)
    names = ("num_steps", "steps_per_evaluation")
    return experiment.measured_runs(study, runs_of(study), names, _learn)


def _lines_of_peer(path: str | None) -> list[dict[str, Any]]:
    """A line for each run in the peer's file; none without a file.

    Raises:
      ValueError: if the file is something else.
    """
    if path is None:
        return []
    content = read_json(path)
    if "lines" not in content:
        raise ValueError(
            f"{path} has no strengths of a peer; give results/benchmarks/rlg_strength.json"
        )
    lines: list[dict[str, Any]] = content["lines"]
    return lines


def runs_of(study: experiment.Study[Any]) -> list[Run]:
    """All learners in all games with all seeds, in the order of reports."""
    settings = study.settings
    combinations = itertools.product(settings.presets, settings.algorithms, settings.seeds)
    return [Run(*each) for each in combinations]


def make_learner(run: Run, num_steps: int) -> SelfPlayLearner:
    """A fresh learner of a run, with the preset's settings and otherwise its defaults.

    Its learning rate falls until the last of so many steps.
    """
    preset, solver = PRESETS[run.preset], SOLVERS[run.algorithm]
    settings = preset.of(run.algorithm)
    settings.pop("num_steps", None)
    settings |= {"decay_steps": num_steps, "seed": run.seed}
    return solver(preset.game, solver.default_config(**settings))


def _learn(settings: Settings, workspace: Workspace, run: Run) -> list[dict[str, Any]]:
    """All metrics lines of one run."""
    return learn(workspace, run, settings.num_steps, settings.steps_per_evaluation)[1]


def learn(
    workspace: Workspace, run: Run, num_steps: int, steps_per_evaluation: int
) -> tuple[SelfPlayLearner, list[dict[str, Any]]]:
    """A run's learner after so many steps, and all metrics lines."""
    learner = make_learner(run, num_steps)
    identity = {
        "game": str(learner.game),
        "algorithm": run.algorithm,
        "learner": learner.settings(),
    }
    directory = workspace.run_directory(file_name(*run), identity)
    run_learner(
        learner,
        directory,
        num_steps,
        steps_per_evaluation=steps_per_evaluation,
        show_progress=False,
    )
    return learner, directory.read_metrics()


_GOALS = {
    ("rnad", "goofspiel_5_descending"): 0.0325,
    ("mmd", "goofspiel_5_descending"): 0.0325,
    ("ppo", "goofspiel_5_descending"): 0.0989,
    ("rnad", "leduc"): 0.203,
    ("mmd", "leduc"): 0.225,
    ("ppo", "leduc"): 0.522,
    ("rnad", "battleships_2x2"): 0.0062,
    ("mmd", "battleships_2x2"): 0.0066,
    ("ppo", "battleships_2x2"): 0.0264,
}
"""The largest allowed mean NashConv: that of networks of sequences, on five other seeds."""
_TWINS = {
    "python_leduc": "leduc_poker",
    "python_battleships": "python_simultaneous_battleships",
}
"""The peer's names of our games, where they differ."""
_MEANS, _ALL = "Means", "After the last step"
_PANEL = Panel("step", "nash_conv", "learner steps", "NashConv (utility)", "linear")
_TITLE = "Learners with the defaults as shipped"
_COLUMNS = {
    "game": "game",
    "learner": "learner",
    "seed": "seed",
    "nash_conv": "NashConv (utility)",
    "seconds": "seconds of learning",
    "steps_per_second": "learner steps/s",
}


def _report(study: Study, curves: Curves) -> Report:
    """Means with goals and a peer, all runs, and a picture of each game."""
    settings, runs = study.settings, runs_of(study)
    peer = _lines_of_peer(settings.peer)
    rows = [_row(run, curve[-1]) for run, curve in zip(runs, curves, strict=True)]
    means = [
        _mean(settings, preset, algorithm, values, peer)
        for (preset, algorithm), values in numbers_of(rows, "nash_conv", "game", "learner").items()
    ]
    return Report(
        "",
        [
            f"NashConv of the policy after {settings.num_steps:,} learner steps, of all seeds "
            "that were run.",
            *(f"{preset} is `{PRESETS[preset].game}`." for preset in settings.presets),
            *(f"{name}: {_settings_of(settings, name)}." for name in settings.algorithms),
            *([_OF_PEER] if peer else []),
        ],
        {
            _MEANS: Table.of(
                means,
                mean="NashConv (utility), mean",
                half_width="± (95 %, t)",
                peer="rlg, mean (seeds)",
            ),
            _ALL: Table(rows, _COLUMNS),
        },
        [_picture(settings, preset, runs, curves) for preset in settings.presets],
        more={
            "curves": {
                file_name(*run): list(curve) for run, curve in zip(runs, curves, strict=True)
            }
        },
    )


_OF_PEER = (
    "rlg's games are OpenSpiel's `leduc_poker`, Goofspiel with a forced last round, and "
    "Battleships in which both place and shoot at once; its policies were judged in our trees, see "
    "`benchmarks/rlg_strength.md`."
)


def _row(run: Run, last: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: last[name] for name in _COLUMNS if name in last}
    row |= {"game": run.preset, "learner": run.algorithm, "seed": run.seed}
    return {**row, "steps_per_second": last["step"] / last["seconds"]}


def _mean(
    settings: Settings,
    preset: str,
    algorithm: str,
    values: Sequence[float],
    peer: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    rlg = [
        line["nash_conv"]
        for line in peer
        if line["learner"] == f"rlg {algorithm}"
        and line["steps"] == settings.num_steps
        and _short_name(line["game"]) == _twin(preset)
    ]
    return {
        "game": preset,
        "learner": algorithm,
        "seeds": len(values),
        "mean": statistics.fmean(values),
        "half_width": student_half_width(values),
        "largest": max(values),
        "goal": _GOALS.get((algorithm, preset)),
        "peer": f"{statistics.fmean(rlg):.3g} ({len(rlg)})" if rlg else None,
    }


def _picture(settings: Settings, preset: str, runs: Sequence[Run], curves: Curves) -> Picture:
    groups: dict[str, Any] = {
        f"{run.algorithm}, seed {run.seed}": curve
        for run, curve in zip(runs, curves, strict=True)
        if run.preset == preset
    }
    title = f"{_TITLE}\n{PRESETS[preset].game}"
    return Picture(file_name("strength", preset), title, [_PANEL], groups)


def _settings_of(settings: Settings, algorithm: str) -> str:
    """A learner's settings in the first game as text, without the seed."""
    run = Run(settings.presets[0], algorithm, settings.seeds[0])
    entries = make_learner(run, settings.num_steps).settings()
    return ", ".join(f"{name} {value}" for name, value in entries.items() if name != "seed")


def _twin(preset: str) -> str:
    name = PRESETS[preset].game.partition("(")[0]
    return _TWINS.get(name, name)


def _short_name(game: str) -> str:
    """The short name of a game string; of the game itself if it was converted to turn-based."""
    return game.removeprefix("turn_based_simultaneous_game(game=").partition("(")[0]


def _judge(tables: Tables) -> Judgement:
    """Judges each learner's mean where it has a goal; open if its interval contains the goal."""
    by_learner = numbers_of(tables[_ALL], "nash_conv", "learner", "game")
    parts = {
        f"{learner} in {game}": at_most(by_learner[learner, game], goal)
        for (learner, game), goal in _GOALS.items()
        if (learner, game) in by_learner
    }
    return Judgement(verdict(parts), headline(by_learner))


def headline(by_learner: Mapping[tuple[str, str], Sequence[float]]) -> str:
    """Means and spreads over seeds, by learner and game."""
    return mean_texts({f"{name} in {game}": own for (name, game), own in by_learner.items()})


STRENGTH = Experiment(
    name="strength",
    title=_TITLE,
    metric="NashConv (utility) after the last step",
    claim=(
        "has no such experiment with these learners; held are goals for the means that were set "
        "before any seed was run: "
        + ", ".join(f"{name} in {game} {goal:g}" for (name, game), goal in _GOALS.items())
        + "."
    ),
    study=Study,
    compute=_compute,
    render=_report,
    judge=_judge,
    version=2,  # The same update rules stand in torch alone, and round otherwise.
    num_threads=1,
)
# Seeds 1 to 5 were run before.
ROWS = tuple(
    Row(STRENGTH, f"learners/{preset}", Settings((preset,)), minutes=60)
    for preset in ("leduc", "goofspiel_5_descending", "battleships_2x2")
)
