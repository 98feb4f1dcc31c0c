"""Inputs by what is not 0 in them, and their first layer.

What players know and whole histories are one-hot pieces: nothing need be multiplied with the zeros.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.networks import perceptron_kernels
from spiel_dl.networks.growing_inputs import Evaluation, room_for_units
from spiel_dl.networks.matrix_products import num_padded


class ListedInputs(NamedTuple):
    """N rows of any inputs, of which a network may have said something already; on a CPU.

    Attributes:
      column: int32 [N, K], where a row is not 0, in order.
      value: float32 [N, K], what is there; 0 behind the last one.
      length: int32 [N], in how many columns that is.
      num_inputs: D.
      evaluation: what a network has said of the rows, or None.
    """

    column: torch.Tensor
    value: torch.Tensor
    length: torch.Tensor
    num_inputs: int
    evaluation: Evaluation | None = None

    @classmethod
    def of(cls, rows: torch.Tensor) -> ListedInputs:
        """Those of a matrix, float32 [N, D]."""
        matrix = rows.numpy()
        row, columns = np.nonzero(matrix)
        length = np.bincount(row, minlength=len(matrix))
        place = np.arange(len(row)) - (length.cumsum() - length)[row]
        shape = (len(matrix), int(length.max(initial=0)))
        column, value = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        column[row, place], value[row, place] = columns, matrix[row, columns]
        return cls(
            torch.from_numpy(column),
            torch.from_numpy(value),
            torch.from_numpy(length.astype(np.int32)),
            matrix.shape[1],
        )

    def take(self, rows: torch.Tensor) -> ListedInputs:
        """Some of the rows, int64 [M]."""
        column, value = self.column.index_select(0, rows), self.value.index_select(0, rows)
        return ListedInputs(column, value, self.length.index_select(0, rows), self.num_inputs)

    def first(self, num_rows: int) -> ListedInputs:
        """The first rows, not copied."""
        column, value, length = (
            self.column[:num_rows],
            self.value[:num_rows],
            self.length[:num_rows],
        )
        return ListedInputs(column, value, length, self.num_inputs)

    def units(self, parameters: torch.Tensor, sizes: tuple[int, ...]) -> list[torch.Tensor]:
        """As `GrowingInputs.units`."""
        units = room_for_units(len(self.length), sizes)
        layers = tuple(layer.numpy() for layer in units)
        perceptron_kernels.units_of_lists(parameters.numpy(), sizes, self.arrays(), layers)
        return units

    def evaluate(self, parameters: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
        """As `GrowingInputs.evaluate`."""
        outputs = torch.empty((len(parameters), len(self.length), num_padded(sizes[-1])))
        perceptron_kernels.evaluate_lists(parameters.numpy(), sizes, self.arrays(), outputs.numpy())
        return outputs

    def first_layer_back(self, gradient: torch.Tensor, out: torch.Tensor) -> None:
        """As `GrowingInputs.first_layer_back`."""
        perceptron_kernels.lists_back(self.arrays(), gradient.numpy(), out.numpy())

    def dense(self) -> torch.Tensor:
        """The rows as they are: float32 [N, D]."""
        rows = torch.zeros((len(self.length), self.num_inputs))
        return rows.scatter_add_(1, self.column.long(), self.value)

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What compiled loops take: `column`, `value`, `length`."""
        return self.column.numpy(), self.value.numpy(), self.length.numpy()
