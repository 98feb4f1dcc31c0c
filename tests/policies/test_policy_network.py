"""Policy networks: logits and a value, and softmax over legal actions."""

from __future__ import annotations

import math

import pytest
import torch

from spiel_dl.policies.policy_network import PolicyNetwork, log_policy, policy_of


def test_policies_are_softmaxes_over_legal_actions() -> None:
    logits = torch.tensor([[0.0, 100.0, math.log(3)], [1.0, 2.0, 3.0]])
    legal = torch.tensor([[True, False, True], [False, True, False]])
    expected = torch.tensor([[0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(policy_of(logits, legal), expected)
    torch.testing.assert_close(log_policy(logits, legal).exp(), expected)
    # Bits, not nearly: an illegal action is never played.
    assert (policy_of(logits, legal)[~legal] == 0).all()


def test_everything_is_finite_where_nothing_is_legal() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    nothing = torch.zeros((1, 3), dtype=torch.bool)
    logs = log_policy(logits, nothing)
    assert logs.isfinite().all()
    logs.sum().backward()
    assert not logits.grad.any()


@pytest.mark.parametrize("sizes", [(0, 3, (8,)), (5, 3, (8, 0)), (5, -1, (8,))])
def test_empty_layers_are_refused(sizes: tuple[int, int, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="has an empty layer; all must be positive"):
        PolicyNetwork(*sizes)
    with pytest.raises(ValueError, match=r"hidden_sizes=\(\) has no layer"):
        PolicyNetwork(5, 3, ())
