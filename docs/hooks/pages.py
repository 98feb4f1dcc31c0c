"""What turns the files of docs/ and results/ into pages of the site; knows nothing of MkDocs.

Pages are written to be read as they are, too, so what is put in at build time stands in comments:

  <!-- table 1 of results/dl_cfr/goofspiel/resolving.md -->   a table of a report, with its command
  <!-- list of results -->                                    all reports, with their commands
  <!-- api of spiel_dl.tree -->                               the docstrings of a package
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
_TABLE = re.compile(r"<!-- table (\d+) of (results/\S+\.md) -->")
_LIST = "<!-- list of results -->"
_API = re.compile(r"<!-- api of (spiel_dl[.\w]*) -->")
# On the site results/ lies below docs/, in the repository beside it.
_LINK_TO_RESULTS = re.compile(r"\]\(\.\./((?:\.\./)*results/)")


def reports() -> list[PurePosixPath]:
    """All reports, relative to the repository, sorted."""
    found = sorted((ROOT / "results").rglob("*.md"))
    return [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in found]


def title_of(report: PurePosixPath) -> str:
    """The heading of a report."""
    first = (ROOT / report).read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ")


def command_of(report: PurePosixPath) -> str:
    """The command, with date, commit and hardware, that a report says it was made by.

    Raises:
      ValueError: if it says none.
    """
    for line in (ROOT / report).read_text(encoding="utf-8").splitlines():
        if line.startswith("`python "):
            return line
    raise ValueError(f"{report} does not say by which command it was made")


def table_of(report: PurePosixPath, number: int) -> str:
    """A table of a report, in Markdown.

    Args:
      report: relative to the repository.
      number: which one, counted from 1.

    Raises:
      ValueError: if there is no such table.
    """
    text = (ROOT / report).read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", text + "\n", re.MULTILINE)
    if not 1 <= number <= len(tables):
        raise ValueError(f"{report} has {len(tables)} tables, so there is no table {number}")
    return tables[number - 1]


def modules_of(package: str) -> list[str]:
    """The modules of a package, or the module itself: names, sorted."""
    inside = package.removeprefix("spiel_dl").strip(".").replace(".", "/")
    # The games lie beside the package; setup.py says why.
    path = ROOT / inside if inside == "games" else ROOT / "spiel_dl" / inside
    if path.with_suffix(".py").exists():
        return [package]
    names = sorted(module.stem for module in path.glob("*.py") if module.stem != "__init__")
    return [f"{package}.{name}" for name in names]


def expand(markdown: str, depth: int) -> str:
    """A page with its comments replaced and its links to results turned.

    Args:
      markdown: the page.
      depth: how many folders below docs/ it lies.

    Raises:
      ValueError: if a comment names a table that does not exist.
    """

    def table(match: re.Match[str]) -> str:
        report = PurePosixPath(match[2])
        link = "../" * depth + str(report)
        return (
            f"{table_of(report, int(match[1]))}\n[{title_of(report)}]({link}): {command_of(report)}"
        )

    def api(match: re.Match[str]) -> str:
        return "\n\n".join(f"::: {module}" for module in modules_of(match[1]))

    markdown = _LINK_TO_RESULTS.sub(r"](\1", markdown)
    markdown = _API.sub(api, _TABLE.sub(table, markdown))
    return markdown.replace(_LIST, list_of_reports())


def list_of_reports() -> str:
    """All reports, with links and commands, in Markdown."""
    lines = ["| report | made by |", "|---|---|"]
    for report in reports():
        name = " / ".join(report.parts[1:-1])
        lines.append(f"| {name}: [{title_of(report)}]({report}) | {command_of(report)} |")
    return "\n".join(lines)


def notebook_page(path: Path) -> str:
    """A notebook as a page, in Markdown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"
