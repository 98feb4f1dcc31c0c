"""NashConv of the learners after training, with their defaults, beside goals and a peer."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.learners.study import Run, Settings, Study, make_learner
from experiments.study import Experiment, Judgement, Tables, by_name, told, verdict
from spiel_dl.play.presets import PRESETS
from spiel_dl.play.tally import student_half_width
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name

_GOALS = {
    ("mmd", "goofspiel_5_descending"): 0.08,
    ("rnad", "goofspiel_5_descending"): 0.10,
    ("mmd", "leduc"): 0.35,
    ("rnad", "leduc"): 0.30,
    ("mmd", "battleships_2x2"): 0.016,
    ("rnad", "battleships_2x2"): 0.03,
}
"""The largest mean NashConv, set before any seed was run; PPO has none."""
_TWINS = {
    "python_leduc": "leduc_poker",
    "python_battleships": "python_simultaneous_battleships",
}
"""By a game of ours, the peer's where it goes by another name."""
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
Curves = Sequence[Sequence[Mapping[str, Any]]]


def _report(study: Study, curves: Curves) -> Report:
    """Means with goals and a peer, all runs, and a picture of each game."""
    settings, runs = study.settings, study.runs
    peer = study.lines_of_peer()
    rows = [_row(run, curve[-1]) for run, curve in zip(runs, curves, strict=True)]
    means = []
    for preset in settings.presets:
        for algorithm in settings.algorithms:
            own = [row for row in rows if (row["game"], row["learner"]) == (preset, algorithm)]
            means.append(_mean(settings, preset, algorithm, own, peer))
    learners = [
        f"{algorithm}: {_settings_of(Run(settings.presets[0], algorithm, settings.seeds[0]))}."
        for algorithm in settings.algorithms
    ]
    return Report(
        "",
        [
            f"NashConv of the policy after {settings.num_steps:,} learner steps, of all seeds "
            "that were run.",
            *(f"{preset} is `{PRESETS[preset].game}`." for preset in settings.presets),
            *learners,
            *([_OF_PEER] if peer else []),
        ],
        {
            _MEANS: Table(
                means,
                {
                    "game": "game",
                    "learner": "learner",
                    "seeds": "seeds",
                    "mean": "NashConv (utility), mean",
                    "half_width": "± (95 %, t)",
                    "largest": "largest",
                    "goal": "goal",
                    "peer": "rlg, mean (seeds)",
                },
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
    "Battleships in which both place and shoot at once; its policies are judged in our trees by "
    "`benchmarks/rlg_strength.py`."
)


def _row(run: Run, last: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: last[name] for name in _COLUMNS if name in last}
    row |= {"game": run.preset, "learner": run.algorithm, "seed": run.seed}
    return {**row, "steps_per_second": last["step"] / last["seconds"]}


def _mean(
    settings: Settings,
    preset: str,
    algorithm: str,
    rows: Sequence[Mapping[str, Any]],
    peer: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    values = [row["nash_conv"] for row in rows]
    beside = [
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
        "peer": f"{statistics.fmean(beside):.3g} ({len(beside)})" if beside else None,
    }


def _picture(settings: Settings, preset: str, runs: Sequence[Run], curves: Curves) -> Picture:
    groups: dict[str, Any] = {
        f"{run.algorithm}, seed {run.seed}": curve
        for run, curve in zip(runs, curves, strict=True)
        if run.preset == preset
    }
    title = f"{_TITLE}\n{PRESETS[preset].game}"
    return Picture(file_name("strength", preset), title, [_PANEL], groups)


def _settings_of(run: Run) -> str:
    """What a learner of a run learns by, but for its seed, in words."""
    told_of = make_learner(run).settings()
    return ", ".join(f"{name} {value}" for name, value in told_of.items() if name != "seed")


def _twin(preset: str) -> str:
    name = PRESETS[preset].game.partition("(")[0]
    return _TWINS.get(name, name)


def _short_name(game: str) -> str:
    """That of a game string, of the game itself if it was made turn-based."""
    return game.removeprefix("turn_based_simultaneous_game(game=").partition("(")[0]


def _judge(tables: Tables) -> Judgement:
    """Every learner that has a goal in a game, by its mean."""
    means, rows = tables[_MEANS], tables[_ALL]
    parts = {
        f"{row['learner']} in {row['game']}": row["mean"] <= row["goal"]
        for row in means
        if row.get("goal") is not None
    }
    headlines = []
    for row in means:
        values = [
            each["nash_conv"]
            for each in rows
            if (each["game"], each["learner"]) == (row["game"], row["learner"])
        ]
        headlines.append(f"{row['learner']} in {row['game']} {told(values, 'seeds')}")
    return Judgement(verdict(parts), "; ".join(headlines))


EXPERIMENTS = by_name(
    Experiment(
        "strength",
        _TITLE,
        "NashConv (utility) after the last step",
        "has no such experiment with these learners; held are goals for the means that were set "
        "before any seed was run: "
        + ", ".join(f"{name} in {game} {goal:g}" for (name, game), goal in _GOALS.items())
        + ".",
        lambda study: study.curves(),
        _report,
        ("presets", "algorithms", "seeds", "num_steps", "steps_per_evaluation"),
        _judge,
    )
)
