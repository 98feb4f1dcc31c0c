"""What an experiment found, and how it is written down."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from spiel_dl.runs import plots, reports
from spiel_dl.runs.parts import Parts
from spiel_dl.runs.run_directory import describe_environment


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture of an experiment; see `plots.plot_panels`.

    Attributes:
      name: of the file, without ending.
      title: the complete game string, and what else is to be said.
      panels: what is drawn against what.
      groups: from label to rows.
      levels: horizontal lines.
      joined: join the points of a curve.
    """

    name: str
    title: str
    panels: Sequence[plots.Panel]
    groups: Mapping[str, plots.Rows]
    levels: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    joined: bool = True


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
    directory: str | os.PathLike[str],
    settings: Mapping[str, Any],
    seconds: float,
    *,
    reused: Collection[str] = (),
    commits: Collection[str] = (),
    used: str = "one process",
) -> Path:
    """Writes a report as JSON, as Markdown with tables, and its pictures.

    Args:
      report: what was found.
      directory: where the files go.
      settings: what was asked for, as JSON can hold it.
      seconds: wall-clock of this start.
      reused: names of parts that earlier starts had finished.
      commits: of the code that made the parts, see `Parts.commits`.
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
        "reused": sorted(reused),
        "commits_of_parts": sorted(commits),
        "notes": list(report.notes),
        "tables": {heading: list(table.rows) for heading, table in report.tables.items()},
        "levels": {picture.name: picture.levels for picture in report.pictures if picture.levels},
    }
    folder = Path(directory)
    for picture in report.pictures:
        plots.plot_panels(
            folder / f"{picture.name}.png",
            picture.panels,
            picture.groups,
            picture.title,
            levels=picture.levels,
            joined=picture.joined,
        )
    path = folder / report.name
    reports.write_report(path, content, _markdown(report, content))
    return Path(f"{path}.md")


def run_each(
    names: Sequence[str], known: Collection[str], parts: Parts, run: Callable[[str], Path]
) -> list[Path]:
    """Runs experiments by name, each with its own account of finished parts.

    Args:
      names: which.
      known: the names that there are.
      parts: where all of them keep what is finished.
      run: runs one and writes its report, whose path it returns.

    Raises:
      ValueError: if there is no such experiment; then none is run.
    """
    for name in names:
        if name not in known:
            raise ValueError(f"experiment {name!r} must be one of {', '.join(known)}")
    paths = []
    for name in names:
        parts.start_anew()
        paths.append(run(name))
    return paths


def _markdown(report: Report, content: Mapping[str, Any]) -> str:
    environment = content["environment"]
    paragraphs = [f"# {report.title}", *report.notes]
    for heading, table in report.tables.items():
        paragraphs += [f"## {heading}", table.to_markdown().rstrip()]
    paragraphs += [
        f"![{_one_line(picture.title)}]({picture.name}.png)" for picture in report.pictures
    ]
    last = (
        f"{reports.describe_run(environment).rstrip()}; "
        f"{reports.describe_machine(environment, content['used'])}. Wall-clock of this start: "
        f"{content['wall_clock_seconds']:.0f} s; {len(content['reused'])} parts had been finished "
        f"before.{reports.describe_parts(content['commits_of_parts'])}"
    )
    return "\n\n".join([*paragraphs, last]) + "\n"


def _one_line(title: str) -> str:
    return title.replace("\n", "; ")
