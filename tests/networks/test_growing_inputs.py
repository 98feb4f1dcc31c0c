"""Perceptrons of lists of ones say, and learn, what they do of the same ones in a matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.networks.growing_inputs import GrowingInputs
from spiel_dl.policies.policy_network import PolicyNetwork


def made_up_inputs() -> GrowingInputs:
    """Rows of three sequences, in turn; the last of them has a single one."""
    generator = np.random.default_rng(0)
    ones = np.stack([generator.permutation(40)[:15] for _ in range(3)])
    sequence = np.array([0, 1, 0, 1, 0, 2, 1], np.int32)
    ends = np.array([1, 4, 6, 5, 15, 3, 12], np.int32)
    begins = np.array([0, 0, 1, 4, 6, 0, 5], np.int32)
    return GrowingInputs(ones.astype(np.int32), sequence, begins, ends, 40)


def test_rows_have_the_ones_of_their_sequence_so_far() -> None:
    inputs = made_up_inputs()
    for row, dense in enumerate(inputs.dense()):
        expected = inputs.ones[inputs.sequence[row], : inputs.end[row]]
        assert dense.nonzero()[:, 0].tolist() == sorted(expected.tolist())
        assert int(dense.sum()) == inputs.end[row]


@pytest.mark.parametrize("hidden_sizes", [(24,), (8, 8, 8)])
def test_outputs_and_gradients_are_those_of_matrices(hidden_sizes: tuple[int, ...]) -> None:
    network, inputs = PolicyNetwork(40, 15, hidden_sizes), made_up_inputs()
    parameters = torch.randn(network.num_parameters, generator=torch.manual_seed(1))
    found, expected = (network.answer(parameters, rows) for rows in (inputs, inputs.dense()))
    torch.testing.assert_close(found.outputs, expected.outputs, rtol=1e-4, atol=1e-4)
    slopes = torch.randn(found.outputs.shape, generator=torch.manual_seed(2))
    torch.testing.assert_close(
        found.gradient(slopes), expected.gradient(slopes), rtol=1e-4, atol=1e-4
    )


def test_rows_may_be_shown_a_few_at_a_time() -> None:
    network, inputs = PolicyNetwork(40, 15, (24, 12)), made_up_inputs()
    parameters = torch.randn(network.num_parameters, generator=torch.manual_seed(1))
    running: dict[int, np.ndarray] = {}
    parts = []
    for begin, end in ((0, 2), (2, 2), (2, 5), (5, 7)):
        lists = (x[begin:end] for x in inputs[1:4])
        part = GrowingInputs(inputs.ones, *lists, 40, running)
        parts.append(network.outputs(parameters, part))
    expected = network.outputs(parameters, inputs)
    torch.testing.assert_close(torch.cat(parts), expected, rtol=1e-4, atol=1e-4)
