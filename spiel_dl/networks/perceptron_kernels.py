"""Perceptrons forwards and backwards, in compiled loops.

Parameters are one vector, as `Perceptron` arranges it. `sizes` are the numbers of inputs, of each
hidden layer's units, and of outputs. What comes out of a layer is a row padded with zeros to a
multiple of `matrix_products.COLUMNS`.
"""

from __future__ import annotations

import numba
import numpy as np

from spiel_dl.networks import growing_kernels
from spiel_dl.networks.matrix_products import COLUMNS, multiply, multiply_packed, pack

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)
_ROWS = 64  # so many, with a layer's weights, stay in the cache


@_inline
def _padded(size: int) -> int:
    return (size + COLUMNS - 1) // COLUMNS * COLUMNS


@_jit
def packed_layers(parameters: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """The parameters of all layers but the first, as `after_first` takes them.

    Returns:
      Float32: of one layer after the other the weights, see `matrix_products.pack`, and the biases.
    """
    length = 0
    for layer in range(1, len(sizes) - 1):
        length += (_padded(sizes[layer]) + 1) * _padded(sizes[layer + 1])
    packed = np.zeros(length, np.float32)
    start, begin = (sizes[0] + 1) * sizes[1], 0
    for layer in range(1, len(sizes) - 1):
        inputs, units = sizes[layer], sizes[layer + 1]
        end = begin + _padded(inputs) * _padded(units)
        weight = parameters[start : start + inputs * units].reshape(inputs, units)
        pack(weight, _padded(inputs), packed[begin:end])
        start += inputs * units
        for unit in range(units):
            packed[end + unit] = parameters[start + unit]
        start, begin = start + units, end + _padded(units)
    return packed


@_inline
def _apply(before: np.ndarray, packed: np.ndarray, after: np.ndarray, is_last: bool) -> None:
    """One of `packed_layers`."""
    end = before.shape[1] * after.shape[1]
    for row in range(len(after)):
        for unit in range(after.shape[1]):
            after[row, unit] = packed[end + unit]
    multiply_packed(before, packed[:end], after, True)
    if not is_last:
        _rectify(after)


@_inline
def _rectify(units: np.ndarray) -> None:
    for row in range(units.shape[0]):
        for unit in range(units.shape[1]):
            units[row, unit] = max(units[row, unit], np.float32(0.0))


@_jit
def after_first(units: tuple[np.ndarray, ...], packed: np.ndarray, begin: int, end: int) -> None:
    """Writes what comes out of all layers but the first.

    Args:
      units: per layer, float32 [N, units]; the first one's are given.
      packed: the `packed_layers`.
      begin: the first row that is asked about.
      end: the row after the last one.
    """
    start = 0
    for layer in range(1, len(units)):
        before, after = units[layer - 1][begin:end], units[layer][begin:end]
        _apply(before, packed[start:], after, layer + 1 == len(units))
        start += (before.shape[1] + 1) * after.shape[1]


@_jit
def first_of_lists(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    lists: tuple[np.ndarray, np.ndarray, np.ndarray],
    units: np.ndarray,
) -> None:
    """The first layer of rows.

    Args:
      parameters: float32 [P].
      sizes: as above.
      lists: the rows, as `ListedInputs.arrays`.
      units: float32 [N, units]; is written.
    """
    column, value, count = lists
    end = sizes[0] * sizes[1]
    weight, bias = parameters[:end].reshape(sizes[0], sizes[1]), parameters[end:]
    total = np.empty(sizes[1], np.float32)
    for row in range(len(count)):
        for unit in range(len(total)):
            total[unit] = bias[unit]
        for index in range(count[row]):
            factor, of_column = value[row, index], weight[column[row, index]]
            for unit in range(len(total)):
                total[unit] += factor * of_column[unit]
        for unit in range(len(total)):
            units[row, unit] = max(total[unit], np.float32(0.0))
        for unit in range(len(total), units.shape[1]):
            units[row, unit] = 0.0


@_jit
def lists_back(
    lists: tuple[np.ndarray, np.ndarray, np.ndarray], gradient: np.ndarray, of_weight: np.ndarray
) -> None:
    """Adds to the gradient of the first layer's weights, float32 [D, units].

    Args:
      lists: the rows, as `ListedInputs.arrays`.
      gradient: of what went into the first layer's ReLU, float32 [N, at least units].
      of_weight: is added to.
    """
    column, value, count = lists
    for row in range(len(count)):
        for index in range(count[row]):
            factor, of_column = value[row, index], of_weight[column[row, index]]
            for unit in range(of_weight.shape[1]):
                of_column[unit] += factor * gradient[row, unit]


@_jit
def units_of_lists(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    lists: tuple[np.ndarray, np.ndarray, np.ndarray],
    units: tuple[np.ndarray, ...],
) -> None:
    """What comes out of each layer.

    Args:
      parameters: float32 [P].
      sizes: as above.
      lists: the rows, as `ListedInputs.arrays`.
      units: float32 [N, units] each; are written.
    """
    first_of_lists(parameters, sizes, lists, units[0])
    after_first(units, packed_layers(parameters, sizes), 0, len(units[0]))


@_jit
def units_of_growing(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    units: tuple[np.ndarray, ...],
) -> None:
    """As `units_of_lists`, of `growing_inputs.GrowingInputs`."""
    middle = sizes[0] * sizes[1]
    weight, bias = parameters[:middle].reshape(sizes[0], sizes[1]), parameters[middle:]
    units[0][:, sizes[1] :] = 0.0
    growing_kernels.multiply(units[0], weight, bias[: sizes[1]], ones, sequence, begin, end)
    after_first(units, packed_layers(parameters, sizes), 0, len(end))


@_jit
def evaluate_lists(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    lists: tuple[np.ndarray, np.ndarray, np.ndarray],
    outputs: np.ndarray,
) -> None:
    """What networks say.

    Args:
      parameters: float32 [K, P].
      sizes: as above.
      lists: the rows, as `ListedInputs.arrays`.
      outputs: float32 [K, N, outputs]; is written.
    """
    first = np.empty((outputs.shape[1], _padded(sizes[1])), np.float32)
    for network in range(len(parameters)):
        first_of_lists(parameters[network], sizes, lists, first)
        _after_first_alone(parameters[network], sizes, first, outputs[network])


@_jit
def evaluate_growing(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    ones: np.ndarray,
    sequence: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    outputs: np.ndarray,
) -> None:
    """As `evaluate_lists`, of `growing_inputs.GrowingInputs`."""
    first = np.zeros((len(end), _padded(sizes[1])), np.float32)
    of_weight, of_bias = sizes[0] * sizes[1], sizes[1]
    for network in range(len(parameters)):
        weight = parameters[network, :of_weight].reshape(sizes[0], sizes[1])
        bias = parameters[network, of_weight : of_weight + of_bias]
        growing_kernels.multiply(first, weight, bias, ones, sequence, begin, end)
        _after_first_alone(parameters[network], sizes, first, outputs[network])


@_jit
def _after_first_alone(
    parameters: np.ndarray, sizes: tuple[int, ...], first: np.ndarray, outputs: np.ndarray
) -> None:
    """As `after_first`, without keeping what comes out of hidden layers."""
    packed = packed_layers(parameters, sizes)
    widest = 0
    for layer in range(1, len(sizes)):
        widest = max(widest, _padded(sizes[layer]))
    room = np.empty((2, _ROWS * widest), np.float32)
    for begin in range(0, len(first), _ROWS):
        end = min(len(first), begin + _ROWS)
        before, start = first[begin:end], 0
        for layer in range(1, len(sizes) - 1):
            is_last = layer + 2 == len(sizes)
            width = _padded(sizes[layer + 1])
            after = room[layer % 2, : (end - begin) * width].reshape(end - begin, width)
            if is_last:
                after = outputs[begin:end]
            _apply(before, packed[start:], after, is_last)
            start += (before.shape[1] + 1) * width
            before = after


@_jit
def go_back(
    parameters: np.ndarray,
    sizes: tuple[int, ...],
    units: tuple[np.ndarray, ...],
    gradient: np.ndarray,
    of_parameters: np.ndarray,
) -> np.ndarray:
    """The gradients of all parameters but the first layer's weights.

    Args:
      parameters: float32 [P].
      sizes: as above.
      units: per layer, what came out of it: float32 [N, units].
      gradient: that of the outputs, float32 [N, outputs], not padded.
      of_parameters: float32 [P]; is written, where it is known.

    Returns:
      The gradient of what went into the first layer's ReLU, float32 [N, units].
    """
    by_units = np.zeros(units[-1].shape, np.float32)
    _copy(gradient, by_units)
    end = len(parameters)
    for layer in range(len(units) - 1, 0, -1):
        inputs, size = sizes[layer], sizes[layer + 1]
        begin = end - (inputs + 1) * size
        before = np.empty(units[layer - 1].shape, np.float32)
        _go_back_a_layer(
            parameters[begin:end], inputs, size, units[layer - 1], by_units,
            of_parameters[begin:end], before,
        )  # fmt: skip
        by_units, end = before, begin
    _add_up(by_units, of_parameters[end - sizes[1] : end])
    return by_units


@_jit
def _go_back_a_layer(
    parameters: np.ndarray,
    inputs: int,
    size: int,
    before: np.ndarray,
    of_after: np.ndarray,
    of_parameters: np.ndarray,
    of_before: np.ndarray,
) -> None:
    """The gradients of a layer that comes after a ReLU.

    Args:
      parameters: float32 [(inputs + 1) size], those of the layer.
      inputs: how many units come before it.
      size: how many it has.
      before: float32 [N, K], what came out of the ReLU.
      of_after: float32 [N, L], the gradient of what came out of the layer.
      of_parameters: as `parameters`; the gradient is written here.
      of_before: float32 [N, K]; the gradient of what went into the ReLU is written here.
    """
    num_before, num_after = before.shape[1], of_after.shape[1]
    end = inputs * size
    of_weight = of_parameters[:end].reshape(inputs, size)
    if size == num_after:
        multiply(before[:, :inputs].T, of_after, of_weight, False)
    else:
        room = np.empty((inputs, num_after), np.float32)
        multiply(before[:, :inputs].T, of_after, room, False)
        _copy(room[:, :size], of_weight)
    _add_up(of_after, of_parameters[end:])

    packed = np.empty(num_after * num_before, np.float32)
    pack(parameters[:end].reshape(inputs, size).T, num_after, packed)
    multiply_packed(of_after, packed, of_before, False)
    for row in range(before.shape[0]):
        for unit in range(num_before):
            if not before[row, unit] > 0:
                of_before[row, unit] = 0.0


@_inline
def _copy(rows: np.ndarray, to: np.ndarray) -> None:
    """Copies rows to the first columns of others.

    An assignment of slices would do the same. Numba compiles what it would say of wrong shapes with
    it, which takes seconds.
    """
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            to[row, column] = rows[row, column]


@_inline
def _add_up(rows: np.ndarray, total: np.ndarray) -> None:
    """Writes the sum of the first columns of some rows."""
    total[:] = 0.0
    for row in range(len(rows)):
        for column in range(len(total)):
            total[column] += rows[row, column]
