"""Inputs of ones and zeros whose ones only ever become more, and the first layer of a network.

In a game of perfect recall, what a player knows at a move is what it knew at its last one, and
more. So the first layer need not multiply matrices: a row's product is that of the player's last
row plus the weights of the new ones. The weights' gradient is found the same way backwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import torch

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


class GrowingInputs(NamedTuple):
    """N rows of inputs, each of one of G sequences; on a CPU, as arrays.

    The rows of a sequence come in order, other sequences' rows between them. Each begins with the
    ones of the sequence's row before.

    Attributes:
      ones: int32 [G, K], the columns of the ones of each sequence, in order.
      sequence: int32 [N], each row's sequence.
      begin: int32 [N], how many ones the sequence's row before has; 0 at its first one.
      end: int32 [N], how many ones the row has.
      num_inputs: D.
      running: the first layer of each sequence's last row, by the number of its units, if rows are
        shown to one network a few at a time; None: all rows of the sequences are here.
    """

    ones: np.ndarray
    sequence: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    num_inputs: int
    running: dict[int, np.ndarray] | None = None

    def first_layer(self, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """The rows times weights (float32 [D, H]), plus a bias (float32 [1, H]): [N, H]."""
        num_units = weight.shape[1]
        sums = {} if self.running is None else self.running
        if num_units not in sums:
            sums[num_units] = np.empty((len(self.ones), num_units), np.float32)
        product = torch.empty((len(self.end), num_units))
        numbers = (product.numpy(), sums[num_units], weight.numpy(), bias.numpy())
        _multiply(*numbers, *self[:4])
        return product

    def first_layer_back(self, gradient: torch.Tensor, of_weight: torch.Tensor) -> None:
        """Adds to the weights' gradient, float32 [D, H], that of the rows, float32 [N, H]."""
        _multiply_back(of_weight.numpy(), gradient.numpy(), *self[:4])

    def dense(self) -> torch.Tensor:
        """The rows as a matrix: float32 [N, D]."""
        rows = torch.zeros((len(self.end), self.num_inputs))
        _write(rows.numpy(), *self[:4])
        return rows


@_jit
def _multiply(
    product: np.ndarray,
    sums: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Writes the first layer of rows, float32 [N, H]; `sums` are `GrowingInputs.running`."""
    for row in range(len(end)):
        total = sums[sequence[row]]
        if begin[row] == 0:
            for unit in range(len(total)):
                total[unit] = bias[0, unit]
        for index in range(begin[row], end[row]):
            of_column = weight[ones[sequence[row], index]]
            for unit in range(len(total)):
                total[unit] += of_column[unit]
        for unit in range(len(total)):
            product[row, unit] = total[unit]


@_jit
def _multiply_back(
    of_weight: np.ndarray,
    gradient: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Adds to the weights' gradient, float32 [D, H], that of the rows, float32 [N, H]."""
    size = of_weight.shape[1]
    # Of the rows from this one to the sequence's last.
    since = np.zeros((len(ones), size), np.float32)
    for row in range(len(end) - 1, -1, -1):
        total = since[sequence[row]]
        for unit in range(size):
            total[unit] += gradient[row, unit]
        for index in range(begin[row], end[row]):
            of_column = of_weight[ones[sequence[row], index]]
            for unit in range(size):
                of_column[unit] += total[unit]


@_jit
def _write(
    rows: np.ndarray, ones: np.ndarray, sequence: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> None:
    """Writes the ones to rows of zeros: float32 [N, D]."""
    for row in range(len(end)):
        for index in range(end[row]):
            rows[row, ones[sequence[row], index]] = 1.0
