"""Numbering of keys, beside numpy's sorting."""

import numpy as np
import pytest

from spiel_dl.tree.histories import first_occurrence_ids

GENERATOR = np.random.default_rng(3)


@pytest.mark.parametrize(
    "keys",
    [
        np.zeros(0, np.int64),
        np.array([-1]),
        np.array([7, -7, 7, 0, -7, 2**63 - 1, -(2**63)]),
        GENERATOR.integers(50, size=1000, dtype=np.int32),
        GENERATOR.integers(-(2**63), 2**63 - 1, 5000),
        # All in one place of the table, or next to each other.
        np.repeat(np.arange(64) << 58, 3),
        np.arange(1000)[::-1] // 3,
    ],
)
def test_ids_are_in_the_order_of_first_occurrence(keys):
    ids, first = first_occurrence_ids(keys)
    values, places, inverse = np.unique(keys, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, np.sort(places))
    np.testing.assert_array_equal(keys[first[ids]], keys)
    np.testing.assert_array_equal(ids, np.argsort(np.argsort(places))[inverse])
    assert (ids.dtype, first.dtype, len(first)) == (np.int32, np.int64, len(values))
