"""The scoreboard: what the papers found, what we found, and whether the two agree, on one page.

Verdicts are judged anew from the numbers of the reports, by today's criteria. Where a criterion was
set after numbers had been seen, the page says so, and what the report came with.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from pathlib import Path

from experiments.experiment import OURS, Row
from experiments.ledger import CURRENT, MISSING, OLD, State, state
from experiments.manifest import MANIFEST, PAPERS
from experiments.verdicts import CONTRADICTED, MET, NOT_MET, OPEN, PARTLY, Judgement
from spiel_dl.system import tensor_files
from spiel_dl.system.messages import did_you_mean

_SMALLER = "Smaller than in the paper, or than our defaults where a paper names no size:"
_HEADER = ("where", "experiment", "metric", "ours", "verdict", "state")
_WORDS = (MET, PARTLY, NOT_MET, CONTRADICTED, OPEN)
_NO_CLAIM = "no claim"
_LONGEST = 150
"""Characters of a cell; reports have the rest."""
_Found = Sequence[tuple[Row, State]]


def open_rows(results: Path, only: Sequence[str] = ()) -> list[Row]:
    """The rows that are to be run: missing or old, and named by one of the patterns if any.

    Raises:
      ValueError: if a pattern names no row.
    """
    return [row for row in chosen_rows(only) if state(row, results).word != CURRENT]


def chosen_rows(only: Sequence[str]) -> list[Row]:
    """The rows that patterns name, as `fnmatch` has them; without patterns all.

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


def judged(row: Row, found: State) -> Judgement:
    """A report's verdict, without the claim, and its headline, by today's criterion."""
    if row.experiment.judge is not None and "tables" in found.report:
        return row.experiment.judge(found.report["tables"])
    headline = str(found.report.get("headline") or "")
    return Judgement(_without_claim(found.report.get("verdict")), headline)


def page(results: Path) -> str:
    """The scoreboard in Markdown."""
    states = [(row, state(row, results)) for row in MANIFEST]
    counts = {word: sum(s.word == word for _, s in states) for word in (CURRENT, OLD, MISSING)}
    hours = sum(row.minutes for row in MANIFEST) / 60
    parts = [
        "# Scoreboard",
        "What the papers say, what came out here, and whether the two agree. "
        "`experiments/manifest.py` lists the experiments, `make reproduce` runs what is missing or "
        "old, and `python run/reproduce.py --scoreboard_only` makes this page of the reports. "
        "[Results](results.md) has those that ended.",
        f"Of {len(states)} experiments {counts[CURRENT]} are current, {counts[OLD]} old and "
        f"{counts[MISSING]} missing. Old is a report with other inputs than are declared today "
        f"(`results/current.json`), or of no clean commit. All may take {hours:.0f} hours on two "
        "cores.",
        "A claim of several parts is partly met if some hold. *Set after* marks a criterion that "
        "was set after the numbers had been seen; what the report came with stands behind it if it "
        "was another verdict. Cells are cut; the reports have the rest.",
        _summary(states),
    ]
    by_row = dict(states)
    for is_ours in (False, True):
        if is_ours:
            parts.append("## Ours")
        for paper in PAPERS:
            own = [(row, by_row[row]) for row in paper.rows if (row.place == OURS) == is_ours]
            if own:
                parts += [f"{'###' if is_ours else '##'} {paper.title}", *_by_claim(own)]
            if own and not is_ours and paper.not_covered:
                parts.append(f"Not covered: {'; '.join(paper.not_covered)}.")
            by_what: dict[str, list[str]] = {}
            for row, _ in own:
                by_what.setdefault(row.short_of, []).append(f"`{row.name}`")
            cut = [f"- {', '.join(names)}: {what}." for what, names in by_what.items() if what]
            if cut:
                parts += [_SMALLER, "\n".join(cut)]
    return "\n\n".join(parts) + "\n"


def write_page(path: str | os.PathLike[str], results: Path) -> None:
    """Writes the scoreboard."""
    with tensor_files.atomic_path(path) as temporary:
        temporary.write_text(page(results), encoding="utf-8")


def _summary(states: _Found) -> str:
    """How many experiments of each paper, and of ours, have which verdict."""
    lines = [_line(("", *_WORDS, _NO_CLAIM)), _line(["---"] * (len(_WORDS) + 2))]
    by_row = dict(states)
    for is_ours in (False, True):
        for paper in PAPERS:
            words = [
                _word(judged(row, by_row[row]).verdict)
                for row in paper.rows
                if (row.place == OURS) == is_ours and by_row[row].report
            ]
            if words:
                counted = [words.count(word) for word in (*_WORDS, _NO_CLAIM)]
                name = f"{paper.title}{', ours' if is_ours else ''}"
                lines.append(_line((name, *(str(count or "") for count in counted))))
    return "\n".join(lines)


def _word(told: str) -> str:
    """Which of `_WORDS` a verdict begins with."""
    return next((word for word in _WORDS if told.startswith(word)), _NO_CLAIM)


def _by_claim(rows: _Found) -> list[str]:
    """A table for every claim, which stands above it."""
    claims: dict[str, list[tuple[Row, State]]] = {}
    for row, found in rows:
        claims.setdefault(row.experiment.claim, []).append((row, found))
    told = []
    for claim, own in claims.items():
        told.append(_claimed(claim))
        lines = [_line(_HEADER), _line(["---"] * len(_HEADER))]
        told.append("\n".join([*lines, *(_line(_cells(*each)) for each in own)]))
    return told


def _claimed(claim: str) -> str:
    """A claim as a sentence about the paper."""
    if not claim:
        return "The paper has no such experiments."
    return f"The paper {claim}" if claim.startswith("has ") else f"The paper: {claim}"


def _cells(row: Row, found: State) -> Sequence[str]:
    name = f"[{row.name}](../results/{row.name}.md)" if found.report else f"`{row.name}`"
    if not found.report:
        return row.place, name, row.experiment.metric, "", "", found.word
    now = judged(row, found)
    verdict = _cut(now.verdict) or ("see the tables" if row.experiment.claim else "none")
    if first := found.entry.get("came_with"):
        came = _without_claim(first["verdict"])
        is_same = _word(came) == _word(now.verdict)
        verdict += " *Set after.*" if is_same else f" *Set after; came with: {_cut(came)}.*"
    told = f"{found.word}: {'; '.join(found.why)}" if found.why else found.word
    return row.place, name, row.experiment.metric, _cut(now.headline), verdict, told


def _cut(text: str) -> str:
    """The beginning of a text that is too long for a cell."""
    if len(text) <= _LONGEST:
        return text
    begin = text[:_LONGEST]
    end = max(begin.rfind(separator) for separator in ("; ", ", ", " "))
    return f"{begin[:end]} …"


def _without_claim(verdict: str | None) -> str:
    return (verdict or "").split(". The paper:")[0].split("; the paper has no")[0]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
