"""The scoreboard: what the papers found, what we found, and whether the two agree, on one page.

It is made of the manifest and of the reports' JSON files. A report is

  missing   if there is none;
  old       if the code has changed since in a way that matters, as `changes.CHANGES` says, if its
            settings are not those of the manifest, if it lacks a headline or was judged by another
            claim, or if no clean commit made all of its parts;
  current   otherwise.
"""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import functools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.changes import CHANGES, Change
from experiments.judging import judge_again
from experiments.manifest import MANIFEST
from experiments.paper import PAPERS
from experiments.row import Row
from experiments.study import CONTRADICTED, MET, NOT_MET, OPEN, PARTLY
from spiel_dl.system import tensor_files
from spiel_dl.system.messages import did_you_mean
from spiel_dl.tree.from_openspiel import load_turn_based

CURRENT, OLD, MISSING = "current", "old", "missing"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NO_HEADLINE, _OTHER_CLAIM = "no headline", "judged by another claim"
_SMALLER = (
    "Smaller than in the paper, or than our defaults where a paper names no size, to save time:"
)
_HEADER = ("where", "experiment", "metric", "ours", "verdict", "state")
_OURS = "ours"
"""The place of rows that a paper does not have."""
_WORDS = (MET, PARTLY, NOT_MET, CONTRADICTED, OPEN)
_NO_CLAIM = "no claim"


@dataclasses.dataclass(frozen=True)
class State:
    """Whether a row's report stands.

    Attributes:
      word: CURRENT, OLD or MISSING.
      why: the reasons for which it is old, in words.
      report: what its JSON file says; empty if there is none.
    """

    word: str
    why: Sequence[str]
    report: Mapping[str, Any]


def state(row: Row, results: Path, changes: Sequence[Change] = CHANGES) -> State:
    """Whether a row's report stands.

    Raises:
      ValueError: if the report cannot be read.
    """
    path = row.report(results)
    if not path.exists():
        return State(MISSING, (), {})
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON file ({error}); run {row.command}") from error
    why = [*_changed_since(row, report, changes), *_other_settings(row, report), *_unclean(report)]
    if "claim" in report and report["claim"] != row.declared.claim:
        why.append(_OTHER_CLAIM)
    if not report.get("headline"):
        why.append(_NO_HEADLINE)
    return State(OLD if why else CURRENT, tuple(why), report)


def needs_new_parts(found: State) -> bool:
    """Whether a report is old for what its parts are, so that the same parts cannot mend it."""
    return any(reason not in (_NO_HEADLINE, _OTHER_CLAIM) for reason in found.why)


def _changed_since(row: Row, report: Mapping[str, Any], changes: Sequence[Change]) -> Iterator[str]:
    started = report["environment"]["started"]
    times = [started, report.get("oldest_part") or started]
    made = min(map(datetime.datetime.fromisoformat, times))
    for change in changes:
        matters = any(is_about(pattern, row) for pattern in change.rows)
        if matters and made < datetime.datetime.fromisoformat(change.when):
            yield change.what


def _other_settings(row: Row, report: Mapping[str, Any]) -> Iterator[str]:
    """A setting that the report was not made with; what an experiment adds itself is not asked."""
    wanted = _complete(json.loads(json.dumps(row.declared.settings(row.settings()))))
    told = _complete(report.get("settings") or {})
    other = [name for name in wanted if name in told and told[name] != wanted[name]]
    missing = [name for name in wanted if name not in told]
    if other or missing:
        yield f"other settings: {', '.join([*other, *missing])}"


def _complete(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with complete game strings: a report may have one where the manifest has not."""
    found = dict(settings)
    for name, value in settings.items():
        if isinstance(value, dict):
            found[name] = _complete(value)
        elif name == "game" and isinstance(value, str):
            found[name] = _complete_game(value)
    return found


@functools.cache
def _complete_game(game: str) -> str:
    try:
        return str(load_turn_based(game))
    except ValueError:  # a paper's own name of a game
        return game


def _unclean(report: Mapping[str, Any]) -> Iterator[str]:
    commits = [report["environment"].get("git_commit"), *report.get("commits_of_parts", [])]
    if not all(_COMMIT.fullmatch(str(commit)) for commit in commits):
        yield "not made by a clean commit"
    elif len(set(commits[1:])) > 1:
        yield "parts of several commits"


def is_about(pattern: str, row: Row) -> bool:
    """Whether a pattern, as `fnmatch` has them, names a row."""
    return fnmatch.fnmatchcase(row.name, pattern)


def open_rows(results: Path, only: Sequence[str] = ()) -> list[Row]:
    """The rows that are to be run: missing or old, and named by one of the patterns if any.

    Raises:
      ValueError: if a pattern names no row.
    """
    for pattern in only:
        if not any(is_about(pattern, row) for row in MANIFEST):
            nearest = did_you_mean(pattern, [row.name for row in MANIFEST])
            raise ValueError(
                f"{pattern!r} names no experiment of the manifest{nearest or ';'} --list names "
                "those that are open; an experiment needs a Row in its paper's rows.py"
            )
    return [
        row
        for row in MANIFEST
        if (not only or any(is_about(pattern, row) for pattern in only))
        and state(row, results).word != CURRENT
    ]


def page(results: Path) -> str:
    """The scoreboard in Markdown."""
    states = [(row, state(row, results)) for row in MANIFEST]
    counts = {word: sum(s.word == word for _, s in states) for word in (CURRENT, OLD, MISSING)}
    parts = [
        "# Scoreboard",
        "Experiments of the papers, and ours: what the paper says, what came out here, and whether "
        "the two agree. Benchmarks are not among them. What is not covered "
        "stands below each paper. `experiments/manifest.py` "
        "lists them, `make reproduce` runs what is missing or old, and this page is made of the "
        "reports' JSON files by `python run/reproduce.py --scoreboard_only`, which judges reports "
        "anew where their criterion has become another one.",
        f"Of {len(states)} experiments {counts[CURRENT]} are current, {counts[OLD]} old and "
        f"{counts[MISSING]} missing. Old is a report since which the code has changed in a way "
        "that matters, that has other settings than the manifest or no headline, or that no clean "
        "commit made. "
        f"All of them may take {sum(row.minutes for row in MANIFEST) / 60:.0f} hours on two cores.",
        "A claim of several parts is partly met if some hold, and the verdict names those that do "
        "not. *Set after* marks a criterion that was set after the numbers had been seen; what the "
        "report came with stands behind it if it was another verdict.",
        _summary(states),
    ]
    for paper in PAPERS.values():
        own = [(row, found) for row, found in states if row.paper == paper.name]
        if own:
            parts.append(f"## {paper.title}")
        for is_ours, heading in ((False, "Experiments of the paper"), (True, "Ours")):
            chosen = [each for each in own if (each[0].place == _OURS) == is_ours]
            if chosen:
                parts += [f"### {heading}", *_by_claim(chosen)]
        if paper.not_covered:
            parts.append(f"Not covered: {'; '.join(paper.not_covered)}.")
        by_what: dict[str, list[str]] = {}
        for row, _ in own:
            by_what.setdefault(row.short_of, []).append(f"`{row.name}`")
        cut = [f"- {', '.join(names)}: {what}." for what, names in by_what.items() if what]
        if cut:
            parts += [_SMALLER, "\n".join(cut)]
    return "\n\n".join(parts) + "\n"


def _summary(states: Sequence[tuple[Row, State]]) -> str:
    """How many experiments of each paper, and of ours, have which verdict."""
    lines = [_line(("", *_WORDS, _NO_CLAIM)), _line(["---"] * (len(_WORDS) + 2))]
    for paper in PAPERS.values():
        for is_ours in (False, True):
            words = [
                _word(_verdict(found.report))
                for row, found in states
                if row.paper == paper.name and (row.place == _OURS) == is_ours and found.report
            ]
            if words:
                name = f"{paper.title}{', ours' if is_ours else ''}"
                counted = [words.count(word) for word in (*_WORDS, _NO_CLAIM)]
                lines.append(_line((name, *(str(count or "") for count in counted))))
    return "\n".join(lines)


def _word(told: str) -> str:
    """Which of `_WORDS` a verdict begins with."""
    return next((word for word in _WORDS if told.startswith(word)), _NO_CLAIM)


def _by_claim(rows: Sequence[tuple[Row, State]]) -> list[str]:
    """A table for every claim, which stands above it."""
    claims: dict[str, list[tuple[Row, State]]] = {}
    for row, found in rows:
        claims.setdefault(row.declared.claim, []).append((row, found))
    told = []
    for claim, own in claims.items():
        told.append(_claimed(claim))
        lines = [_line(_HEADER), _line(["---"] * len(_HEADER))]
        told.append("\n".join([*lines, *(_line(_cells(*each)) for each in own)]))
    return told


def judge_all(results: Path) -> list[Path]:
    """Judges all reports by today's criteria, see `judging`; returns those that were changed."""
    told = [(row.report(results), row.declared) for row in MANIFEST]
    return [path for path, declared in told if path.exists() and judge_again(path, declared)]


def write_page(path: str | os.PathLike[str], results: Path) -> None:
    """Writes the scoreboard."""
    with tensor_files.atomic_path(path) as temporary:
        temporary.write_text(page(results), encoding="utf-8")


def _claimed(claim: str) -> str:
    """A claim as a sentence about the paper."""
    if not claim:
        return "The paper has no such experiments."
    return f"The paper {claim}" if claim.startswith("has ") else f"The paper: {claim}"


def _cells(row: Row, found: State) -> Sequence[str]:
    report = found.report
    name = f"[{row.name}](../results/{row.name}.md)" if report else f"`{row.name}`"
    verdict = "" if _OTHER_CLAIM in found.why else _verdict(report)
    if "judged_anew" in report:
        first = _verdict(report["judged_anew"])
        is_same = _word(first) == _word(verdict)
        verdict += " *Set after.*" if is_same else f" *Set after; came with: {first}.*"
    told = f"{found.word}: {'; '.join(found.why)}" if found.why else found.word
    headline = str(report.get("headline") or "")
    return row.place, name, row.declared.metric, headline, verdict, told


def _verdict(report: Mapping[str, Any]) -> str:
    """A report's verdict, without the claim."""
    return str(report.get("verdict") or "").split(". The paper:")[0].split("; the paper has no")[0]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
