"""The compiled loops against SciPy and plain NumPy."""

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import kernels


def random_matrix(rng: np.random.Generator, rows: int, columns: int) -> scipy.sparse.csr_array:
    """Sparse, with empty rows and rows of very different lengths."""
    density = rng.random((rows, 1)) ** 3
    dense = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density)
    dense[rng.random(rows) < 0.2] = 0
    return scipy.sparse.csr_array(dense)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (8, 8), (9, 50), (100, 33), (0, 4)])
def test_sliced_payoffs_multiply_as_scipy_does(shape):
    rng = np.random.default_rng(sum(shape))
    matrix = random_matrix(rng, *shape)
    plan, start = rng.random(shape[1]), rng.random(shape[0])
    sliced = kernels.slice_payoffs(matrix)
    result = np.empty(shape[0])
    kernels.counterfactual_values(sliced, start, plan, result)
    np.testing.assert_allclose(result, start + matrix @ plan, rtol=0, atol=1e-13)
