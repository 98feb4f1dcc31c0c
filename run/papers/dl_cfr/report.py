"""What an experiment with DL-CFR found: a summary, a table and a picture of it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from papers import report
from papers.dl_cfr.study import Study
from papers.report import Picture, Report
from spiel_dl.runs import plots, reports


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
      settings: what the numbers depend on, as JSON can hold it; see `Study.settings`.
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
    settings: Mapping[str, Any]
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
    config = study.config
    game = f"{study.trunk.tree.game}, depth limit {config.data.depth_limit}"
    what = f"`{study.trunk.tree.game}`, depth limit {config.data.depth_limit}"
    if "seeds" in result.settings:
        seeds = ", ".join(map(str, config.seeds))
        what += f"; data of seed {config.data.seed}, networks of seeds {seeds}"
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in result.table.rows:
        if all(panel.x in row for panel in result.panels):
            groups.setdefault(str(row[result.group]), []).append(row)
    picture = Picture(
        result.name,
        f"{result.title}\n{game}",
        result.panels,
        groups,
        result.levels,
        result.joined,
    )
    device = torch.device(config.device)
    return report.write(
        Report(
            result.name,
            result.title,
            [f"{what}.", *result.notes],
            {"Summary": result.summary, "All numbers": result.table},
            [picture],
        ),
        directory,
        result.settings,
        seconds,
        reused=sorted(study.reused),
        commits=sorted(study.parts.commits),
        used=torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
    )
