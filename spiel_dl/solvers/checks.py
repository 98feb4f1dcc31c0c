"""Checks of solvers' arguments; each raises a ValueError that names the value."""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.tree.counts import checked_count

_LARGEST_VALUE = 1e100


def check_num_threads(num_threads: int) -> None:
    """Raises a ValueError unless numba can use this number of threads."""
    checked_count("num_threads", num_threads, 1)
    max_threads = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    if num_threads > max_threads:
        raise ValueError(
            f"num_threads={num_threads} is more than {max_threads}, the number of cores or what "
            "the environment variable NUMBA_NUM_THREADS says"
        )


def check_values(values: np.ndarray) -> None:
    """Raises a ValueError unless values, and sums of them, are finite.

    Regret matching would treat NaN as no regret.
    """
    # As a float, since the bound is beyond single precision, in which values may come.
    if not np.isfinite(values).all() or float(np.abs(values).max(initial=0.0)) > _LARGEST_VALUE:
        raise ValueError(
            "the value function returned values that are not finite, or beyond "
            f"{_LARGEST_VALUE:g}; train it again, or leave it out to solve the rest of the game"
        )


def check_weights(weights: np.ndarray, size: int, name: str, per: str) -> None:
    """Raises a ValueError unless weights are float [size], one per `per`, finite and >= 0."""
    if weights.shape != (size,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"{name} must be {size} finite numbers >= 0, one per {per}; got {weights}")
