"""First layers of rows of ones that become more, in compiled loops; see `growing_inputs`."""

from __future__ import annotations

import numba
import numpy as np

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def add_row(units: np.ndarray, total: np.ndarray, weight: np.ndarray, ones: np.ndarray) -> None:
    """The first layer of a row.

    Args:
      units: float32 [at least H], the ReLU of the sum is written here.
      total: float32 [H], the sum of the row before; becomes this row's.
      weight: float32 [D, H].
      ones: int32 [n], the new ones.
    """
    for index in range(len(ones)):
        column = ones[index]
        for unit in range(len(total)):
            total[unit] += weight[column, unit]
    for unit in range(len(total)):
        units[unit] = max(total[unit], np.float32(0.0))


@_jit
def multiply(
    units: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Writes the first layer of rows, float32 [N, at least H]; see `GrowingInputs`."""
    total = np.empty((len(ones), len(bias)), np.float32)
    for row in range(len(end)):
        group = sequence[row]
        if begin[row] == 0:
            total[group] = bias
        add_row(units[row], total[group], weight, ones[group, begin[row] : end[row]])


@_jit
def multiply_back(
    of_weight: np.ndarray,
    gradient: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Adds to the weights' gradient, float32 [D, H], that of the rows, float32 [N, at least H]."""
    size = of_weight.shape[1]
    # Of the rows from this one to the sequence's last.
    since = np.zeros((len(ones), size), np.float32)
    for row in range(len(end) - 1, -1, -1):
        group = sequence[row]
        for unit in range(size):
            since[group, unit] += gradient[row, unit]
        for index in range(begin[row], end[row]):
            column = ones[group, index]
            for unit in range(size):
                of_weight[column, unit] += since[group, unit]


@_jit
def write(
    rows: np.ndarray, ones: np.ndarray, sequence: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> None:
    """Writes the ones to rows of zeros: float32 [N, D]."""
    for row in range(len(end)):
        for index in range(end[row]):
            rows[row, ones[sequence[row], index]] = 1.0
