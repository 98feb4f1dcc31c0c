"""Checks of numbers in arguments and configurations: those of Python or NumPy."""

from __future__ import annotations

import math
import numbers
from typing import TypeGuard

import numpy as np


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value is an integer and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, NaN and infinity included, and no bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_positive(value: object) -> TypeGuard[float]:
    """Whether a value is a positive and finite number."""
    return is_number(value) and 0 < value < math.inf


def is_share(value: object) -> TypeGuard[float]:
    """Whether a value is a number from 0 to 1."""
    return is_number(value) and 0 <= value <= 1


def checked_count(name: str, value: object, least: int) -> int:
    """A count as a Python int.

    Raises:
      ValueError: if the value is no integer, below `least`, or beyond 64 bits.
    """
    if not is_count(value):
        raise ValueError(
            f"{name}={value!r} must be an integer of at least {least}, not of the type "
            f"{type(value).__name__}"
        )
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}")
    if value >= 2**63:
        raise ValueError(f"{name}={value} must be below 2**63")
    return int(value)


def check_counts(config: object, least: int, *names: str) -> None:
    """Raises a ValueError if fields of these names are no counts, or below `least`."""
    for name in names:
        checked_count(name, getattr(config, name), least)
