"""Perceptrons of lists of what is not 0 say, and learn, what they do of the matrix."""

from __future__ import annotations

import pytest
import torch

from spiel_dl.networks.listed_inputs import ListedInputs
from spiel_dl.policies.policy_network import PolicyNetwork


def made_up_rows() -> torch.Tensor:
    """Mostly zeros; also numbers other than 1, a full row, and one without anything."""
    generator = torch.manual_seed(0)
    rows = torch.randn((9, 40), generator=generator)
    rows *= torch.rand(rows.shape, generator=generator) < 0.2
    rows[2:5] = (rows[2:5] != 0).float()
    rows[6], rows[8] = 0.5, 0.0
    return rows


def test_rows_are_what_was_listed() -> None:
    rows = made_up_rows()
    listed = ListedInputs.of(rows)
    assert torch.equal(listed.dense(), rows)
    assert listed.length.tolist() == (rows != 0).sum(dim=1).tolist()
    some = torch.tensor([8, 3, 3, 6])
    assert torch.equal(listed.take(some).dense(), rows[some])
    assert ListedInputs.of(rows[:0]).dense().shape == (0, 40)


@pytest.mark.parametrize("hidden_sizes", [(24,), (24, 12), (8, 8, 8)])
@pytest.mark.parametrize("num_actions", [1, 15, 18])
def test_outputs_and_gradients_are_those_of_matrices(
    hidden_sizes: tuple[int, ...], num_actions: int
) -> None:
    network = PolicyNetwork(40, num_actions, hidden_sizes)
    rows, gradients, outputs = made_up_rows(), [], []
    parameters = torch.randn(network.num_parameters, generator=torch.manual_seed(1))
    for inputs in (ListedInputs.of(rows), rows):
        learned = parameters.clone().requires_grad_()
        said = network.outputs(learned, inputs)
        by_outputs = torch.randn(said.shape, generator=torch.manual_seed(2))
        said.backward(by_outputs)
        outputs.append(said.detach())
        gradients.append(learned.grad)
    assert torch.allclose(*outputs, rtol=1e-4, atol=1e-4)
    assert torch.allclose(*gradients, rtol=1e-4, atol=1e-3)
    assert bool(gradients[0].abs().max() > 1)
    # The same without autograd, whatever the inputs are told as.
    for inputs in (ListedInputs.of(rows), rows):
        answer = network.answer(parameters, inputs)
        assert torch.equal(answer.outputs, outputs[0])
        assert torch.equal(answer.gradient(by_outputs), gradients[0])


def test_several_networks_are_evaluated_together() -> None:
    network = PolicyNetwork(40, 18, (24, 12))
    parameters = torch.randn((2, network.num_parameters), generator=torch.manual_seed(3))
    together = network.outputs(parameters, ListedInputs.of(made_up_rows()))
    for alone, said in zip(parameters, together, strict=True):
        assert torch.equal(network.outputs(alone, ListedInputs.of(made_up_rows())), said)
