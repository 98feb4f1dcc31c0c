"""Policy gradients in games too large to list, as one experiment: exploitability along the way."""

from __future__ import annotations

import statistics
from typing import Any

from experiments.policy_gradients.study import JUDGED, Run, Settings, Study
from experiments.study import OPEN, Experiment, Judgement, Tables, by_name, told, verdict
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.runs.workspace import file_name

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
    partial = (
        f"Partial: {settings.environment_steps:,} of the paper's {_BUDGET:,} environment steps, "
        f"{', '.join(settings.algorithms)}, {len(settings.games)} of the paper's 5 games, "
        f"seeds {', '.join(map(str, settings.seeds))}."
    )
    return Report(
        "",
        [
            *([partial] if settings != Settings() else []),
            "Exploitability is exact: half the NashConv of the policy that the learner hands out, "
            "by the game's factored form. An environment step is a move of a player; the learner "
            "step in which a number of them is reached is finished first.",
            f"{settings.batch_size} games per learner step, hidden layers "
            f"{list(settings.hidden_sizes)}, all else as shipped: hyperparameters were chosen in "
            "other games, not for these, while the paper's are the best of a sweep.",
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
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        last = max((name for name in row if name.isdigit()), key=int)
        found.setdefault((row["game"], row["algorithm"]), []).append(row[last])
    means = {key: statistics.fmean(values) for key, values in found.items()}
    holds = {
        f"{name} in {game}": means[game, name] <= means[game, _PEER]
        for game, name in means
        if name in _GENERIC and (game, _PEER) in means
    }
    is_known = min(map(len, found.values())) > 1
    headlines = [
        f"{algorithm} in {game}: {told(values, 'seeds')}"
        for (game, algorithm), values in found.items()
    ]
    counted = f"{sum(holds.values())} of {len(holds)} comparisons with {_PEER} hold"
    told_of_seeds = verdict(holds) if is_known or not holds else OPEN
    return Judgement(told_of_seeds, "; ".join([counted, *headlines]))


EXPERIMENTS = by_name(
    Experiment(
        "large_games",
        _TITLE,
        "exploitability = NashConv / 2 (utility)",
        "generic policy gradients do no worse than what was made for imperfect information "
        "(abstract; curves without numbers); held of PPO and of MMD, each against R-NaD, and open "
        "with one seed.",
        lambda study: study.curves(),
        report,
        judge=_judge,
    )
)
