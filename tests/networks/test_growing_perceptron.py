"""Perceptrons of lists of ones say, and learn, what they do of the same ones in a matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.networks.growing_inputs import Evaluation, GrowingInputs
from spiel_dl.policies.policy_network import PolicyNetwork

NETWORK = PolicyNetwork(40, 18, (24, 12))


def made_up_inputs() -> GrowingInputs:
    """Rows of three sequences, in turn; the last of them has a single one."""
    generator = np.random.default_rng(0)
    ones = np.stack([generator.permutation(NETWORK.num_inputs)[:15] for _ in range(3)])
    sequence = np.array([0, 1, 0, 1, 0, 2, 1], np.int32)
    ends = np.array([1, 4, 6, 5, 15, 3, 12], np.int32)
    begins = np.array([0, 0, 1, 4, 6, 0, 5], np.int32)
    arrays = (ones.astype(np.int32), sequence, begins, ends)
    return GrowingInputs(*map(torch.from_numpy, arrays), NETWORK.num_inputs)


def made_up_parameters(seed: int) -> torch.Tensor:
    """Also the biases differ from 0."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(NETWORK.num_parameters, generator=generator)


def test_rows_have_the_ones_of_their_sequence_so_far() -> None:
    inputs = made_up_inputs()
    for row, dense in enumerate(inputs.dense()):
        expected = inputs.ones[inputs.sequence[row], : inputs.end[row]]
        assert dense.nonzero()[:, 0].tolist() == sorted(expected.tolist())
        assert int(dense.sum()) == inputs.end[row]


@pytest.mark.parametrize("hidden_sizes", [(24,), (24, 12), (8, 8, 8)])
@pytest.mark.parametrize("num_actions", [1, 15, 18])
def test_outputs_and_gradients_are_those_of_matrices(
    hidden_sizes: tuple[int, ...], num_actions: int
) -> None:
    network = PolicyNetwork(40, num_actions, hidden_sizes)
    inputs, gradients, outputs = made_up_inputs(), [], []
    for rows in (inputs, inputs.dense()):
        parameters = torch.randn(network.num_parameters, generator=torch.manual_seed(1))
        said = network.outputs(parameters.requires_grad_(), rows)
        said.backward(torch.randn(said.shape, generator=torch.manual_seed(2)))
        outputs.append(said.detach())
        gradients.append(parameters.grad)
    assert torch.allclose(*outputs, rtol=1e-4, atol=1e-4)
    assert torch.allclose(*gradients, rtol=1e-4, atol=1e-3)
    assert bool(gradients[0].abs().max() > 1)


def test_several_networks_are_evaluated_together() -> None:
    parameters = torch.stack([made_up_parameters(seed) for seed in (1, 2)])
    together = NETWORK.evaluate(parameters, made_up_inputs())
    for alone, logits, value in zip(parameters, *together, strict=True):
        expected = NETWORK.evaluate(alone, made_up_inputs())
        assert torch.equal(expected.logits, logits)
        assert torch.equal(expected.value, value)


def test_what_was_said_is_used_until_the_parameters_change() -> None:
    parameters = made_up_parameters(3)
    known = torch.full((7, 32), 5.0)
    units = [torch.zeros(7, 32), torch.zeros(7, 16), known]
    evaluation = Evaluation(parameters.clone(), units)
    inputs = made_up_inputs()._replace(evaluation=evaluation)
    assert torch.equal(NETWORK.outputs(parameters.detach(), inputs), known[:, :19])
    # Torch does not count this as a change of the parameters.
    descent = torch.optim.Adam([parameters.requires_grad_()], fused=True)
    parameters.grad = torch.ones_like(parameters)
    descent.step()
    fresh = NETWORK.outputs(parameters, made_up_inputs())
    assert torch.equal(NETWORK.outputs(parameters, inputs), fresh)
