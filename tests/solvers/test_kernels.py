"""The compiled loops against SciPy and plain NumPy."""

import numba
import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import kernels
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.tree import GameTree, Treeplex


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
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        result = start.copy()
        if threads == 1:
            kernels.add_payoffs(sliced, plan, result)
        else:
            kernels.add_payoffs_parallel(sliced, plan, threads, result)
        np.testing.assert_allclose(result, start + matrix @ plan, rtol=0, atol=1e-13)


def test_padding_stays_small():
    matrix = random_matrix(np.random.default_rng(0), 1000, 200)
    sliced = kernels.slice_payoffs(matrix)
    assert len(sliced.values) < 1.1 * matrix.nnz


def recursive_plan(treeplex: Treeplex, strategy: np.ndarray, sequence: int) -> float:
    """Reach of a sequence, from the definition."""
    if sequence < treeplex.num_root_sequences:
        return 1.0
    parent = int(treeplex.parent_sequence[treeplex.infoset_of_sequence[sequence]])
    return float(strategy[sequence]) * recursive_plan(treeplex, strategy, parent)


def test_realization_plan_and_best_response_by_definition():
    tree = GameTree.from_game("leduc_poker")
    rng = np.random.default_rng(3)
    plans = []
    for treeplex in tree.treeplexes:
        weights = rng.random(treeplex.num_sequences)
        sums = np.repeat(treeplex.sum_per_infoset(weights), treeplex.num_actions)
        strategy = np.concatenate([[1.0], weights[1:] / sums])
        plan = realization_plan(treeplex, strategy)
        expected = [recursive_plan(treeplex, strategy, s) for s in range(treeplex.num_sequences)]
        np.testing.assert_allclose(plan, expected, rtol=1e-12)
        plans.append(plan)
    response = best_response(tree.sequence_form, 0, plans[1])
    plan = realization_plan(tree.treeplexes[0], response.strategy)
    value = plan @ tree.sequence_form.payoffs @ plans[1]
    assert response.value == pytest.approx(value, abs=1e-12)
    # No single deviation improves a best response.
    for infoset in range(0, tree.num_infosets(0), 17):
        for sequence in range(*tree.treeplexes[0].sequences(infoset).indices(10**9)):
            deviation = response.strategy.copy()
            deviation[tree.treeplexes[0].sequences(infoset)] = 0
            deviation[sequence] = 1
            deviated = realization_plan(tree.treeplexes[0], deviation)
            assert deviated @ tree.sequence_form.payoffs @ plans[1] <= value + 1e-12
