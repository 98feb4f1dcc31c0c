"""What a report says first: whether a claim holds, and the numbers that a reader asks for."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from spiel_dl.play.tally import student_half_width

REPRODUCED, PARTLY, CONTRADICTS = "reproduced", "partly", "contradicts"
SMALLER, OPEN, MISSING = "smaller", "open", "missing"
WORDS = (REPRODUCED, PARTLY, CONTRADICTS, SMALLER, OPEN, MISSING)
"""What the scoreboard says of a paper's figure or table.

REPRODUCED: all that is held. PARTLY: some of it. CONTRADICTS: none of it, in the same game and
size, with enough seeds, by code that a second implementation has checked. SMALLER: none of it, in
what was cut. OPEN: what was measured cannot tell, or nothing could reach it, or nobody has checked
our code. MISSING: no report is current.
"""
FAILS = "does not hold"
"""What a criterion finds before it is asked whose doing that is; see `weighed`."""
_MOST_NAMES = 4
Tables = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of a report's tables, by heading."""
AnyRow = TypeVar("AnyRow", bound=Mapping[str, Any])


class Judgement(NamedTuple):
    """What a report says first.

    Attributes:
      verdict: what `verdict` says; "" if there is no claim.
      headline: the number that a reader asks for first.
    """

    verdict: str
    headline: str


def verdict(parts: Mapping[str, bool | None]) -> str:
    """The verdict on a claim from that on each of its parts.

    Args:
      parts: what is claimed, in a few words, and whether it holds; None where what was measured
        cannot tell.

    Returns:
      REPRODUCED or FAILS if all parts say so, OPEN if none can tell, "" if there are none;
      otherwise PARTLY, or FAILS, and which parts do not hold and which are open.
    """
    known = {name: held for name, held in parts.items() if held is not None}
    if not known:
        return OPEN if parts else ""
    failed = [name for name, held in known.items() if not held]
    is_open = [name for name in parts if name not in known]
    if not is_open and len(failed) in (0, len(known)):
        return FAILS if failed else REPRODUCED
    word = FAILS if len(failed) == len(known) else PARTLY
    told = f"{word}: {len(known) - len(failed)} of {len(parts)} parts hold"
    for what, names in (("not", failed), ("open", is_open)):
        if names:
            told += f"; {what}: {_listed(names)}"
    return told


def weighed(found: str, *, cut: str = "", checked: str = "") -> str:
    """The verdict on a paper's claim from what its criterion found.

    Args:
      found: what `verdict` says.
      cut: what the protocol asks for and was not done; "" if nothing.
      checked: by what second implementation our code was checked; "" if by none.
    """
    if not found.startswith(FAILS):
        return found
    details = found.removeprefix(FAILS)
    if cut:
        return f"{SMALLER} ({cut}){details}"
    if checked:
        return f"{CONTRADICTS} (checked by {checked}){details}"
    return f"{OPEN}: no second implementation has checked our code; it {found}"


def word_of(verdict_told: str) -> str:
    """Which of `WORDS` a verdict begins with; "" if with none."""
    return next((word for word in WORDS if verdict_told.startswith(word)), "")


def _listed(names: Sequence[str]) -> str:
    """Names, or the first of them and how many more there are."""
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*names[:_MOST_NAMES], *more])


def deviation(values: Sequence[float]) -> float:
    """The standard deviation that a sample tells of; 0 of a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def grouped(rows: Iterable[AnyRow], *names: str) -> dict[Any, list[AnyRow]]:
    """Rows by one of their entries, or by several, in the order in which these come first.

    What a row does not have is None.
    """
    found: dict[Any, list[AnyRow]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in names)
        found.setdefault(key if names[1:] else key[0], []).append(row)
    return found


def numbers_of(rows: Iterable[Mapping[str, Any]], name: str, *by: str) -> dict[Any, list[float]]:
    """One entry of all rows, by others as `grouped` has them."""
    return {key: [row[name] for row in own] for key, own in grouped(rows, *by).items()}


def at_most(values: Sequence[float], goal: float) -> bool | None:
    """Whether the mean is at most a goal; None if it is above and its 95 % interval holds it."""
    mean, half_width = statistics.fmean(values), student_half_width(values) or 0.0
    return None if mean - half_width <= goal < mean else mean <= goal


def sign_of_difference(first: Sequence[float], second: Sequence[float]) -> int:
    """The sign of the mean difference of pairs, seed by seed; 0 if the 95 % interval holds 0."""
    pairs = [one - other for one, other in zip(first, second, strict=True)]
    mean, half_width = statistics.fmean(pairs), student_half_width(pairs)
    if half_width is None or abs(mean) <= half_width:
        return 0
    return 1 if mean > 0 else -1


def is_less(first: Sequence[float], second: Sequence[float]) -> bool | None:
    """Whether the first numbers are less, seed by seed; None if the 95 % interval holds 0."""
    sign = sign_of_difference(first, second)
    return None if sign == 0 else sign < 0


def told(values: Sequence[float], of: str) -> str:
    """Mean and spread of the numbers of some runs, for a report's headline.

    Args:
      values: one number of each run, at least one.
      of: what the runs are, such as "networks".
    """
    mean, half_width = f"{statistics.fmean(values):.3g}", student_half_width(values)
    if half_width is None:
        return f"{mean} (one {of.removesuffix('s')})"
    return f"{mean} ± {half_width:.2g} (95 %, {len(values)} {of})"


def told_each(found: Mapping[str, Sequence[float]], of: str = "seeds") -> str:
    """What `told` says of several kinds of runs, each after its name."""
    return "; ".join(f"{name} {told(values, of)}" for name, values in found.items())
