"""Judges reports anew: by today's criteria, from the tables that they have.

What an experiment measured stays as it is. Where `Experiment.judge` or its claim has become another
since, the report's verdict, headline and claim follow it, and the report says so, and what it came
with: a criterion that is chosen after the numbers were seen is not one that was set before. Where
claim and verdict are the same, and only the parts are named that hold, nothing has to be said.

Nor does a criterion become one that was set before by running the same seeds again, so a report
that takes another one's place says what `keep_what_was_seen` knows of that one.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.study import Experiment
from spiel_dl.runs import reports

_VERDICT, _HEADLINE = "**Verdict:** ", "**Ours:** "
_JUDGED, _SEEN = "Judged anew on ", "The criterion was set after "


def judge_again(path: Path, experiment: Experiment[Any]) -> bool:
    """Brings a report's verdict, headline and claim to today's criterion.

    Args:
      path: the JSON file of the report, beside its Markdown.
      experiment: what it is of.

    Returns:
      Whether the report was changed.
    """
    if experiment.judge is None:
        return False
    content = json.loads(path.read_text(encoding="utf-8"))
    judged = experiment.judge(content["tables"])
    now = {
        "verdict": experiment.in_words(judged.verdict),
        "headline": judged.headline,
        "claim": experiment.claim,
    }
    if all(content.get(name) == value for name, value in now.items()):
        return False
    markdown = path.with_suffix(".md").read_text(encoding="utf-8")
    before = content.get("judged_anew")
    if before is None and _is_worded_anew(content, now):
        reports.write_report(
            path.with_suffix(""),
            {**content, **now},
            _with_judgement(markdown, now["verdict"], now["headline"]),
        )
        return True
    first = before or {name: content.get(name) for name in now}
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    told = (
        f"{_JUDGED}{day} from the tables below, by a criterion that was set after they had "
        f"been seen. The report {_came_with(first)} Where the text below names a criterion, it "
        "is the earlier one."
    )
    reports.write_report(
        path.with_suffix(""),
        {**content, **now, "judged_anew": {**first, "on": day}},
        _with_judgement(markdown, now["verdict"], now["headline"], told),
    )
    return True


def keep_what_was_seen(path: Path, earlier: Mapping[str, Any] | None) -> bool:
    """Says in a report that its criterion was set after an earlier one had been seen, if it was.

    Args:
      path: the JSON file of the new report, beside its Markdown.
      earlier: what the JSON file of the report in its place held; None: there was none.

    Returns:
      Whether the report was changed: not if there was no such criterion, or if the seeds are
      others than those that had been seen.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if earlier is None or "claim" not in content or "judged_anew" in content:
        return False
    first = earlier.get("judged_anew")
    if first is None and earlier.get("claim") not in (None, content["claim"]):
        first = {name: earlier.get(name) for name in ("verdict", "headline", "claim")}
    now, seen = (
        set((each.get("settings") or {}).get("seeds") or ()) for each in (content, earlier)
    )
    if first is None or (now and seen and not now & seen):
        return False
    told = (
        f"{_SEEN}an earlier report with the same seeds, or some of them, had been seen. That "
        f"report {_came_with(first)}"
    )
    markdown = path.with_suffix(".md").read_text(encoding="utf-8")
    reports.write_report(
        path.with_suffix(""),
        {**content, "judged_anew": first},
        _with_judgement(markdown, content["verdict"], content["headline"], told),
    )
    return True


def _came_with(first: Mapping[str, Any]) -> str:
    """The verdict and the headline that a report had at first, in words."""
    verdict, headline = first["verdict"] or "no verdict", first["headline"] or "no headline"
    return f"came with: {verdict} Ours: {headline}."


def _is_worded_anew(content: Mapping[str, Any], now: Mapping[str, str]) -> bool:
    """Whether a claim and its verdict are the same, and only more, or less, is said of parts."""
    word, wanted = (re.split("[:.;]", each.get("verdict") or "")[0] for each in (content, now))
    return content.get("claim") == now["claim"] and word == wanted


def _with_judgement(markdown: str, verdict: str, headline: str, *told: str) -> str:
    """A report with another verdict and headline, which it may not have had, below its title."""
    paragraphs = markdown.split("\n\n")
    left = [
        each
        for each in paragraphs[1:]
        if not each.startswith((_VERDICT, _HEADLINE, _JUDGED, _SEEN))
    ]
    return "\n\n".join(
        [paragraphs[0], f"{_VERDICT}{verdict}", f"{_HEADLINE}{headline}", *told, *left]
    )
