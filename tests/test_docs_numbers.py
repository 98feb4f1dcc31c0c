"""Numbers in README and in the pages of docs/ are those of the reports that stand beside them."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import PAGES, ROOT, name_of

NUMBER = r"(?<![\w.,/=])[-\u2212]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\d.]*\d)"
DECIMAL = r"(?<![\w.,/=])[-\u2212]?\d[\d,]*\.\d+(?:e-?\d+)?(?![\d.]*\d)"
LINK_TO_REPORT = r"\]\(([^)\s]*results/[^)\s]*\.md)\)"
CHECKED_STRICTLY = [ROOT / "README.md", ROOT / "docs" / "measured.md"]
# Code, targets of links, places in papers, and arXiv's numbers of papers.
NO_RESULTS = r"`[^`]*`|(?<=\])\([^)]*\)|[Ss]ections? [\d.]+(?: and [\d.]+)?|\b\d{4}\.\d{5}\b"
GENERATED = [ROOT / "docs" / "scoreboard.md"]
# Numbers of other pages that no report has, with the reason.
WITHOUT_REPORT: dict[str, dict[str, str]] = {
    "docs/deviations.md": {
        "2.6": "the paper's",
        "6.5": "the largest utility: 5 + 4 + 3 + 2 - 1, halved",
        "0.42": "the paper's",
        "0.419": "tests/experiments/test_played_game.py",
        "0.382": "tests/experiments/test_played_game.py",
    }
}


def value_of(text: str) -> float:
    return float(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def rounds_to(number: float, text: str) -> bool:
    """Whether a number is that of a text, as far as the text has digits; without sign, either."""
    value = value_of(text)
    mantissa, _, exponent = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - decimals) if decimals else 0.0
    number = number if value < 0 else abs(number)
    return abs(number - value) <= unit / 2 * (1 + 1e-9)


def entries(content: object) -> Iterator[str]:
    """All entries of tables, as texts."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for inner in content:
            yield from entries(inner)
    elif content is not None and not isinstance(content, bool):
        yield str(content)


@functools.cache
def entries_of(report: Path) -> tuple[str, ...]:
    """The entries of a report's tables and headline; a benchmark's tables are in its page only."""
    text = report.read_text(encoding="utf-8")
    data = report.with_suffix(".json")
    content = json.loads(data.read_text(encoding="utf-8")) if data.exists() else {}
    if "tables" not in content:
        return tuple(re.findall(r"^\|.*$", text, re.MULTILINE))
    return (*entries(content["tables"]), content.get("headline", ""))


@functools.cache
def numbers_told(report: Path) -> tuple[float, ...]:
    return tuple(value_of(each) for text in entries_of(report) for each in re.findall(NUMBER, text))


@functools.cache
def numbers_of_page(report: Path) -> tuple[float, ...]:
    """Those of tables and headline, and of the page's text, but for the line of the command."""
    text = re.sub(r"^`python.*$", "", report.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return (*numbers_told(report), *map(value_of, re.findall(NUMBER, text)))


def reports_linked(page: Path, text: str) -> list[Path]:
    return [(page.parent / link).resolve() for link in re.findall(LINK_TO_REPORT, text)]


def claims() -> Iterator[tuple[str, str, list[Path]]]:
    """What stands in bold or beside a ± in the tables of numbers, and the row's reports."""
    for page in CHECKED_STRICTLY:
        for row in re.findall(r"^\|.*$", page.read_text(encoding="utf-8"), re.MULTILINE):
            reports = reports_linked(page, row)
            intervals = re.findall(rf"± ({NUMBER})", row) if reports else []
            for claim in [*re.findall(r"\*\*(.+?)\*\*", row), *intervals]:
                yield name_of(page), claim, reports


@pytest.mark.parametrize(("page", "claim", "reports"), list(claims()), ids=str)
def test_what_is_measured_is_in_reports(page: str, claim: str, reports: list[Path]):
    assert reports, f"{page}: no report is linked beside {claim}"
    if re.fullmatch(NUMBER, claim):
        assert any(rounds_to(n, claim) for report in reports for n in numbers_told(report))
    else:
        assert any(
            re.search(rf"\b{claim}\b", text) for report in reports for text in entries_of(report)
        )


def paragraphs(page: Path) -> Iterator[tuple[str, list[Path]]]:
    """A page's paragraphs without code and links, each with the reports that it is of.

    These are those that it links to, those of the next paragraph and of others that follow if
    there is nothing but a link in between, and for a table those of the paragraph before.
    """
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = re.split(r"\n\s*\n", text)
    linked = [reports_linked(page, paragraph) for paragraph in found]
    for place, paragraph in enumerate(found):
        reports = list(linked[place])
        if paragraph.startswith("|") and place:
            reports += linked[place - 1]
        for following, others in zip(found[place + 1 :], linked[place + 1 :], strict=True):
            reports += others
            if not re.fullmatch(r"\s*!?\[[^\]]*\]\([^)]*\)( <!--.*-->)?\s*", following):
                break
        yield re.sub(NO_RESULTS, "", paragraph), reports


@pytest.mark.parametrize("page", [p for p in PAGES if p not in GENERATED], ids=name_of)
def test_numbers_of_pages_are_those_of_reports(page: Path):
    wrong = set()
    for paragraph, reports in paragraphs(page):
        for match in re.finditer(DECIMAL, paragraph) if reports else ():
            number = match[0]
            digits = re.sub(r"\D", "", number.partition("e")[0]).lstrip("0")
            # Shares are told in percent.
            percent = re.match(r"(?: (?:to|and|or|±) [\d.]+)* %", paragraph[match.end() :])
            scales = (1, 100) if percent else (1,)
            numbers = itertools.chain.from_iterable(map(numbers_of_page, reports))
            if len(digits) > 1 and not any(
                rounds_to(scale * each, number) for each in numbers for scale in scales
            ):
                wrong.add(number)
    excused = set(WITHOUT_REPORT.get(name_of(page), {}))
    assert wrong - excused == set(), "the paragraph links to no report that has these"
    assert excused <= wrong, "some exceptions are none any more"
