"""The report of a comparison: one table and one picture."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from papers.compare.study import KINDS, Comparison
from spiel_dl.runs import plots, reports

_TITLES = {
    "contender": "contender",
    "exploitability": "exploitability = NashConv / 2 (utility), at the end",
    "early": "at a tenth of the time",
    "least": "least on the way",
    "learning_seconds": "seconds of learning",
    "processor_seconds": "processor's",
    "policy_seconds": "seconds of making the policy",
    "environment_steps": "environment steps",
    "settings": "hyperparameters",
}

_SECONDS = (
    "Seconds of a point are those of learning up to it, and those that making its policy took "
    "(training the average policy in Deep CFR and ESCHER, resolving or searching everywhere in "
    "DL-CFR and SePoT), as if it had stopped there. Setting up and judging are not counted. "
    "Where the processor's seconds are fewer than those of learning, other work was on the machine."
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


def write(
    comparison: Comparison, directory: str | os.PathLike[str], environment: Mapping[str, Any]
) -> Path:
    """Writes a comparison as JSON, as Markdown with a table, and as a picture.

    Args:
      comparison: what came out.
      directory: where the files go.
      environment: command, time, commit and machine, as `io.run_directory.describe_environment`
        says them.

    Returns:
      The path of the Markdown file.
    """
    path = Path(directory) / comparison.config.file_name
    game = comparison.game
    results = {
        "game": str(game.ours.game),
        "game_of_openspiel": str(game.theirs.game),
        "depth_limit": str(game.depth_limit),
        "seconds": comparison.config.seconds,
        "seed": comparison.config.seed,
        "curves": comparison.curves,
        "did_not_run": comparison.refusals,
        "commits_of_parts": comparison.commits,
        "environment": environment,
    }
    _draw(f"{path}.png", comparison)
    reports.write_report(path, results, _markdown(comparison, environment, path.name))
    return Path(f"{path}.md")


def table(comparison: Comparison) -> reports.Table:
    """A row per contender that ran."""
    settings = {kind.title: kind.settings for kind in KINDS.values()}
    rows = []
    for title, points in comparison.curves.items():
        last = points[-1]
        tenth = comparison.config.seconds / 10
        early = [point for point in points if point["seconds"] <= tenth]
        row = {name: last[name] for name in _TITLES if name in last}
        row |= {"contender": title, "settings": settings[title]}
        row["least"] = min(point["exploitability"] for point in points)
        if early:
            row["early"] = early[-1]["exploitability"]
        rows.append(row)
    return reports.Table(rows, _TITLES)


def _draw(path: str | os.PathLike[str], comparison: Comparison) -> None:
    """The picture: exploitability against seconds and against environment steps, as a PNG."""
    title = f"{comparison.game.ours.game} (OpenSpiel's contenders: {comparison.game.theirs.game})"
    panels = [
        plots.Panel(
            "seconds",
            "exploitability",
            "seconds of wall-clock",
            "exploitability = NashConv / 2 (utility)",
        ),
        plots.Panel("environment_steps", "exploitability", "environment steps", ""),
    ]
    plots.plot_panels(path, panels, comparison.curves, title)


def _markdown(comparison: Comparison, environment: Mapping[str, Any], name: str) -> str:
    config, game = comparison.config, comparison.game
    refusals = [f"- {title}: `{reason}`" for title, reason in comparison.refusals.items()]
    paragraphs = [
        f"# Ours and OpenSpiel's on {config.game}",
        f"Ours play `{game.ours.game}`, OpenSpiel's `{game.theirs.game}`: the same game, history "
        f"by history. Depth limits are {game.depth_limit}. Each contender learns for "
        f"{config.seconds:g} seconds of wall-clock with one thread and seed {config.seed}; a step "
        "that has begun is finished.",
        _SECONDS,
        _STEPS,
        _DL_CFR,
        table(comparison).to_markdown().rstrip(),
        *(["These did not run:\n\n" + "\n".join(refusals)] if refusals else []),
        f"![Exploitability]({name}.png)",
        f"{reports.describe_run(environment).rstrip()}; "
        f"{reports.describe_machine(environment, 'one thread')}."
        f" Measured by commit {', '.join(comparison.commits)}."
        + (
            f" Measured by earlier starts: {', '.join(comparison.reused)}."
            * bool(comparison.reused)
        ),
    ]
    return "\n\n".join(paragraphs) + "\n"
