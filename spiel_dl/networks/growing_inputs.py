"""Inputs of ones and zeros whose ones only ever become more, and their first layer.

In a game of perfect recall, what a player knows at a move is what it knew at its last one, and
more. So the first layer of a network need not multiply matrices: a row's product is that of the
player's last row plus the weights of the new ones. The weights' gradient is found the same way
backwards: a one's is that of all rows from the one where it is new to the sequence's last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.networks import growing_kernels, perceptron_kernels
from spiel_dl.networks.matrix_products import num_padded


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
        # Three times as fast as torch.equal.
        return np.array_equal(self.parameters.numpy(), parameters.numpy())


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

    def units(self, parameters: torch.Tensor, sizes: tuple[int, ...]) -> list[torch.Tensor]:
        """What comes out of each layer of a network, padded: float32 [N, units].

        Args:
          parameters: float32 [P].
          sizes: the numbers of inputs, of each hidden layer's units, and of outputs.
        """
        units = room_for_units(len(self.end), sizes)
        layers = tuple(layer.numpy() for layer in units)
        perceptron_kernels.units_of_growing(parameters.numpy(), sizes, *self._arrays(), layers)
        return units

    def evaluate(self, parameters: torch.Tensor, sizes: tuple[int, ...]) -> torch.Tensor:
        """What comes out of the last layer of K networks, padded: float32 [K, N, outputs].

        Args:
          parameters: float32 [K, P].
          sizes: as above.
        """
        outputs = torch.empty((len(parameters), len(self.end), num_padded(sizes[-1])))
        arrays = self._arrays()
        perceptron_kernels.evaluate_growing(parameters.numpy(), sizes, *arrays, outputs.numpy())
        return outputs

    def first_layer_back(self, gradient: torch.Tensor, out: torch.Tensor) -> None:
        """Adds the gradient of the weights.

        Args:
          gradient: that of the rows times weights, float32 [N, H], H padded.
          out: where to add, float32 [D, units].
        """
        growing_kernels.multiply_back(out.numpy(), gradient.numpy(), *self._arrays())

    def dense(self) -> torch.Tensor:
        """The rows as they are: float32 [N, D]."""
        rows = torch.zeros((len(self.end), self.num_inputs))
        growing_kernels.write(rows.numpy(), *self._arrays())
        return rows

    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return (self.ones.numpy(), self.sequence.numpy(), self.begin.numpy(), self.end.numpy())


def room_for_units(num_rows: int, sizes: tuple[int, ...]) -> list[torch.Tensor]:
    """For what comes out of each layer."""
    return [torch.empty((num_rows, num_padded(size))) for size in sizes[1:]]
