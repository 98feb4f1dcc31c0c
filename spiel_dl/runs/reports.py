"""Reports of results: a JSON file for programs, the same as Markdown for people, and pictures."""

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
"""A person reads no more columns; what a wider table says besides is in the JSON file."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Some entries of some rows.

    Attributes:
      rows: one for each line of the table. An entry that a row lacks stays empty.
      titles: from the entries' names to the columns' titles, the most important first. Columns that
        are empty in all rows are left out, and so are those after the first `MAX_COLUMNS`.
    """

    rows: Sequence[Mapping[str, Any]]
    titles: Mapping[str, str]

    @staticmethod
    def of(rows: Sequence[Mapping[str, Any]], **titles: str) -> Table:
        """All entries of all rows; a column's title is its name, but for these."""
        names = dict.fromkeys(name for row in rows for name in row)
        return Table(rows, {name: titles.get(name, name) for name in names})

    @property
    def columns(self) -> list[str]:
        """The names of the entries that are shown."""
        return self._filled()[:MAX_COLUMNS]

    @property
    def rest(self) -> Table | None:
        """The columns for which there is no room, as another table; None if all are shown."""
        names = self._filled()[MAX_COLUMNS:]
        return Table(self.rows, {name: self.titles[name] for name in names}) if names else None

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [[self.titles[name] for name in self.columns], ["---:"] * len(self.columns)]
        lines += [[_cell(row.get(name)) for name in self.columns] for row in self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def show(self) -> None:
        """Prints the table: in aligned columns on a terminal, and as Markdown into a file."""
        if not sys.stdout.isatty():
            print(self.to_markdown(), end="")
            return
        from rich import box, console, table

        found = table.Table(box=box.SIMPLE_HEAD, header_style="")
        for name in self.columns:
            found.add_column(self.titles[name], justify="right", overflow="fold")
        for row in self.rows:
            found.add_row(*(_cell(row.get(name)) for name in self.columns))
        console.Console(markup=False, highlight=False).print(found)

    def _filled(self) -> list[str]:
        return [name for name in self.titles if any(row.get(name) is not None for row in self.rows)]


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture of a report; see `plots.plot_panels`.

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

    @property
    def is_of_one_place(self) -> bool:
        """Whether all its points have one x: then it shows no more than a table does."""
        rows = [row for group in self.groups.values() for row in group]
        return all(len({row[each.x] for row in rows if each.x in row}) < 2 for each in self.panels)

    def to_json(self) -> dict[str, Any]:
        """All that `redraw` needs: of the rows, the entries that are drawn; JSON has no NaN."""
        names = {name for panel in self.panels for name in (panel.x, panel.y, *panel.band)}
        groups = {
            label: [{n: row[n] for n in row if n in names and _is_drawn(row[n])} for row in rows]
            for label, rows in self.groups.items()
        }
        return dataclasses.asdict(dataclasses.replace(self, groups=groups))


@dataclasses.dataclass(frozen=True)
class Report:
    """What was found.

    Attributes:
      title: in one line.
      notes: what there is to say before the tables, one paragraph each.
      tables: from heading to table.
      pictures: the pictures. Those whose points all have one x are left out.
      verdict: whether what was claimed holds, in words; "" if nothing was claimed.
      more: what else programs can read, as JSON can hold it.
      headline: the number that a reader asks for first, with its spread; "" if there is none.
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
      report: what was found.
      path: where, without ending.
      environment: command, time, commit and machine, as `describe_environment` says them.
      seconds: wall-clock of this start.
      workspace: where the parts are that the report was made of.
      used: what of the machine was used; None: the workspace's engine, or one process.

    Returns:
      The path of the Markdown file.
    """
    path = Path(path)  # Without a slash at the end, after which there would be no name.
    pictures = [picture for picture in report.pictures if not picture.is_of_one_place]
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
        "levels": {picture.name: picture.levels for picture in report.pictures if picture.levels},
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
    """Draws the pictures of a report anew, from nothing but its JSON file.

    Args:
      path: the JSON file.

    Returns:
      The files of the pictures.

    Raises:
      ValueError: if the file does not hold what its pictures show, as old ones do not.
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
    paragraphs += [_how_it_was_made(content), *report.notes]
    for heading, table in report.tables.items():
        paragraphs += [f"## {heading}", table.to_markdown().rstrip()]
        if table.rest:
            others = "; ".join(table.rest.titles.values())
            paragraphs.append(f"More columns are in {name}.json: {others}.")
    for picture in report.pictures:
        text = picture.title.replace("\n", "; ")
        paragraphs.append(f"![{text}]({picture.name}.png)")
    return "\n\n".join(paragraphs) + "\n"


def _how_it_was_made(content: Mapping[str, Any]) -> str:
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
    """Whether a picture has a place for it: a word, or a finite number."""
    return isinstance(value, str) or (value is not None and math.isfinite(value))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number else str(value)
