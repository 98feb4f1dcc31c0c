"""Checks of what solvers are given: each raises a ValueError that names the value."""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.tree.counts import checked_count

_LARGEST_VALUE = 1e100


def check_num_threads(num_threads: int) -> None:
    """A number of threads must be one that numba can use."""
    checked_count("num_threads", num_threads, 1)
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if num_threads > most:
        raise ValueError(
            f"num_threads={num_threads} is more than {most}, the number of cores or what the "
            "environment variable NUMBA_NUM_THREADS says"
        )


def check_values(values: np.ndarray) -> None:
    """Values from outside must be finite: regret matching would take NaN for no regret.

    Nor may they be so large that their sums are not.
    """
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > _LARGEST_VALUE:
        raise ValueError(
            "the value function returned values that are not finite, or beyond "
            f"{_LARGEST_VALUE:g}; train it again, or leave it out to solve the rest of the game"
        )


def check_weights(weights: np.ndarray, size: int, what: str, per: str) -> None:
    """Weights must be float [size], finite, and not negative; `what` and `per` say of what."""
    if weights.shape != (size,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{what} must be {size} finite numbers >= 0, one per {per}; got {weights}")
