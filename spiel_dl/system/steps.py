"""Log-spaced steps at which a run is evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterator


def log_spaced_steps(last: int, points_per_decade: int) -> Iterator[int]:
    """1, ..., last: rounded powers of 10^(1 / points_per_decade), and `last` itself."""
    point, exponent = 1, 0
    while point < last:
        yield point
        # Many exponents in between are rounded to this point, too.
        exponent = max(exponent, int(math.log10(point + 0.5) * points_per_decade) - 1)
        while round(10 ** (exponent / points_per_decade)) <= point:
            exponent += 1
        point = round(10 ** (exponent / points_per_decade))
    yield last
