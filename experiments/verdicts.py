"""Verdicts on claims, and the statistics and headlines that go with them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from spiel_dl.play.tally import Tally

REPRODUCED, PARTLY, CONTRADICTS = "reproduced", "partly", "contradicts"
SMALLER, OPEN, MISSING = "smaller", "open", "missing"
WORDS = (REPRODUCED, PARTLY, CONTRADICTS, SMALLER, OPEN, MISSING)
"""The scoreboard's verdicts on a paper's figure or table.

REPRODUCED: every part of the claim holds. PARTLY: some parts hold. Where none holds: CONTRADICTS in
the same game and size, with enough seeds, by code that a second implementation has checked; SMALLER
if our run is smaller than the paper's; OPEN if the measurement cannot decide, nothing could reach
the claim, or our code is not checked so. MISSING: no report is current.
"""
FAILS = "does not hold"
"""A criterion's verdict where no part of the claim holds; `qualified` makes it one of `WORDS`."""
_MOST_NAMES = 4
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a report's tables, by heading."""
AnyRow = TypeVar("AnyRow", bound=Mapping[str, Any])


class Judgement(NamedTuple):
    """Verdict and headline of a report.

    Attributes:
      verdict: as the function `verdict` returns it; "" if there is no claim.
      headline: the main numbers.
    """

    verdict: str
    headline: str


def verdict(parts: Mapping[str, bool | None]) -> str:
    """The verdict on a claim from the verdicts on its parts.

    Args:
      parts: whether each part of the claim, named in a few words, holds; None: undecided.

    Returns:
      REPRODUCED if all parts hold, FAILS if none does, OPEN if all are undecided, "" if there are
      no parts; otherwise PARTLY or FAILS with the parts that do not hold and those that are open.
    """
    decided = {name: held for name, held in parts.items() if held is not None}
    if not decided:
        return OPEN if parts else ""
    failed = [name for name, held in decided.items() if not held]
    is_open = [name for name in parts if name not in decided]
    if not is_open and len(failed) in (0, len(decided)):
        return FAILS if failed else REPRODUCED
    word = FAILS if len(failed) == len(decided) else PARTLY
    text = f"{word}: {len(decided) - len(failed)} of {len(parts)} parts hold"
    for label, names in (("not", failed), ("open", is_open)):
        if names:
            text += f"; {label}: {_listed(names)}"
    return text


def counted(cases: Mapping[str, Sequence[bool]]) -> tuple[dict[str, bool | None], str]:
    """Parts of a claim that are to hold in every case.

    Args:
      cases: for each part, whether it holds in each case.

    Returns:
      Whether each part holds, None without cases; and "NAME K of N" for all, in how many cases.
    """
    parts = {name: all(held) if held else None for name, held in cases.items()}
    return parts, ", ".join(f"{name} {sum(held)} of {len(held)}" for name, held in cases.items())


def qualified(criterion_verdict: str, *, cut: str = "", checked: str = "") -> str:
    """The verdict on a paper's claim from its criterion's, which says no cause.

    Args:
      criterion_verdict: as `verdict` returns it.
      cut: what of the paper's protocol was not done; "" if nothing.
      checked: the second implementation that our code was checked against; "" if none.
    """
    if not criterion_verdict.startswith(FAILS):
        return criterion_verdict
    details = criterion_verdict.removeprefix(FAILS)
    if cut:
        return f"{SMALLER} ({cut}){details}"
    if checked:
        return f"{CONTRADICTS} (checked by {checked}){details}"
    return f"{OPEN}: no second implementation has checked our code; it {criterion_verdict}"


def word_of(verdict_text: str) -> str:
    """The one of `WORDS` that a verdict begins with; "" if none."""
    return next((word for word in WORDS if verdict_text.startswith(word)), "")


def _listed(names: Sequence[str]) -> str:
    """Names, or the first of them and how many more there are."""
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*names[:_MOST_NAMES], *more])


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 of a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def student_half_width(values: Sequence[float]) -> float | None:
    """Half the width of a 95% interval of the mean, by Student's t; None of a single value."""
    return Tally.of(np.array(values)).half_width if len(values) > 1 else None


def grouped(rows: Iterable[AnyRow], *names: str) -> dict[Any, list[AnyRow]]:
    """Rows grouped by one or several entries, in order of first occurrence.

    A missing entry counts as None.
    """
    groups: dict[Any, list[AnyRow]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in names)
        groups.setdefault(key if names[1:] else key[0], []).append(row)
    return groups


def numbers_of(rows: Iterable[Mapping[str, Any]], name: str, *by: str) -> dict[Any, list[float]]:
    """One entry of all rows, grouped by other entries, see `grouped`."""
    return {key: [row[name] for row in own] for key, own in grouped(rows, *by).items()}


def at_most(values: Sequence[float], goal: float) -> bool | None:
    """Whether the mean is at most a goal; None if its 95 % interval contains the goal."""
    mean, half_width = statistics.fmean(values), student_half_width(values) or 0.0
    return None if abs(mean - goal) < half_width else mean <= goal


def difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float | None]:
    """The mean paired difference by seed, and half its 95 % interval; None of a single seed."""
    pairs = [one - other for one, other in zip(first, second, strict=True)]
    return statistics.fmean(pairs), student_half_width(pairs)


def is_less(first: Sequence[float], second: Sequence[float]) -> bool | None:
    """Whether the first numbers are less by seed; None if the 95 % interval contains 0."""
    mean, half_width = difference(first, second)
    return None if half_width is None or abs(mean) <= half_width else mean < 0


def mean_text(values: Sequence[float], of: str) -> str:
    """Mean and 95 % interval over runs as text, for a report's headline.

    Args:
      values: one number of each run, at least one.
      of: the noun for the runs, such as "networks".
    """
    mean, half_width = f"{statistics.fmean(values):.3g}", student_half_width(values)
    if half_width is None:
        return f"{mean} (one {of.removesuffix('s')})"
    return f"{mean} ± {half_width:.2g} (95 %, {len(values)} {of})"


def mean_texts(samples: Mapping[str, Sequence[float]], of: str = "seeds") -> str:
    """`mean_text` of several samples, each after its name."""
    return "; ".join(f"{name} {mean_text(values, of)}" for name, values in samples.items())
