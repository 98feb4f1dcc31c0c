"""Inputs that are mostly zeros, as lists of the others: their products take a fraction of the time.

One-hots, boards and hands are such inputs. Products are those of torch's `embedding_bag`.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TypeAlias

import numba
import numpy as np
import torch

# Below, listing takes as long as it saves.
_MIN_COLUMNS = 64
# Of what is listed, the largest share that is not 0: a product then still takes half the time.
_MAX_SHARE = 0.25

# So many rows are multiplied at a time on a CPU: what comes out of all layers stays in the cache.
CPU_BLOCK = 1024

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@dataclasses.dataclass(frozen=True)
class SparseRows:
    """What is not 0 in a matrix float32 [N, D], which has a last column of ones added.

    By that, a layer's biases are one more row of its weights.

    Attributes:
      column: int32 [E], of each number, row by row.
      value: float32 [E].
      begin: int32 [N + 1], where each row begins, and E.
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
        """The same, `CPU_BLOCK` rows at a time."""
        if len(self) <= CPU_BLOCK:
            return [self]
        starts = range(0, len(self), CPU_BLOCK)
        found = []
        for begin in (self.begin[start : start + CPU_BLOCK + 1] for start in starts):
            entries = slice(int(begin[0]), int(begin[-1]))
            lists = self.column[entries], self.value[entries], begin - begin[0]
            found.append(SparseRows(*lists, self.num_columns))
        return found

    def times(self, weight: torch.Tensor) -> torch.Tensor:
        """Their product with weights, float32 [D + 1, U]: float32 [N, U]."""
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
"""What a network is shown: float32 [N, D], or the same as `listed` has it."""


def listed(rows: torch.Tensor) -> Inputs:
    """Rows, float32 [N, D], as `SparseRows` if that saves time."""
    if not rows.is_cpu or rows.dtype != torch.float32 or rows.shape[1] < _MIN_COLUMNS:
        return rows
    num_rows, num_columns = rows.shape
    room = int(rows.numel() * _MAX_SHARE) + 2 * num_columns
    column, value = np.empty(room, np.int32), np.empty(room, np.float32)
    begin = np.empty(num_rows + 1, np.int32)
    size = _list(rows.detach().contiguous().numpy(), column, value, begin)
    if size < 0:
        return rows
    lists = torch.from_numpy(column[:size]), torch.from_numpy(value[:size])
    return SparseRows(*lists, torch.from_numpy(begin), num_columns + 1)


def _product(rows: SparseRows, weight: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.embedding_bag(
        weight,
        rows.column,
        rows.begin,
        mode=0,  # a sum
        per_sample_weights=rows.value,
        include_last_offset=True,
    )[0]
    return found


@_jit
def _list(rows: np.ndarray, column: np.ndarray, value: np.ndarray, begin: np.ndarray) -> int:
    """Writes the lists; returns their length, or -1 if there is no room for a row."""
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
    """The lists of the transposed matrix."""
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
