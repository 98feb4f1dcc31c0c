"""Hashes of rows against Python's integers."""

import numpy as np

from spiel_dl.tree.row_hash import RowHash


def test_hashes_are_inner_products_modulo_2_to_the_64():
    generator = np.random.default_rng(0)
    info = np.iinfo(np.int64)
    rows = generator.integers(info.min, info.max, (50, 7), dtype=np.int64, endpoint=True)
    row_hash = RowHash(7, seed=3)
    weights = row_hash.weights.tolist()
    for row, found in zip(rows.tolist(), row_hash(rows).tolist(), strict=True):
        expected = sum(entry * weight for entry, weight in zip(row, weights, strict=True))
        assert (expected - found) % 2**64 == 0


def test_seeds_are_independent_and_the_same_in_every_process():
    first, second = RowHash(4, seed=0).weights, RowHash(4, seed=1).weights
    assert not set(first.tolist()) & set(second.tolist())
    assert first[0] == 1454283640101786695  # In every process.
