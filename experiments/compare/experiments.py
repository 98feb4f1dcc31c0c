"""The comparison as an experiment, and its report: one table and one picture."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Sequence
from typing import Any

from experiments.compare.algorithm import ComparedGame
from experiments.compare.study import KINDS, Comparison, Study, compare
from experiments.study import Experiment, by_name
from spiel_dl.runs.plots import Panel
from spiel_dl.runs.reports import Picture, Report, Table

_TITLES = {
    "algorithm": "algorithm",
    "exploitability": "exploitability = NashConv / 2 (utility), at the end, mean",
    "least": "smallest of all seeds",
    "largest": "largest",
    "early": "at a tenth of the time, mean",
    "learning_seconds": "seconds of the processor, learning",
    "policy_seconds": "seconds of making the policy",
    "environment_steps": "environment steps",
    "settings": "hyperparameters",
}

_SECONDS = (
    "Seconds are of the processor. Those of a point are of learning up to it and of making its "
    "policy (training the average policy in Deep CFR and ESCHER, resolving or searching everywhere "
    "in DL-CFR and SePoT), as if it had stopped there. Setting up and judging are not counted. "
    "Where the depth limit is half of the game, search sees half of what it plays exactly: SePoT "
    "above a network that has hardly learned is mostly search."
)
_STEPS = (
    "An environment step is a move of a player, made in a game or in a traversal of the tree. "
    "Chance is not counted, nor are searches for the policy. Steps of CFR+ in C++ are those of "
    "full traversals, although it skips what neither player reaches. MCCFR in C++ does not tell "
    "its steps; in Python it is the same algorithm, counted."
)
_DL_CFR = (
    "DL-CFR alternates between solving subgames at random ranges and training, and plays by "
    "continual resolving with the resolving gadget; with particles, its network is the particle "
    "network instead of the positional one."
)


def report(study: Study, comparison: Comparison) -> Report:
    """A table of how everybody ended, and a picture of the way there."""
    settings, game = study.settings, study.game
    refusals = [f"- {title}: `{reason}`" for title, reason in comparison.refusals.items()]
    ends = table(study, comparison)
    best = sorted(ends.rows, key=operator.itemgetter("exploitability"))[:3]
    return Report(
        f"Ours and OpenSpiel's on {settings.game}",
        [
            f"Ours play `{game.ours.game}`, OpenSpiel's `{game.theirs.game}`: the same game, "
            f"history by history. Depth limits are {game.depth_limit}. Each algorithm learns for "
            f"{settings.seconds:g} seconds of the processor with one thread, with each of the "
            f"seeds {', '.join(map(str, settings.seeds))}; a step that has begun is finished. The "
            "picture shows all seeds: their mean and range, or a line each where their points are "
            "not as many.",
            _SECONDS,
            _STEPS,
            _DL_CFR,
            *(["These did not run:\n\n" + "\n".join(refusals)] if refusals else []),
        ],
        {"At the end": ends},
        [_picture(game, comparison, settings.seeds)],
        headline="; ".join(f"{row['algorithm']} {row['exploitability']:.2g}" for row in best),
        more={
            "game": str(game.ours.game),
            "game_of_openspiel": str(game.theirs.game),
            "depth_limit": str(game.depth_limit),
            "curves": comparison.curves,
            "did_not_run": comparison.refusals,
        },
    )


def table(study: Study, comparison: Comparison) -> Table:
    """A row per algorithm that ran."""
    settings = {kind.title: kind.settings for kind in KINDS.values()}
    rows, tenth = [], study.settings.seconds / 10
    for title, curves in comparison.curves.items():
        ends = [points[-1]["exploitability"] for points in curves]
        early = [
            [point["exploitability"] for point in points if point["seconds"] <= tenth]
            for points in curves
        ]
        row: dict[str, Any] = {
            name: statistics.fmean(points[-1][name] for points in curves)
            for name in _TITLES
            if all(name in points[-1] for points in curves)
        }
        row |= {"algorithm": title, "settings": settings[title]}
        row |= {"least": min(ends), "largest": max(ends)}
        if all(early):
            row["early"] = statistics.fmean(found[-1] for found in early)
        rows.append(row)
    return Table(rows, _TITLES)


def _picture(game: ComparedGame, comparison: Comparison, seeds: Sequence[int]) -> Picture:
    """Exploitability against seconds and against environment steps."""
    title = f"{game.ours.game} (OpenSpiel's algorithms: {game.theirs.game})"
    metric = "exploitability = NashConv / 2 (utility)"
    panels = [
        Panel("seconds", "exploitability", "seconds of the processor", metric),
        Panel("environment_steps", "exploitability", "environment steps", ""),
    ]
    groups = {
        f"{name}, seed {seed}": points
        for name, curves in comparison.curves.items()
        for seed, points in zip(seeds, curves, strict=True)
    }
    return Picture("compare", title, panels, groups)


EXPERIMENTS = by_name(
    Experiment("compare", "Ours and OpenSpiel's", "exploitability (utility)", "", compare, report)
)
