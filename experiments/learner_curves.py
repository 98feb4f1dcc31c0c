"""NashConv over training, for runs of one learner that differ in their seeds.

Perolat et al. (2022) and Kubíček et al. (2023) show such curves of R-NaD. What is reported is the
policy after the last step of every run, not the best one on the way.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spiel_dl.play.tally import student_half_width
from spiel_dl.runs import plots, reports
from spiel_dl.runs.reports import Picture, Report, Table
from spiel_dl.system.environment import describe_environment
from spiel_dl.system.run_directory import read_run

_TITLES = {
    "seed": "seed",
    "step": "learner steps",
    "nash_conv": "NashConv (utility)",
    "nash_conv_fine_tuned": "fine-tuned",
    "target_nash_conv": "of the exact fixed point",
    "kl_from_target": "mean KL from that (nats)",
    "seconds": "seconds of learning",
    "steps_per_second": "learner steps/s",
}
_PANEL = plots.Panel("step", "nash_conv", "learner steps", "NashConv (utility)", "linear")


def write_curves(runs: Sequence[str | os.PathLike[str]], path: str | os.PathLike[str]) -> Path:
    """Writes a table and a picture of some runs: `path`.md, `path`.json, `path`.png.

    Args:
      runs: run directories of `learner_run.run_learner`, of one game and one configuration but for
        the seed.
      path: where to write, without ending.

    Returns:
      The path of the Markdown file.

    Raises:
      ValueError: if there is no run, one is not a run or has not been evaluated, if two have the
        same seed, or if they differ in more than the seed.
    """
    if not runs:
        raise ValueError("there are no runs; give one run directory or more")
    found = [_read(Path(run)) for run in runs]
    config = _without_seed(found[0])
    for run in found[1:]:
        if _without_seed(run) != config:
            raise ValueError(
                f"{run['directory']} and {found[0]['directory']} differ in more than their seed: "
                f"{_differences(config, _without_seed(run))}"
            )
    found.sort(key=lambda run: run["seed"])
    seeds = [run["seed"] for run in found]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"two runs have the same seed; the seeds are {seeds}")
    rows = [_last_step(run) for run in found]
    values = [row["nash_conv"] for row in rows]
    environment, half_width = describe_environment(), student_half_width(values)
    learner = ", ".join(f"{name} {value}" for name, value in config["learner"].items())
    spread = "" if half_width is None else f" ± {half_width:.3g}"
    starts = [start for run in found for start in run["starts"]]
    title = f"{config['algorithm']}: {config['game']}"
    curves = {f"seed {run['seed']}": run["metrics"] for run in found}
    report = Report(
        title,
        [
            f"Learner: {learner}.",
            f"NashConv after the last step: mean {np.mean(values):.3g}{spread} (95 %, t, over "
            "seeds).",
            "The runs:\n\n"
            + "".join(f"- {reports.describe_run(start)}" for start in starts).rstrip(),
            f"{reports.describe_machine(starts[-1], config['device'])}; runs beside each other "
            "shared the cores.",
        ],
        {"After the last step": Table(rows, _TITLES)},
        [Picture(Path(path).name, title, [_PANEL], curves)],
        more={
            "config": config,
            "mean": float(np.mean(values)),
            "half_width": half_width,
            "curves": {str(run["seed"]): run["metrics"] for run in found},
            "starts": starts,
        },
    )
    return reports.write(report, path, environment, used=config["device"])


def _read(directory: Path) -> dict[str, Any]:
    """What a run directory says."""
    config, starts, metrics = read_run(directory)
    if "learner" not in config:
        raise ValueError(f"{directory} holds no run of a learner; give one of run/train.py")
    if not metrics or "nash_conv" not in metrics[-1]:
        raise ValueError(f"{directory} holds no NashConv yet, or its game is too large for it")
    return {
        "directory": str(directory),
        "config": config,
        "seed": config["learner"]["seed"],
        "metrics": metrics,
        "starts": starts,
    }


def _without_seed(run: Mapping[str, Any]) -> dict[str, Any]:
    config = run["config"]
    learner = {name: value for name, value in config["learner"].items() if name != "seed"}
    return {**config, "learner": learner}


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """The entries in which two configurations differ."""
    flat = [{**config, **config["learner"]} for config in (first, second)]
    names = sorted((flat[0].keys() | flat[1].keys()) - {"learner"})
    pairs = ((name, flat[0].get(name), flat[1].get(name)) for name in names)
    return ", ".join(f"{name} is {a!r} and {b!r}" for name, a, b in pairs if a != b)


def _last_step(run: Mapping[str, Any]) -> dict[str, Any]:
    last = run["metrics"][-1]
    row = {name: last[name] for name in _TITLES if name in last}
    return {**row, "seed": run["seed"], "steps_per_second": last["step"] / last["seconds"]}
