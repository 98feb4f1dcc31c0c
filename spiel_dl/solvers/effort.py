"""`Effort`: how long to iterate, for all iterative solvers and searches."""

from __future__ import annotations

import dataclasses
import math
import time

from spiel_dl.solvers.variants import CFR_PLUS, Weighting, variant_by_name
from spiel_dl.tree.counts import checked_count, is_number, is_positive

_MAX_BATCH = 100
"""The most iterations between two checks of gap and time."""
_SHARE_OF_TIME = 1.0 / 8
"""The largest share of the time limit between two checks of the clock."""


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long to iterate, and by which variant of CFR.

    Attributes:
      iterations: The most iterations of CFR.
      tolerance: Stop at this gap, where it is known, as a share of the game's largest utility, see
        `share_of_largest`; None: do all iterations.
      seconds: Stop after this time, but not before the first iteration; None: no limit.
      variant: The variant of CFR, or its name in `variants.VARIANTS`.
    """

    iterations: int = 1000
    tolerance: float | None = None
    seconds: float | None = None
    variant: Weighting = CFR_PLUS

    def __post_init__(self) -> None:
        object.__setattr__(self, "variant", variant_by_name(self.variant))
        object.__setattr__(self, "iterations", checked_count("iterations", self.iterations, 1))
        tolerance, seconds = self.tolerance, self.seconds
        if tolerance is not None and not (is_number(tolerance) and 0 <= tolerance < math.inf):
            raise ValueError(f"tolerance={tolerance!r} must be at least 0 and finite, or None")
        if seconds is not None and not is_positive(seconds):
            raise ValueError(f"seconds={seconds!r} must be positive and finite, or None")

    def allowed_gap(self, utility_range: float) -> float | None:
        """The tolerance in utility units of a game with this largest minus smallest utility."""
        if self.tolerance is None:
            return None
        return share_of_largest(self.tolerance, utility_range)

    def in_unit(self, unit: float) -> Effort:
        """The same effort for a game whose utilities are multiplied by `unit`."""
        if self.tolerance is None:
            return self
        return dataclasses.replace(self, tolerance=self.tolerance * unit)


def share_of_largest(share: float, utility_range: float) -> float:
    """A share of a game's largest utility, taken as half of the utility range, in utility units.

    Args:
      share: of 1.
      utility_range: largest minus smallest utility; utilities may be shifted by a constant.
    """
    return share * utility_range / 2


def check_effort(effort: object) -> None:
    """Raises a ValueError if `effort` is no `Effort`."""
    if not isinstance(effort, Effort):
        example = effort if isinstance(effort, int) and effort > 0 else 100
        raise ValueError(f"effort={effort!r} must be an Effort, such as Effort({example})")


def check_no_tolerance(effort: Effort) -> None:
    """Raises a ValueError if an effort has a tolerance; for solvers that know no gap.

    Gaps are known of what looks to the end of the game, and above multi-valued leaves.
    """
    check_effort(effort)
    if effort.tolerance is not None:
        raise ValueError(
            f"tolerance={effort.tolerance} cannot be used here: no gap is known of averages that "
            "are kept, nor above the leaves of a value function; leave it out, and give iterations "
            "or seconds"
        )


class Clock:
    """Divides the iterations of an `Effort` into batches between checks of gap and time."""

    def __init__(self, effort: Effort):
        """Starts the time limit."""
        self._effort = effort
        self._start = time.perf_counter()

    def allows(self, iteration: int) -> bool:
        """Whether another iteration may follow after `iteration` of them."""
        if iteration >= self._effort.iterations:
            return False
        seconds = self._effort.seconds
        return iteration == 0 or seconds is None or time.perf_counter() - self._start < seconds

    def next_iterations(self, iteration: int) -> int:
        """The number of iterations until the next check; 1 while their speed is unknown."""
        remaining = self._effort.iterations - iteration
        seconds = self._effort.seconds
        if seconds is None:
            return min(_MAX_BATCH, remaining)
        if iteration == 0:
            return 1
        rate = iteration / max(time.perf_counter() - self._start, 1e-9)
        return max(1, min(_MAX_BATCH, remaining, int(rate * seconds * _SHARE_OF_TIME)))
