"""What turns the files of docs/ and results/ into pages; knows nothing of what renders them.

Pages are written to be read as they are, too. So what is put in at build time is a link to it,
which a comment follows; the link says where it stands in the repository:

  [What it shows](../../results/dl_cfr/goofspiel/exact.md) <!-- table 1 -->    a report's table
  [Its title](../results/dl_cfr/goofspiel/exact.md) <!-- command -->           and its command

Links to files that lie elsewhere on the site are turned.
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
_REPORT = r"\[[^\]]*\]\((?:\.\./)*(results/[^)\s]+\.md)\)"
_TABLE = re.compile(_REPORT + r" <!-- table (\d+) -->")
_COMMAND = re.compile(_REPORT + r" <!-- command -->")
_HARDWARE = re.compile(r"\b\d+ cores?\b")
_TURNED = {
    # On the site results/ lies below docs/, in the repository beside it.
    re.compile(r"\]\(\.\./((?:\.\./)*results/)"): r"](\1",
    # The notebook is a page, and CONTRIBUTING.md lies beside the pages.
    re.compile(r"(\]\([^)\s]*notebooks/\w+)\.ipynb\)"): r"\1.md)",
    re.compile(r"\]\(docs/"): "](",
}


def reports() -> list[PurePosixPath]:
    """All reports, relative to the repository, sorted."""
    found = sorted((ROOT / "results").rglob("*.md"))
    return [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in found]


def title_of(report: PurePosixPath) -> str:
    """The heading of a report; without the brackets of lists, which would end a link's text."""
    first = (ROOT / report).read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# ").replace("=[", "=").replace("]", "")


def command_of(report: PurePosixPath) -> str:
    """The command, with date, commit and hardware, that a report says it was made by.

    Raises:
      ValueError: if it says no command, or no hardware.
    """
    lines = (ROOT / report).read_text(encoding="utf-8").splitlines()
    command = next((line for line in lines if line.startswith("`python ")), None)
    if command is None:
        raise ValueError(f"{report} does not say by which command it was made")
    if _HARDWARE.search(command):
        return command
    # Some reports name it in a line of its own, of which the first sentence is about it.
    hardware = next((line for line in lines if _HARDWARE.search(line)), None)
    if hardware is None:
        raise ValueError(f"{report} does not say on which hardware it was made")
    return f"{command}; {hardware.split('. ')[0]}"


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


def expand(markdown: str, depth: int) -> str:
    """A page with its comments replaced and its links turned.

    Args:
      markdown: the page.
      depth: how many folders below docs/ it lies.

    Raises:
      ValueError: if a comment names a table that does not exist.
    """

    def table(match: re.Match[str]) -> str:
        report = PurePosixPath(match[1])
        link = "../" * depth + str(report)
        return (
            f"{table_of(report, int(match[2]))}\n[{title_of(report)}]({link}): {command_of(report)}"
        )

    def command(match: re.Match[str]) -> str:
        report = PurePosixPath(match[1])
        return f"[{title_of(report)}]({'../' * depth}{report}): {command_of(report)}"

    for link, turned in _TURNED.items():
        markdown = link.sub(turned, markdown)
    for comment, replacement in ((_TABLE, table), (_COMMAND, command)):
        markdown = comment.sub(replacement, markdown)
    return markdown


def notebook_page(path: Path) -> str:
    """A notebook as a page, in Markdown."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"
