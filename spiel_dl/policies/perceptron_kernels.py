"""Layers of a perceptron forwards and backwards, in compiled loops.

Units are rows padded with zeros to a multiple of `matrix_products.COLUMNS`; the parameters are one
vector, as `Perceptron` arranges it.
"""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.policies.matrix_products import multiply, multiply_packed, pack

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


@_jit
def rectify(units: np.ndarray) -> None:
    """Sets what is negative to 0: float32 [N, units]."""
    for row in range(units.shape[0]):
        for unit in range(units.shape[1]):
            units[row, unit] = max(units[row, unit], np.float32(0.0))


@_jit
def apply_layer(
    before: np.ndarray, packed: np.ndarray, bias: np.ndarray, after: np.ndarray
) -> None:
    """Writes rows times weights plus biases.

    Args:
      before: float32 [N, K].
      packed: float32 [K L], the weights, see `matrix_products.pack`.
      bias: float32 [L].
      after: float32 [N, L].
    """
    for row in range(len(after)):
        after[row] = bias
    multiply_packed(before, packed, after, True)


@_jit
def pack_layer(
    parameters: np.ndarray, inputs: int, units: int, packed: np.ndarray, bias: np.ndarray
) -> None:
    """Arranges the weights and biases of a layer.

    Args:
      parameters: float32 [inputs units + units], those of the layer.
      inputs: how many units come before it.
      units: how many it has.
      packed: float32 [K L], both numbers padded; is written.
      bias: float32 [L]; is written.
    """
    end = inputs * units
    weight = parameters[:end].reshape(inputs, units)
    pack(weight, len(packed) // len(bias), packed)
    bias[:units] = parameters[end:]
    bias[units:] = 0.0


@_jit
def go_back_a_layer(
    parameters: np.ndarray,
    inputs: int,
    units: int,
    before: np.ndarray,
    of_after: np.ndarray,
    of_parameters: np.ndarray,
    of_before: np.ndarray,
) -> None:
    """The gradients of a layer that comes after a ReLU.

    Args:
      parameters: float32 [inputs units + units], those of the layer.
      inputs: how many units come before it.
      units: how many it has.
      before: float32 [N, K], what came out of the ReLU.
      of_after: float32 [N, L], the gradient of what came out of the layer.
      of_parameters: as `parameters`; the gradient is written here.
      of_before: float32 [N, K]; the gradient of what went into the ReLU is written here.
    """
    num_before, num_after = before.shape[1], of_after.shape[1]
    end = inputs * units
    of_weight = np.empty((num_before, num_after), np.float32)
    multiply(before.T, of_after, of_weight, False)
    of_parameters[:end].reshape(inputs, units)[:] = of_weight[:inputs, :units]
    add_up(of_after, of_parameters[end:])

    weight = np.zeros((num_after, num_before), np.float32)
    weight[:units, :inputs] = parameters[:end].reshape(inputs, units).T
    multiply(of_after, weight, of_before, False)
    for row in range(before.shape[0]):
        for unit in range(num_before):
            if not before[row, unit] > 0:
                of_before[row, unit] = 0.0


@_jit
def add_up(rows: np.ndarray, total: np.ndarray) -> None:
    """Writes the sum of the first columns of some rows: float32 [N, L] to float32 [at most L]."""
    total[:] = 0.0
    for row in range(len(rows)):
        for column in range(len(total)):
            total[column] += rows[row, column]
