"""Sparse network inputs, whose products take a fraction of the time of dense ones.

One-hots, boards and hands are such inputs. Products are made by torch's `embedding_bag`.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TypeAlias

import numba
import numpy as np
import torch

# With fewer columns, the conversion takes as long as it saves.
_MIN_COLUMNS = 64
# The largest share of entries that are not 0: a product then still takes half the time.
_MAX_SHARE = 0.25

# Rows per product on a CPU: the outputs of all layers stay in the cache.
CPU_BLOCK = 1024

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@dataclasses.dataclass(frozen=True)
class SparseRows:
    """A sparse matrix (CSR): float32 [N, D], and a last column of ones.

    The column of ones multiplies a layer's biases, the last row of its `Layer.weight_and_bias`.

    Attributes:
      column: int32 [E], the column of each entry, row by row.
      value: float32 [E], the entries that are not 0.
      begin: int32 [N + 1], the index of each row's first entry, and E.
      num_columns: D + 1.
    """

    column: torch.Tensor
    value: torch.Tensor
    begin: torch.Tensor
    num_columns: int

    def __len__(self) -> int:
        return len(self.begin) - 1

    @functools.cached_property
    def blocks(self) -> list[SparseRows]:
        """The matrix in blocks of `CPU_BLOCK` rows."""
        if len(self) <= CPU_BLOCK:
            return [self]
        starts = range(0, len(self), CPU_BLOCK)
        blocks = []
        for begin in (self.begin[start : start + CPU_BLOCK + 1] for start in starts):
            entries = slice(int(begin[0]), int(begin[-1]))
            arrays = self.column[entries], self.value[entries], begin - begin[0]
            blocks.append(SparseRows(*arrays, self.num_columns))
        return blocks

    def times(self, weight: torch.Tensor) -> torch.Tensor:
        """The product with weights, float32 [D + 1, U]: float32 [N, U]."""
        return _product(self, weight)

    def transposed_times(self, gradient: torch.Tensor) -> torch.Tensor:
        """The product of the transposed matrix with float32 [N, U]: float32 [D + 1, U]."""
        return _product(self._transposed, gradient)

    @functools.cached_property
    def _transposed(self) -> SparseRows:
        column, value, begin = self.column.numpy(), self.value.numpy(), self.begin.numpy()
        rows, values, starts = map(
            torch.from_numpy, _transpose(column, value, begin, self.num_columns)
        )
        return SparseRows(rows, values, starts, len(self))


Inputs: TypeAlias = torch.Tensor | SparseRows
"""Network inputs, float32 [N, D], dense or sparse."""


def to_sparse(rows: torch.Tensor) -> Inputs:
    """Rows, float32 [N, D], as `SparseRows` if that saves time, else as they are."""
    if not rows.is_cpu or rows.dtype != torch.float32 or rows.shape[1] < _MIN_COLUMNS:
        return rows
    num_rows, num_columns = rows.shape
    capacity = int(rows.numel() * _MAX_SHARE) + 2 * num_columns
    column, value = np.empty(capacity, np.int32), np.empty(capacity, np.float32)
    begin = np.empty(num_rows + 1, np.int32)
    size = _write_entries(rows.detach().contiguous().numpy(), column, value, begin)
    if size < 0:
        return rows
    entries = torch.from_numpy(column[:size]), torch.from_numpy(value[:size])
    return SparseRows(*entries, torch.from_numpy(begin), num_columns + 1)


def _product(rows: SparseRows, weight: torch.Tensor) -> torch.Tensor:
    product: torch.Tensor = torch.embedding_bag(
        weight,
        rows.column,
        rows.begin,
        mode=0,  # a sum
        per_sample_weights=rows.value,
        include_last_offset=True,
    )[0]
    return product


@_jit
def _write_entries(
    rows: np.ndarray, column: np.ndarray, value: np.ndarray, begin: np.ndarray
) -> int:
    """Writes the arrays of `SparseRows`; returns E, or -1 if they are too short."""
    num_columns, size = rows.shape[1], 0
    for row in range(rows.shape[0]):
        begin[row] = size
        if size + num_columns + 1 > len(column):
            return -1
        for each in range(num_columns):
            column[size], value[size] = each, rows[row, each]
            size += rows[row, each] != 0
        column[size], value[size] = num_columns, 1.0
        size += 1
    begin[-1] = size
    return size


@_jit
def _transpose(
    column: np.ndarray, value: np.ndarray, begin: np.ndarray, num_columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of the transposed matrix: columns, values and begins."""
    first: np.ndarray = np.zeros(num_columns + 1, np.int32)
    for entry in range(len(column)):
        first[column[entry] + 1] += 1
    for each in range(num_columns):
        first[each + 1] += first[each]
    place = first.copy()
    row_of, new_value = np.empty_like(column), np.empty_like(value)
    for row in range(len(begin) - 1):
        for entry in range(begin[row], begin[row + 1]):
            at = place[column[entry]]
            place[column[entry]] += 1
            row_of[at], new_value[at] = row, value[entry]
    return row_of, new_value, first
