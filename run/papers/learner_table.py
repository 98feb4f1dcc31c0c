"""All learners in one table: NashConv of their reports, beside their goals and a peer's.

The goals were set before the seeds of the reports were run: what learners with the defaults as
shipped are to come to in 100,000 steps of 64 games with two hidden layers of 128 units.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spiel_dl.play.tally import student_half_width
from spiel_dl.runs import reports
from spiel_dl.runs.environment import describe_environment
from spiel_dl.runs.json_files import read_json
from spiel_dl.runs.reports import Report, Table

GOALS = {
    ("mmd", "python_goofspiel_ii"): 0.08,
    ("rnad", "python_goofspiel_ii"): 0.10,
    ("mmd", "python_leduc"): 0.35,
    ("rnad", "python_leduc"): 0.30,
    ("mmd", "python_battleships"): 0.016,
    ("rnad", "python_battleships"): 0.03,
}
"""The largest mean NashConv, by algorithm and short name of the game."""
NUM_STEPS = 100_000
_TWINS = {
    "python_leduc": "leduc_poker",
    "python_battleships": "python_simultaneous_battleships",
}
"""By a game of ours, the peer's where it goes by another name."""


def write_table(
    found: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    peer: str | os.PathLike[str] | None = None,
) -> Path:
    """Writes the table: `path`.md and `path`.json.

    Args:
      found: JSON files of `learner_curves.write_curves`.
      path: where to write, without ending.
      peer: the JSON file of `benchmarks/rlg_strength.py`; None: no peer.

    Returns:
      The path of the Markdown file.

    Raises:
      ValueError: if there is no report, or one is of fewer steps than the goals are for.
    """
    if not found:
        raise ValueError("there are no reports; give one JSON file of report_learners.py or more")
    lines = [] if peer is None else _lines_of_peer(peer)
    rows = [_row(Path(report), lines) for report in found]
    rows.sort(key=lambda row: (row["game"], row["learner"]))
    judged = [row for row in rows if row["goal"] is not None]
    missed = [f"{row['learner']} in {row['game']}" for row in judged if row["mean"] > row["goal"]]
    verdict = f"met: {len(judged) - len(missed)} of {len(judged)} goals"
    if missed:
        verdict = f"not met: {', '.join(missed)}; {verdict}"
    titles = {
        "learner": "learner",
        "game": "game",
        "seeds": "seeds",
        "mean": "NashConv (utility), mean",
        "half_width": "± (95 %, t)",
        "largest": "largest",
        "goal": "goal",
        "peer": "rlg, mean (seeds)",
    }
    games = dict.fromkeys(row["whole_game"] for row in rows)
    report = Report(
        "Learners with the defaults as shipped",
        [
            f"NashConv of the policy after {NUM_STEPS:,} learner steps, of all seeds that were "
            "run, from the reports beside this one, which have the commits and settings.",
            "The games:\n\n" + "".join(f"- `{game}`\n" for game in games).rstrip(),
            "rlg's games are OpenSpiel's `leduc_poker`, Goofspiel with a forced last round, and "
            "Battleships in which both place and shoot at once; its policies are judged in our "
            "trees by `benchmarks/rlg_strength.py`.",
        ],
        {"After the last step": Table(rows, titles)},
        verdict=verdict,
    )
    return reports.write(report, path, describe_environment())


def _lines_of_peer(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    content = read_json(path)
    if "lines" not in content:
        raise ValueError(f"{path} is no result of benchmarks/rlg_strength.py; give one of these")
    lines: list[dict[str, Any]] = content["lines"]
    return lines


def _row(report: Path, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    content = read_json(report)
    if "config" not in content or len(content.get("tables", ())) != 1:
        raise ValueError(f"{report} is no report of report_learners.py; give one of these")
    [rows] = content["tables"].values()
    steps = {row["step"] for row in rows}
    if steps != {NUM_STEPS}:
        raise ValueError(f"{report} is of {sorted(steps)} steps, not {NUM_STEPS}; train further")
    algorithm, game = content["config"]["algorithm"], content["config"]["game"]
    short_name = game.partition("(")[0]
    values = [row["nash_conv"] for row in rows]
    beside = [
        line["nash_conv"]
        for line in lines
        if line["learner"] == f"rlg {algorithm}"
        and line["steps"] == NUM_STEPS
        and _short_name(line["game"]) == _TWINS.get(short_name, short_name)
    ]
    return {
        "learner": algorithm,
        "game": short_name,
        "whole_game": game,
        "seeds": len(values),
        "mean": statistics.fmean(values),
        "half_width": student_half_width(values),
        "largest": max(values),
        "goal": GOALS.get((algorithm, short_name)),
        "peer": f"{statistics.fmean(beside):.3g} ({len(beside)})" if beside else None,
        "values": values,
    }


def _short_name(game: str) -> str:
    """That of a game string, of the game itself if it was made turn-based."""
    return game.removeprefix("turn_based_simultaneous_game(game=").partition("(")[0]
