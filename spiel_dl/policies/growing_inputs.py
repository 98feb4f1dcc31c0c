"""Inputs of ones and zeros whose ones only ever become more, and their first layer.

In a game of perfect recall, what a player knows at a move is what it knew at its last one, and
more. So the first layer of a network need not multiply matrices: a row's product is that of the
player's last row plus the weights of the new ones. The weights' gradient is found the same way
backwards: a one's is that of all rows from the one where it is new to the sequence's last.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import torch

from spiel_dl.policies.matrix_products import multiply, num_padded

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


class Evaluation(NamedTuple):
    """What a network has said of inputs.

    Attributes:
      parameters: float32 [P], a copy of its parameters. Not every change in place of a tensor is
        counted by torch, so that they are compared.
      units: per layer, what comes out of it: float32 [N, units], those of the last one padded.
    """

    parameters: torch.Tensor
    units: list[torch.Tensor]

    def holds(self, parameters: torch.Tensor) -> bool:
        """Whether a network of these parameters says the same."""
        return torch.equal(self.parameters, parameters)


class GrowingInputs(NamedTuple):
    """N rows of inputs, each of one of G sequences; on a CPU.

    The rows of a sequence come in order, other sequences' rows between them. Each begins with the
    ones of the sequence's row before.

    Attributes:
      ones: int32 [G, K], the columns of the ones of each sequence, in order.
      sequence: int32 [N], each row's sequence.
      begin: int32 [N], how many ones the sequence's row before has; 0 at its first one.
      end: int32 [N], how many ones the row has.
      num_inputs: D.
      evaluation: what a network has said of the rows already, or None.
    """

    ones: torch.Tensor
    sequence: torch.Tensor
    begin: torch.Tensor
    end: torch.Tensor
    num_inputs: int
    evaluation: Evaluation | None = None

    def first_layer(self, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """The ReLU of the rows times weights plus biases: float32 [N, H], H padded with zeros.

        Args:
          weight: float32 [D, units].
          bias: float32 [units].
        """
        units = _room(len(self.end), len(bias))
        _multiply(units.numpy(), weight.numpy(), bias.numpy(), *self._arrays())
        return units

    def first_layer_back(self, gradient: torch.Tensor, out: torch.Tensor) -> None:
        """Adds the gradient of the weights.

        Args:
          gradient: that of the rows times weights, float32 [N, H], H padded.
          out: where to add, float32 [D, units].
        """
        _multiply_back(out.numpy(), gradient.numpy(), *self._arrays())

    def dense(self) -> torch.Tensor:
        """The rows as they are: float32 [N, D]."""
        rows = torch.zeros((len(self.end), self.num_inputs))
        _write(rows.numpy(), *self._arrays())
        return rows

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return (self.ones.numpy(), self.sequence.numpy(), self.begin.numpy(), self.end.numpy())


class EvaluatedInputs(NamedTuple):
    """N rows of any inputs, of which a network has said something already; on a CPU.

    Attributes:
      rows: float32 [N, D].
      evaluation: what it said.
    """

    rows: torch.Tensor
    evaluation: Evaluation

    def first_layer(self, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """As `GrowingInputs.first_layer`."""
        units = _room(len(self.rows), len(bias))
        first_layer(self.rows, weight, bias, out=units)
        return units

    def first_layer_back(self, gradient: torch.Tensor, out: torch.Tensor) -> None:
        """As `GrowingInputs.first_layer_back`."""
        whole = out if out.shape[1] == gradient.shape[1] else _room(*out.shape)
        multiply(self.rows.numpy().T, gradient.numpy(), whole.numpy(), True)
        if whole is not out:
            out += whole[:, : out.shape[1]]

    def dense(self) -> torch.Tensor:
        """As `GrowingInputs.dense`."""
        return self.rows


def first_layer(
    rows: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, *, out: torch.Tensor
) -> None:
    """Writes the ReLU of any rows, float32 [N, D], times weights plus biases: float32 [N, H].

    What `out` has beyond the biases must be 0, and stays so.
    """
    out[:, : len(bias)] = bias
    multiply(rows.numpy(), weight.numpy(), out.numpy(), True)
    out.relu_()


def _room(num_rows: int, num_units: int) -> torch.Tensor:
    return torch.zeros((num_rows, num_padded(num_units)))


@numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
def add_row(units: np.ndarray, total: np.ndarray, weight: np.ndarray, ones: np.ndarray) -> None:
    """The first layer of a row.

    Args:
      units: float32 [H], the ReLU of the sum is written here.
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
def _multiply(
    units: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
) -> None:
    """Writes units, float32 [N, H]; see `GrowingInputs`."""
    total = np.empty((len(ones), len(bias)), np.float32)
    for row in range(len(end)):
        group = sequence[row]
        if begin[row] == 0:
            total[group] = bias
        add_row(units[row], total[group], weight, ones[group, begin[row] : end[row]])


@_jit
def _multiply_back(
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
def _write(
    rows: np.ndarray, ones: np.ndarray, sequence: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> None:
    for row in range(len(end)):
        for index in range(end[row]):
            rows[row, ones[sequence[row], index]] = 1.0
