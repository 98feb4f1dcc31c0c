"""Matrix products inside compiled loops, for the few hundred rows that small networks are asked.

A library's product is started from Python for every matrix, and torch's uses only half of what
vectors of 512 bits can do on other makers' processors than its own. Here the left matrix is taken
as it lies, the right one is packed into panels first; `pack` it once where it is used often.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

COLUMNS = 16
"""Products have a multiple of so many columns."""
_PANEL = 2 * COLUMNS
# As many accumulators as there are registers for, besides those of the panel's row.
_ROWS = 8 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 4
_DEPTH = 256  # rows of a panel that stay in the cache
_FLOAT, _BYTE, _INDEX = ir.FloatType(), ir.IntType(8), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, COLUMNS)

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


def num_padded(size: int) -> int:
    """The next multiple of `COLUMNS`."""
    return -(-size // COLUMNS) * COLUMNS


def _tile(num_rows: int, num_vectors: int) -> Any:
    """A function of compiled loops that computes a tile of a product in registers.

    Args:
      num_rows: R.
      num_vectors: V, the tile's columns in units of `COLUMNS`.

    Returns:
      tile(left, row, panel, depth, out, column, add): writes, or adds, to
      out[row : row + R, column : column + V COLUMNS] the product of left[row : row + R] and
      panel[:depth]; the rows of panel and out are contiguous.
    """

    @intrinsic
    def tile(  # type: ignore[no-untyped-def]
        typing_context, left, row, panel, depth, out, column, add
    ):
        signature = types.void(
            left, types.int64, panel, types.int64, out, types.int64, types.boolean
        )

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return _generate(num_rows, num_vectors, context, builder, signature, arguments)

        return signature, generate

    return tile


def _generate(
    num_rows: int, num_vectors: int, context: Any, builder: Any, signature: Any, arguments: Any
) -> Any:
    """The instructions of `_tile`."""
    left, row, panel, depth, out, column, add = arguments
    types_of = signature.args
    of_left, left_strides = _address(context, builder, types_of[0], left)
    of_panel, panel_strides = _address(context, builder, types_of[2], panel)
    of_out, out_strides = _address(context, builder, types_of[4], out)
    places = [(r, v) for r in range(num_rows) for v in range(num_vectors)]

    def at(address: Any, *offsets: Any) -> Any:
        for offset in offsets:
            address = builder.gep(address, [offset])
        return address

    def vector_at(address: Any) -> Any:
        return builder.bitcast(address, _VECTOR.as_pointer())

    rows = [builder.add(row, _INDEX(r)) for r in range(num_rows)]
    left_rows = [at(of_left, builder.mul(r, left_strides[0])) for r in rows]
    out_row = [at(of_out, builder.mul(r, out_strides[0])) for r in rows]
    skipped = builder.mul(column, out_strides[1])
    outs = {(r, v): vector_at(at(out_row[r], skipped, _INDEX(4 * COLUMNS * v))) for r, v in places}
    zero = ir.Constant(_VECTOR, [0.0] * COLUMNS)

    # What is there already, or nothing.
    blocks = [builder.append_basic_block(name) for name in ("old", "new", "begin", "loop", "end")]
    old, new, begin, loop, end = blocks
    builder.cbranch(add, old, new)
    builder.position_at_end(old)
    loaded = {place: _aligned(builder.load(outs[place])) for place in places}
    builder.branch(begin)
    builder.position_at_end(new)
    builder.branch(begin)
    builder.position_at_end(begin)
    first = {place: builder.phi(_VECTOR) for place in places}
    for place in places:
        first[place].add_incoming(loaded[place], old)
        first[place].add_incoming(zero, new)
    builder.branch(loop)

    # One row of the panel after the other.
    builder.position_at_end(loop)
    index = builder.phi(_INDEX)
    sums = {place: builder.phi(_VECTOR) for place in places}
    panel_row = at(of_panel, builder.mul(index, panel_strides[0]))
    vectors = [
        _aligned(builder.load(vector_at(at(panel_row, _INDEX(4 * COLUMNS * v)))))
        for v in range(num_vectors)
    ]
    left_column = builder.mul(index, left_strides[1])
    found = {}
    for r in range(num_rows):
        address = builder.bitcast(at(left_rows[r], left_column), _FLOAT.as_pointer())
        factor = _everywhere(builder, builder.load(address))
        for v in range(num_vectors):
            product = builder.fmul(factor, vectors[v], flags=("contract",))
            found[r, v] = builder.fadd(product, sums[r, v], flags=("contract",))
    next_index = builder.add(index, _INDEX(1))
    index.add_incoming(_INDEX(0), begin)
    index.add_incoming(next_index, loop)
    for place in places:
        sums[place].add_incoming(first[place], begin)
        sums[place].add_incoming(found[place], loop)
    builder.cbranch(builder.icmp_signed("<", next_index, depth), loop, end)
    builder.position_at_end(end)
    for place in places:
        _aligned(builder.store(found[place], outs[place]))
    return context.get_dummy_value()


def _address(context: Any, builder: Any, array_type: Any, value: Any) -> tuple[Any, list[Any]]:
    """Where an array of two dimensions begins, in bytes, and its strides."""
    array = context.make_array(array_type)(context, builder, value)
    begin = builder.bitcast(array.data, _BYTE.as_pointer())
    return begin, cgutils.unpack_tuple(builder, array.strides, 2)


def _aligned(instruction: Any) -> Any:
    """Arrays begin at any float."""
    instruction.align = 4
    return instruction


def _everywhere(builder: Any, factor: Any) -> Any:
    """A vector of one number."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    index = ir.IntType(32)
    first = builder.insert_element(empty, factor, index(0))
    return builder.shuffle_vector(
        first, empty, ir.Constant(ir.VectorType(index, COLUMNS), [0] * COLUMNS)
    )


_wide, _wide_row = _tile(_ROWS, 2), _tile(1, 2)
_narrow, _narrow_row = _tile(_ROWS, 1), _tile(1, 1)


@_jit
def pack(matrix: np.ndarray, depth: int, packed: np.ndarray) -> None:
    """Arranges a matrix as `multiply_packed` takes it, with zeros added to rows and columns.

    Args:
      matrix: float32 [at most K, at most N].
      depth: K.
      packed: float32 [K N], N a multiple of `COLUMNS`; is written.
    """
    num_columns = len(packed) // depth
    for column in range(0, num_columns, _PANEL):
        width = min(_PANEL, num_columns - column)
        panel = packed[depth * column : depth * (column + width)].reshape(depth, width)
        filled = max(0, min(width, matrix.shape[1] - column))
        if filled < width or len(matrix) < depth:
            panel[:] = 0.0
        for row in range(len(matrix)):
            for index in range(filled):
                panel[row, index] = matrix[row, column + index]


@_jit
def multiply_packed(left: np.ndarray, packed: np.ndarray, out: np.ndarray, add: bool) -> None:
    """A product; each of its rows is the same to the last bit, whichever rows are beside it.

    Args:
      left: float32 [M, K], K positive.
      packed: float32 [K N], the right matrix as `pack` arranges it.
      out: float32 [M, N], of contiguous rows.
      add: whether to add to what is there, instead of overwriting it.
    """
    num_rows, depth = left.shape
    for column in range(0, out.shape[1], _PANEL):
        width = min(_PANEL, out.shape[1] - column)
        panel = packed[depth * column : depth * (column + width)].reshape(depth, width)
        row = 0
        if width == _PANEL:
            while row + _ROWS <= num_rows:
                _wide(left, row, panel, depth, out, column, add)
                row += _ROWS
            while row < num_rows:
                _wide_row(left, row, panel, depth, out, column, add)
                row += 1
        else:
            while row + _ROWS <= num_rows:
                _narrow(left, row, panel, depth, out, column, add)
                row += _ROWS
            while row < num_rows:
                _narrow_row(left, row, panel, depth, out, column, add)
                row += 1


@_jit
def multiply(left: np.ndarray, right: np.ndarray, out: np.ndarray, add: bool) -> None:
    """A product.

    Args:
      left: float32 [M, K].
      right: float32 [K, at most N].
      out: float32 [M, N], of contiguous rows, N a multiple of `COLUMNS`.
      add: whether to add to what is there, instead of overwriting it.
    """
    depth, num_columns = left.shape[1], out.shape[1]
    if depth == 0 and not add:
        out[:] = 0.0
    packed = np.empty(min(depth, _DEPTH) * num_columns, np.float32)
    # Rows in one piece: a transposed matrix is read twice as fast so.
    rows = np.empty((len(left), min(depth, _DEPTH)), np.float32)
    for begin in range(0, depth, _DEPTH):
        end = min(depth, begin + _DEPTH)
        part, of_left = packed[: (end - begin) * num_columns], rows[:, : end - begin]
        pack(right[begin:end], end - begin, part)
        for column in range(end - begin):
            for row in range(len(rows)):
                of_left[row, column] = left[row, begin + column]
        multiply_packed(of_left, part, out, add or begin > 0)
