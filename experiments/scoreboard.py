"""Writes the papers' results beside ours, with verdicts.

`docs/scoreboard.md` has a line for every figure or table, explains each contradiction in two
sentences, and lists what is missing. A table of all rows is at the end of `docs/results.md`;
everything else is in the reports.

Verdicts are judged anew from the numbers of the reports, by today's criteria. Where a criterion was
set after numbers had been seen, the table of all rows says so and gives the earlier verdict.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from experiments.experiment import OURS, Row
from experiments.ledger import CURRENT, MISSING, OLD, State, state
from experiments.manifest import MANIFEST, PAPERS
from experiments.verdicts import CONTRADICTS, Judgement, word_of
from experiments.verdicts import MISSING as NO_REPORT
from spiel_dl.system import tensor_files
from spiel_dl.system.messages import did_you_mean

ALL_ROWS = "## All rows"
"""The heading in `docs/results.md` below which everything is generated."""
_HEADER = ("where", "what", "paper", "ours", "size", "verdict", "cause")
_APPENDIX = ("where", "report", "ours", "verdict", "state")
_NOT_JUDGED = "not judged"
_HOURS = "Hours are for two cores."
_LONGEST, _SHORT = 100, 70
"""Most characters of a cell in the table of all rows, and of a row's text on the scoreboard."""
_DECIMAL = re.compile(r"\d\.\d")


def open_rows(results: Path, only: Sequence[str] = ()) -> list[Row]:
    """The rows to run: missing or old, and matched by a pattern if there are patterns.

    Raises:
      ValueError: if a pattern names no row.
    """
    return [row for row in chosen_rows(only) if state(row, results).word != CURRENT]


def chosen_rows(only: Sequence[str]) -> list[Row]:
    """The rows whose names match one of the `fnmatch` patterns; all rows without patterns.

    Raises:
      ValueError: if a pattern names no row.
    """
    for pattern in only:
        if not any(fnmatch.fnmatchcase(row.name, pattern) for row in MANIFEST):
            nearest = did_you_mean(pattern, [row.name for row in MANIFEST])
            raise ValueError(f"{pattern!r} names no row{nearest or ';'} --list names all of them")
    return [
        row
        for row in MANIFEST
        if not only or any(fnmatch.fnmatchcase(row.name, pattern) for pattern in only)
    ]


def judged(row: Row, status: State) -> Judgement:
    """A report's verdict (without the claim) and headline, by today's criterion.

    An old report is not judged anew, as its tables may have other contents.
    """
    headline = str(status.report.get("headline") or "")
    if "tables" not in status.report or status.word == OLD:
        return Judgement(_without_claim(status.report.get("verdict")), headline)
    judgement = row.experiment.judge(status.report["tables"])
    return judgement._replace(verdict=row.verdict(judgement.verdict))


def page(results: Path) -> str:
    """The scoreboard in Markdown."""
    states = {row.name: state(row, results) for row in MANIFEST}
    with_verdict = [
        row
        for row in MANIFEST
        if row.place != OURS
        and states[row.name].word == CURRENT
        and word_of(judged(row, states[row.name]).verdict)
    ]
    num_set_after = sum("came_with" in states[row.name].entry for row in with_verdict)
    parts = [
        "# Scoreboard",
        "One line for each figure or table of the four papers. *Reproduced*: every part of the "
        "claim holds. *Partly*: some parts hold. Where none holds, the verdict is *contradicts* "
        "(same game and size, enough seeds, our code checked by a second implementation), "
        "*smaller* (our run is smaller than the paper's) or *open* (our code is not checked so, "
        "or the measurement cannot decide). *Not judged*: there is no criterion. What is "
        "*chosen* the paper leaves open; a *reading* is how we read it. Verdicts are judged anew "
        f"from the numbers of the reports, by today's criteria; for {num_set_after} of "
        f"{len(with_verdict)} reports the criterion was set after the numbers had been seen "
        "([which](results.md#all-rows)). A report begins with the verdict of its day. [All "
        "rows](results.md#all-rows) adds experiments of our own and says which reports are "
        "current.",
    ]
    contradictions, missing = [], []
    for paper in PAPERS:
        rows = [row for row in paper.rows if row.place != OURS]
        if not rows:
            continue
        current_rows = [row for row in rows if states[row.name].word == CURRENT]
        lines = [_line(_HEADER), _line(["---"] * len(_HEADER))]
        metric = ""
        for group in _groups(current_rows):
            lines.append(_line(_cells(group, states, metric)))
            metric = group[0].experiment.metric
        parts += [f"## {paper.title}", "\n".join(lines)]
        contradictions += [
            f"- `{row.name}`: {row.why}"
            for row in current_rows
            if judged(row, states[row.name]).verdict.startswith(CONTRADICTS)
        ]
        to_run = [row for row in rows if row not in current_rows]
        items = [*_to_run(to_run, states), *paper.not_covered]
        if items:
            missing.append("\n".join([f"- {paper.title}", *(f"    - {item}" for item in items)]))
    parts += ["## Contradictions", "\n".join(contradictions) or "None.", "## Missing"]
    parts += [_HOURS, "\n".join(missing)] if missing else ["None."]
    return "\n\n".join(parts) + "\n"


def appendix(results: Path) -> str:
    """The table of all rows, with their states, in Markdown."""
    states = [(row, state(row, results)) for row in MANIFEST]
    counts = {word: sum(s.word == word for _, s in states) for word in (CURRENT, OLD, MISSING)}
    hours = sum(row.minutes for row in MANIFEST) / 60
    parts = [
        ALL_ROWS,
        "`python run/reproduce.py --list` names all rows, and `--scoreboard_only` makes this "
        f"table from the reports. Of {len(states)} rows {counts[CURRENT]} are current, "
        f"{counts[OLD]} old and {counts[MISSING]} missing. A report is old if the inputs declared "
        "today, or the zoo's networks in it, differ from its own (`results/current.json`), or if "
        f"it was not made from a clean commit. All rows together take about {hours:.0f} hours on "
        "two cores. Each report begins with the paper's number and our criterion; numbers of rows "
        "with a line on the [scoreboard](scoreboard.md) are given there. *Set after*: the "
        "criterion was set after the numbers had been seen; an earlier verdict is added if it was "
        "different.",
    ]
    by_name = dict(zip((row.name for row, _ in states), states, strict=True))
    for paper in PAPERS:
        lines = [_line(_APPENDIX), _line(["---"] * len(_APPENDIX))]
        lines += [_line(_all_cells(*by_name[row.name])) for row in paper.rows]
        parts += [f"### {paper.title}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def write_pages(scoreboard: str | os.PathLike[str], all_rows: Path, results: Path) -> None:
    """Writes the scoreboard, and the table of all rows at the end of its page."""
    with tensor_files.atomic_path(scoreboard) as temporary:
        temporary.write_text(page(results), encoding="utf-8")
    own = all_rows.read_text(encoding="utf-8").split(ALL_ROWS)[0].rstrip() + "\n\n"
    with tensor_files.atomic_path(all_rows) as temporary:
        temporary.write_text(own + appendix(results), encoding="utf-8")


def _groups(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows that share a line: of one experiment, place and number of the paper."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.experiment.name, row.place, row.paper), []).append(row)
    yield from groups.values()


def _cells(rows: Sequence[Row], states: dict[str, State], metric_above: str) -> Sequence[str]:
    """The cells of a scoreboard line; where numbers need it, with a metric unlike that above."""
    ours, verdicts = [], []
    what, metric = rows[0].experiment.title, rows[0].experiment.metric
    for row in rows:
        judgement = judged(row, states[row.name])
        headline = _cut(judgement.headline, _SHORT)
        if _DECIMAL.search(headline) and metric != metric_above:
            what = f"{rows[0].experiment.title}; *{metric}*"
        ours.append(f"[{_domain(row)}](../results/{row.name}.md) {headline}")
        verdicts.append(word_of(judgement.verdict) or _NOT_JUDGED)
    if len(set(verdicts)) == 1:
        verdicts = verdicts[:1]
    sizes = dict.fromkeys(_size(row) for row in rows)
    causes = dict.fromkeys(row.cause for row in rows if row.cause)
    first = rows[0]
    cells = (first.place, what, first.paper, "; ".join(ours))
    return *cells, "; ".join(sizes), ", ".join(verdicts), "; ".join(causes)


def _size(row: Row) -> str:
    """What of the paper's protocol is cut, and what the paper leaves open."""
    cut = _cut(row.short_of, _SHORT) or ("" if row.chosen else "as in the paper")
    return "; ".join(filter(None, (cut, row.chosen and f"chosen: {row.chosen}")))


def _domain(row: Row) -> str:
    """A row's folder within its paper's."""
    return row.folder.partition("/")[2] or row.folder


def _to_run(rows: Sequence[Row], states: dict[str, State]) -> Iterator[str]:
    """Lines about rows without a current report, with the hours that they take."""
    for group in _groups(rows):
        names = ", ".join(f"`{row.name}`" for row in group)
        minutes = sum(row.minutes for row in group)
        takes = f"{minutes / 60:.0f} h" if minutes >= 60 else f"{minutes:.0f} min"
        old = [row for row in group if states[row.name].word == OLD]
        links = ", ".join(f"[{_domain(row)}](../results/{row.name}.md)" for row in old)
        old_reports = f"; old report: {links}" if old else ""
        yield f"{group[0].place}: {names} ({takes}{old_reports})"


def _all_cells(row: Row, status: State) -> Sequence[str]:
    """The cells of a line in the table of all rows."""
    if not status.report:
        return row.place, f"`{row.name}`", "", NO_REPORT, row.short_of
    judgement = judged(row, status)
    verdict = _cut(judgement.verdict, _LONGEST) or _NOT_JUDGED
    if first := status.entry.get("came_with"):
        before = _first_word(_without_claim(first["verdict"]) or _NOT_JUDGED)
        is_same = before == _first_word(verdict)
        verdict += " *Set after.*" if is_same else f" *Set after; before: {before}.*"
    why = f"{status.word}: {'; '.join(status.why)}" if status.why else status.word
    name = f"[{row.name}](../results/{row.name}.md)"
    is_shown = row.place != OURS and status.word == CURRENT
    ours = "" if is_shown else _cut(judgement.headline, _LONGEST)
    return row.place, name, ours, verdict, why


def _cut(text: str, longest: int) -> str:
    """The text, cut with an ellipsis if it is too long for a cell."""
    if len(text) <= longest:
        return text
    begin = text[:longest]
    end = max(begin.rfind(separator) for separator in ("; ", ", ", " "))
    return f"{begin[:end]} …"


def _first_word(verdict: str) -> str:
    """A verdict without its details."""
    return word_of(verdict) or re.split(r"[:(]", verdict)[0].strip()


def _without_claim(verdict: str | None) -> str:
    text = (verdict or "").split(". The paper:")[0].split("; the paper has no")[0]
    return "" if text in ("none", "see the tables") else text


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
