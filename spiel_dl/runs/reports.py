"""Reports of results: a JSON file for programs, and the same as Markdown for people."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from spiel_dl.runs import tensor_files
from spiel_dl.runs.run_directory import write_json


@dataclasses.dataclass(frozen=True)
class Table:
    """Some entries of some rows.

    Attributes:
      rows: one for each line of the table. An entry that a row lacks stays empty.
      titles: from the entries' names to the columns' titles, in the order of the columns.
    """

    rows: Sequence[Mapping[str, Any]]
    titles: Mapping[str, str]

    def to_markdown(self) -> str:
        """The table in Markdown."""
        lines = [list(self.titles.values()), ["---:"] * len(self.titles)]
        lines += [[_cell(row.get(name)) for name in self.titles] for row in self.rows]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def describe_run(environment: Mapping[str, Any]) -> str:
    """What was run, when, and on which code: one line, of what `describe_environment` says."""
    command, started = environment["command"], environment["started"]
    return f"`{command}`, {started}, commit {environment['git_commit']}\n"


def describe_machine(environment: Mapping[str, Any], used: str) -> str:
    """Processor, platform and versions; `used` says what of the machine was used."""
    versions = ", ".join(f"{n} {v}" for n, v in environment["versions"].items() if v)
    return (
        f"{environment['processor']}, {environment['cores']} cores, {used}; "
        f"{environment['platform']}; Python {environment['python']}; {versions}"
    )


def describe_parts(commits: Collection[str]) -> str:
    """A sentence, after a space, on what commits made the parts of a result; "" without parts."""
    return f" Parts were made by commit {', '.join(sorted(commits))}." if commits else ""


def write_report(path: str | os.PathLike[str], results: Mapping[str, Any], report: str) -> None:
    """Writes the results to `path`.json and the report to `path`.md."""
    write_json(f"{path}.json", results)
    with tensor_files.atomic_path(f"{path}.md") as temporary:
        temporary.write_text(report, encoding="utf-8")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
