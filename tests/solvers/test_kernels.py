"""The compiled loops against SciPy and plain NumPy."""

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import kernels


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (8, 8), (9, 50), (100, 33), (0, 4)])
def test_sliced_payoffs_multiply_as_scipy_does(shape):
    rng = np.random.default_rng(sum(shape))
    # Sparse, with empty rows and rows of very different lengths.
    dense = rng.standard_normal(shape) * (rng.random(shape) < rng.random((shape[0], 1)) ** 3)
    dense[rng.random(shape[0]) < 0.2] = 0
    matrix = scipy.sparse.csr_array(dense)
    plan, start = rng.random(shape[1]), rng.random(shape[0])
    sliced = kernels.slice_payoffs(matrix)
    result = np.empty(shape[0])
    kernels.counterfactual_values(sliced, start, plan, result)
    np.testing.assert_allclose(result, start + matrix @ plan, rtol=0, atol=1e-13)
