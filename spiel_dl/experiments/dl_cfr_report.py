"""What an experiment with DL-CFR found, and how it is written down."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from spiel_dl.experiments.dl_cfr_study import Study
from spiel_dl.io import plots, reports
from spiel_dl.io.run_directory import describe_environment


@dataclasses.dataclass(frozen=True)
class Result:
    """What an experiment found.

    Attributes:
      name: of the files.
      title: in one line.
      notes: what else there is to say, one paragraph each.
      summary: what it comes to, with the paper's numbers.
      table: all numbers.
      panels: the picture's; it shows the rows of the table that have the entries on the x-axes.
      group: the entry of such a row that names its curve.
      levels: horizontal lines of the picture, see `plots.plot_panels`.
      joined: join the points of a curve.
    """

    name: str
    title: str
    notes: Sequence[str]
    summary: reports.Table
    table: reports.Table
    panels: Sequence[plots.Panel]
    group: str
    levels: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    joined: bool = True


def write_result(
    result: Result, study: Study, directory: str | os.PathLike[str], seconds: float
) -> Path:
    """Writes a result as JSON, as Markdown with tables, and as a picture.

    Args:
      result: what was found.
      study: where.
      directory: where the files go.
      seconds: wall-clock of this start.

    Returns:
      The path of the Markdown file.
    """
    device = torch.device(study.config.device)
    content = {
        "title": result.title,
        "game": str(study.trunk.tree.game),
        "depth_limit": str(study.config.data.depth_limit),
        "settings": study.config.to_json(),
        "environment": describe_environment(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "wall_clock_seconds": seconds,
        "reused": sorted(study.reused),
        "notes": list(result.notes),
        "summary": list(result.summary.rows),
        "rows": list(result.table.rows),
        "levels": result.levels,
    }
    path = Path(directory) / result.name
    _draw(
        path.with_suffix(".png"), result, f"{content['game']}, depth limit {content['depth_limit']}"
    )
    reports.write_report(path, content, _markdown(result, content))
    return path.with_suffix(".md")


def _draw(path: Path, result: Result, domain: str) -> None:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in result.table.rows:
        if all(panel.x in row for panel in result.panels):
            groups.setdefault(str(row[result.group]), []).append(row)
    title = f"{result.title}\n{domain}"
    plots.plot_panels(
        path, result.panels, groups, title, levels=result.levels, joined=result.joined
    )


def _markdown(result: Result, content: Mapping[str, Any]) -> str:
    settings, environment = content["settings"], content["environment"]
    machine = reports.describe_machine(environment, content["device"])
    paragraphs = [
        f"# {result.title}",
        f"`{content['game']}`, depth limit {content['depth_limit']}; data of seed "
        f"{settings['data']['seed']}, networks of seeds {', '.join(map(str, settings['seeds']))}.",
        *result.notes,
        result.summary.to_markdown().rstrip(),
        f"![{result.title}]({result.name}.png)",
        result.table.to_markdown().rstrip(),
        f"{reports.describe_run(environment).rstrip()}; {machine}. Wall-clock of this start: "
        f"{content['wall_clock_seconds']:.0f} s; {len(content['reused'])} networks and smaller "
        "parts had been finished before.",
    ]
    return "\n\n".join(paragraphs) + "\n"
