"""Hashes of rows against Python's integers."""

import numpy as np
import pytest

from spiel_dl.tree.row_hash import RowHash


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_hashes_are_inner_products_modulo_2_to_the_64(dtype):
    generator = np.random.default_rng(0)
    info = np.iinfo(dtype)
    rows = generator.integers(info.min, info.max, (50, 7), dtype=dtype, endpoint=True)
    row_hash = RowHash(7, seed=3)
    weights = row_hash.weights.tolist()
    for row, found in zip(rows.tolist(), row_hash(rows).tolist(), strict=True):
        expected = sum(entry * weight for entry, weight in zip(row, weights, strict=True))
        assert (expected - found) % 2**64 == 0


def test_equal_rows_alone_have_equal_hashes():
    rows = np.random.default_rng(1).integers(0, 2, (4000, 12))
    hashes = RowHash(12, seed=0)(rows)
    assert len(np.unique(hashes)) == len(np.unique(rows, axis=0))
    assert len(np.unique(hashes)) > 2000


def test_seeds_are_independent_and_the_same_in_every_process():
    first, second = RowHash(4, seed=0).weights, RowHash(4, seed=1).weights
    assert not set(first.tolist()) & set(second.tolist())
    assert first[0] == 1454283640101786695  # In every process.
