"""What an experiment with responses found, and how it is written down."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spiel_dl.io import plots, reports
from spiel_dl.io.run_directory import describe_environment


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture of an experiment; see `plots.plot_panels`.

    Attributes:
      name: of the file, without ending.
      title: the complete game string, and what else is to be said.
      panels: what is drawn against what.
      groups: from label to rows.
      levels: horizontal lines.
    """

    name: str
    title: str
    panels: Sequence[plots.Panel]
    groups: Mapping[str, plots.Rows]
    levels: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Report:
    """What an experiment found.

    Attributes:
      name: of the files.
      title: in one line.
      notes: what there is to say before the tables, one paragraph each.
      tables: from heading to table.
      pictures: the pictures.
    """

    name: str
    title: str
    notes: Sequence[str]
    tables: Mapping[str, reports.Table]
    pictures: Sequence[Picture] = ()


def write(
    report: Report,
    settings: Mapping[str, Any],
    reused: Sequence[str],
    directory: str | os.PathLike[str],
    seconds: float,
    used: str = "one process",
) -> Path:
    """Writes a report as JSON, as Markdown with tables, and its pictures.

    Args:
      report: what was found.
      settings: what was asked for, as JSON can hold it.
      reused: names of parts that earlier starts had finished.
      directory: where the files go.
      seconds: wall-clock of this start.
      used: what of the machine was used.

    Returns:
      The path of the Markdown file.
    """
    content = {
        "title": report.title,
        "settings": settings,
        "environment": describe_environment(),
        "used": used,
        "wall_clock_seconds": seconds,
        "reused": list(reused),
        "notes": list(report.notes),
        "tables": {heading: list(table.rows) for heading, table in report.tables.items()},
    }
    folder = Path(directory)
    for picture in report.pictures:
        path = folder / f"{picture.name}.png"
        plots.plot_panels(
            path, picture.panels, picture.groups, picture.title, levels=picture.levels
        )
    path = folder / report.name
    reports.write_report(path, content, _markdown(report, content))
    return path.with_suffix(".md")


def _markdown(report: Report, content: Mapping[str, Any]) -> str:
    environment = content["environment"]
    paragraphs = [f"# {report.title}", *report.notes]
    for heading, table in report.tables.items():
        paragraphs += [f"## {heading}", table.to_markdown().rstrip()]
    paragraphs += [f"![{picture.title}]({picture.name}.png)" for picture in report.pictures]
    paragraphs.append(
        f"{reports.describe_run(environment).rstrip()}; "
        f"{reports.describe_machine(environment, content['used'])}. Wall-clock of this start: "
        f"{content['wall_clock_seconds']:.0f} s; {len(content['reused'])} parts had been finished "
        "before."
    )
    return "\n\n".join(paragraphs) + "\n"
