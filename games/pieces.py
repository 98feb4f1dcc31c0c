"""Pieces of observation tensors, by their names and shapes: sizes, and rows as text."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np


def total_size(pieces: Mapping[str, tuple[int, ...]]) -> int:
    """The length of a tensor of these pieces, flattened and joined."""
    return sum(math.prod(shape) for shape in pieces.values())


def split_row(pieces: Mapping[str, tuple[int, ...]], row: np.ndarray) -> dict[str, np.ndarray]:
    """The pieces of one tensor row by name, each in its shape: views of the row."""
    views, start = {}, 0
    for name, shape in pieces.items():
        end = start + math.prod(shape)
        views[name] = row[start:end].reshape(shape)
        start = end
    return views


def strings_of_pieces(pieces: Mapping[str, tuple[int, ...]], row: np.ndarray) -> str:
    """Writes one tensor row of zeros and ones as text, equal exactly where the rows are equal.

    A one-hot row of a piece is written as its index, an empty one as `-`, several bits joined by
    `+`; trailing empty rows are left out.
    """
    spans, line_of_bit, word_of_bit = _lines_of_pieces(tuple(pieces.items()))
    lines = ["-"] * spans[-1][2] if spans else []
    ends = [start for _, start, _ in spans]
    previous = -1
    # Finding nonzeros is many times faster among booleans than among floats.
    for bit in np.flatnonzero(row != 0).tolist():
        piece, line = line_of_bit[bit]
        word = word_of_bit[bit]
        lines[line] = f"{lines[line]}+{word}" if line == previous else word
        previous = line
        ends[piece] = line + 1
    return "; ".join(
        [
            f"{name}={' '.join(lines[start:end])}"
            for (name, start, _), end in zip(spans, ends, strict=True)
        ]
    )


@functools.lru_cache(maxsize=64)
def _lines_of_pieces(
    pieces: tuple[tuple[str, tuple[int, ...]], ...],
) -> tuple[list[tuple[str, int, int]], list[tuple[int, int]], list[str]]:
    """The position in the text of every bit of a row.

    Returns:
      spans: for every piece its name, its first line and the line after its last.
      line_of_bit: for every bit the piece and the line it belongs to.
      word_of_bit: for every bit its index within its line, as text.
    """
    spans: list[tuple[str, int, int]] = []
    line_of_bit: list[tuple[int, int]] = []
    word_of_bit: list[str] = []
    first = 0
    for name, shape in pieces:
        width = shape[-1] if shape else 1
        size = math.prod(shape)
        line_of_bit += [(len(spans), first + bit // width) for bit in range(size)]
        word_of_bit += [str(bit % width) for bit in range(size)]
        spans.append((name, first, first + (size // width if width else 0)))
        first = spans[-1][2]
    return spans, line_of_bit, word_of_bit
