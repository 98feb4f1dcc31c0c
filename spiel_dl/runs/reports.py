"""Reports of results: JSON for programs, Markdown for people, and pictures."""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spiel_dl.runs import plots
from spiel_dl.runs.workspace import Workspace
from spiel_dl.system import tensor_files
from spiel_dl.system.json_files import read_json, write_json

MAX_COLUMNS = 8
"""Maximum of a readable table; further columns are in the JSON file."""


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of rows, whose columns are entries of the rows.

    Attributes:
      rows: one for each line of the table. Missing entries stay empty.
      titles: the columns' titles by names of entries, the most important first. Columns that are
        empty in all rows are left out, and so are those after the first `MAX_COLUMNS`.
    """

    rows: Sequence[Mapping[str, Any]]
    titles: Mapping[str, str]

    @staticmethod
    def of(rows: Sequence[Mapping[str, Any]], **titles: str) -> Table:
        """A table of all entries of all rows; the default title of a column is its entry's name."""
        names = dict.fromkeys(name for row in rows for name in row)
        return Table(rows, {name: titles.get(name, name) for name in names})

    @property
    def columns(self) -> list[str]:
        """The names of the entries that are shown."""
        return self._non_empty()[:MAX_COLUMNS]

    @property
    def rest(self) -> Table | None:
        """The columns after the first `MAX_COLUMNS`, as another table; None if there are none."""
        names = self._non_empty()[MAX_COLUMNS:]
        return Table(self.rows, {name: self.titles[name] for name in names}) if names else None

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [[self.titles[name] for name in self.columns], ["---:"] * len(self.columns)]
        lines += [[_cell(row.get(name)) for name in self.columns] for row in self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def show(self) -> None:
        """Prints the table: in aligned columns on a terminal, else as Markdown."""
        if not sys.stdout.isatty():
            print(self.to_markdown(), end="")
            return
        from rich import box, console, table

        rich_table = table.Table(box=box.SIMPLE_HEAD, header_style="")
        for name in self.columns:
            rich_table.add_column(self.titles[name], justify="right", overflow="fold")
        for row in self.rows:
            rich_table.add_row(*(_cell(row.get(name)) for name in self.columns))
        console.Console(markup=False, highlight=False).print(rich_table)

    def _non_empty(self) -> list[str]:
        return [name for name in self.titles if any(row.get(name) is not None for row in self.rows)]


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture of a report; see `plots.plot_panels`.

    Attributes:
      name: of the file, without ending.
      title: the complete game string, and further description.
      panels: the panels.
      groups: rows by label.
      levels: horizontal lines.
      joined: join the points of a curve.
    """

    name: str
    title: str
    panels: Sequence[plots.Panel]
    groups: Mapping[str, plots.Rows]
    levels: Mapping[str, Mapping[str, float]] = dataclasses.field(default_factory=dict)
    joined: bool = True

    @property
    def has_single_x(self) -> bool:
        """Whether all points of each panel have the same x, so that a table shows as much."""
        rows = [row for group in self.groups.values() for row in group]
        return all(len({row[p.x] for row in rows if p.x in row}) < 2 for p in self.panels)

    def to_json(self) -> dict[str, Any]:
        """The content for `redraw`: rows keep the entries that are drawn; JSON has no NaN."""
        names = {name for panel in self.panels for name in (panel.x, panel.y, *panel.band)}
        groups = {
            label: [{n: row[n] for n in row if n in names and _is_drawn(row[n])} for row in rows]
            for label, rows in self.groups.items()
        }
        return dataclasses.asdict(dataclasses.replace(self, groups=groups))


@dataclasses.dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes:
      title: in one line.
      notes: paragraphs before the tables.
      tables: by heading.
      pictures: the pictures. Those whose points all have one x are left out.
      verdict: whether the claim under test holds, in words; "" if there is no claim.
      more: further entries of the JSON file.
      headline: the most important number, with its spread; "" if there is none.
    """

    title: str
    notes: Sequence[str]
    tables: Mapping[str, Table]
    pictures: Sequence[Picture] = ()
    verdict: str = ""
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    headline: str = ""


def write(
    report: Report,
    path: str | os.PathLike[str],
    environment: Mapping[str, Any],
    *,
    seconds: float | None = None,
    workspace: Workspace | None = None,
    used: str | None = None,
) -> Path:
    """Writes a report to `path`.json and `path`.md, and its pictures beside them.

    Args:
      report: the content.
      path: without ending.
      environment: command, time, commit and machine, from `describe_environment`.
      seconds: wall-clock of this start.
      workspace: of the parts that the report was made of.
      used: processes and threads that were used; None: the workspace's engine, or one process.

    Returns:
      The path of the Markdown file.
    """
    path = Path(path)  # Without a slash at the end, after which there would be no name.
    pictures = [picture for picture in report.pictures if not picture.has_single_x]
    content: dict[str, Any] = {
        "title": report.title,
        "verdict": report.verdict,
        "headline": report.headline,
        "settings": {},  # Unless `Report.more` has them.
        "environment": dict(environment),
        "used": used or (workspace.engine.threads if workspace else "one process"),
        "wall_clock_seconds": seconds,
        "reused": sorted(workspace.reused) if workspace else [],
        "commits_of_parts": sorted(workspace.commits) if workspace else [],
        "oldest_part": min(workspace.finished, default=None) if workspace else None,
        "notes": list(report.notes),
        "tables": {heading: list(table.rows) for heading, table in report.tables.items()},
        "pictures": [picture.to_json() for picture in pictures],
        **report.more,
    }
    write_json(f"{path}.json", content)
    text = _markdown(dataclasses.replace(report, pictures=pictures), content, path.name)
    with tensor_files.atomic_path(f"{path}.md") as temporary:
        temporary.write_text(text, encoding="utf-8")
    for picture in pictures:
        _draw(picture, path.parent)
    return Path(f"{path}.md")


def redraw(path: str | os.PathLike[str]) -> list[Path]:
    """Draws the pictures of a report again, from its JSON file.

    Args:
      path: the JSON file.

    Returns:
      The files of the pictures.

    Raises:
      ValueError: if the file does not hold the pictures' data, as old ones do not.
    """
    content = read_json(path)
    if "pictures" not in content:
        raise ValueError(
            f"{path} has no entry 'pictures'; only running its experiment redraws them"
        )
    drawn = []
    for entry in content["pictures"]:
        panels = [plots.Panel(**panel) for panel in entry["panels"]]
        drawn.append(_draw(Picture(**{**entry, "panels": panels}), Path(path).parent))
    return drawn


def _draw(picture: Picture, folder: Path) -> Path:
    path = folder / f"{picture.name}.png"
    plots.plot_panels(
        path,
        picture.panels,
        picture.groups,
        picture.title,
        levels=picture.levels,
        joined=picture.joined,
    )
    return path


def _markdown(report: Report, content: Mapping[str, Any], name: str) -> str:
    paragraphs = [f"# {report.title}"]
    if report.verdict:
        paragraphs.append(f"**Verdict:** {report.verdict}")
    if report.headline:
        paragraphs.append(f"**Ours:** {report.headline}")
    paragraphs += [_provenance(content), *report.notes]
    for heading, table in report.tables.items():
        paragraphs += [f"## {heading}", table.to_markdown().rstrip()]
        if table.rest:
            others = "; ".join(table.rest.titles.values())
            paragraphs.append(f"More columns are in {name}.json: {others}.")
    for picture in report.pictures:
        text = picture.title.replace("\n", "; ")
        paragraphs.append(f"![{text}]({picture.name}.png)")
    return "\n\n".join(paragraphs) + "\n"


def _provenance(content: Mapping[str, Any]) -> str:
    """A paragraph with command, time, commit, machine, versions and reused parts."""
    run = content["environment"]
    versions = ", ".join(f"{n} {v}" for n, v in run["versions"].items() if v)
    text = (
        f"`{run['command']}`, {run['started']}, commit {run['git_commit']}; "
        f"{run['processor']}, {run['cores']} cores, {content['used']}; "
        f"{run['platform']}; Python {run['python']}; {versions}."
    )
    if content["wall_clock_seconds"] is not None:
        text += f" Wall-clock of this start: {content['wall_clock_seconds']:.0f} s."
    if content["commits_of_parts"]:
        reused, commits = len(content["reused"]), ", ".join(content["commits_of_parts"])
        text += f" {reused} parts had been finished before. Parts were made by commit {commits}."
    return text


def _is_drawn(value: Any) -> bool:
    """Whether a plot can show a value: a string, or a finite number."""
    return isinstance(value, str) or (value is not None and math.isfinite(value))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number else str(value)
