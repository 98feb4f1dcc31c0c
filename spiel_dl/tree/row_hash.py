"""`RowHash`: 64-bit hashes of rows of integers, the same in every process."""

from __future__ import annotations

import numba
import numpy as np

_BOUNDS = np.iinfo(np.int64)


class RowHash:
    """Inner products with random weights, modulo 2^64.

    Hashes of parts of a row, made with different seeds, may be added. A collision among a million
    rows is less likely than 1 in 10^6.
    """

    def __init__(self, num_columns: int, seed: int):
        """Draws the weights.

        Args:
          num_columns: K, the length of a row.
          seed: hashes of different seeds are independent.
        """
        generator = np.random.default_rng([20_231_215, seed])
        self.weights = generator.integers(_BOUNDS.min, _BOUNDS.max, num_columns, endpoint=True)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """The hashes of rows (int [N, K]): int64 [N]."""
        hashes: np.ndarray = _inner_products(rows, self.weights)
        return hashes


@numba.njit(cache=True, boundscheck=False, nogil=True)
def _inner_products(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    sums = np.zeros(len(rows), np.int64)
    for row in range(len(rows)):
        for column in range(len(weights)):
            sums[row] += np.int64(rows[row, column]) * weights[column]
    return sums
