"""The compiled loops against SciPy and plain NumPy."""

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import kernels


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (8, 8), (9, 50), (100, 33), (0, 4)])
def test_sliced_payoffs_multiply_as_scipy_does(shape, is_large, monkeypatch):
    monkeypatch.setattr(kernels, "LARGE", 0 if is_large else 10**6)
    monkeypatch.setattr(kernels, "_WINDOW", 16)
    rng = np.random.default_rng(sum(shape))
    # Sparse, with empty rows and rows of very different lengths.
    dense = rng.standard_normal(shape) * (rng.random(shape) < rng.random((shape[0], 1)) ** 3)
    dense[rng.random(shape[0]) < 0.2] = 0
    matrix = scipy.sparse.csr_array(dense)
    plan, start = rng.random(shape[1]), rng.random(shape[0])
    sliced = kernels.slice_payoffs(matrix, kernels.parts(matrix)[0])
    result = np.empty(shape[0])
    kernels.counterfactual_values(sliced, start, plan, result)
    np.testing.assert_allclose(result, start + matrix @ plan, rtol=0, atol=1e-13)


def test_parts_share_no_row_and_no_column(monkeypatch):
    dense = [[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0], [0, 3, 4, 0]]
    matrix = scipy.sparse.csr_array(np.array(dense, float))
    assert kernels.parts(matrix) == (None, None)
    monkeypatch.setattr(kernels, "LARGE", 1)
    rows, columns = kernels.parts(matrix)
    assert rows[0] == columns[0]
    assert rows[1] == rows[3] == columns[1] == columns[2]
    assert len({rows[0], rows[1], rows[2], columns[3]}) == 4
