"""Sparse inputs, against the dense ones."""

from __future__ import annotations

import pytest
import torch

from spiel_dl.networks.sparse_rows import CPU_BLOCK, SparseRows, to_sparse
from spiel_dl.policies.policy_network import PolicyNetwork


def rows_of(num_rows: int, share: float, num_columns: int = 100) -> torch.Tensor:
    """Rows of which so large a share is not 0."""
    generator = torch.Generator().manual_seed(num_rows)
    numbers = torch.randn((num_rows, num_columns), generator=generator)
    return numbers * (torch.rand(numbers.shape, generator=generator) < share)


@pytest.mark.parametrize("num_rows", [0, 1, 2 * CPU_BLOCK + 7])
def test_products_are_those_of_the_rows_with_a_column_of_ones(num_rows: int) -> None:
    rows = rows_of(num_rows, 0.1)
    found = to_sparse(rows)
    assert isinstance(found, SparseRows)
    assert len(found) == num_rows
    whole = torch.cat([rows, torch.ones((num_rows, 1))], dim=1)
    weight, gradient = torch.randn((101, 12)), torch.randn((num_rows, 12))
    close = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(found.times(weight), whole @ weight, **close)
    torch.testing.assert_close(found.transposed_times(gradient), whole.T @ gradient, **close)
    together = torch.cat([block.times(weight) for block in found.blocks])
    torch.testing.assert_close(together, whole @ weight, **close)


def test_rows_that_would_gain_nothing_stay_as_they_are() -> None:
    for rows in (rows_of(50, 0.5), rows_of(50, 0.1, 20), rows_of(50, 0.1).double()):
        assert to_sparse(rows) is rows


@pytest.mark.parametrize("num_rows", [9, 1200])
@pytest.mark.parametrize("hidden_sizes", [(16,), (16, 24)])
def test_networks_have_the_same_outputs_and_gradients_with_sparse_inputs(
    num_rows: int, hidden_sizes: tuple[int, ...]
) -> None:
    network, rows = PolicyNetwork(100, 5, hidden_sizes), rows_of(num_rows, 0.1)
    parameters = network.initial_parameters(seed=3)
    forward_pass = network.forward_pass(parameters, rows)
    assert isinstance(forward_pass.inputs, SparseRows)
    expected = network.outputs(parameters, rows)
    torch.testing.assert_close(forward_pass.outputs, expected, rtol=1e-4, atol=1e-5)
    slope = torch.randn(expected.shape, generator=torch.Generator().manual_seed(1))
    as_they_are = forward_pass._replace(inputs=rows)
    torch.testing.assert_close(
        forward_pass.gradient(slope), as_they_are.gradient(slope), rtol=1e-4, atol=1e-3
    )
    torch.testing.assert_close(network.values(parameters, forward_pass.inputs), expected[:, -1])
