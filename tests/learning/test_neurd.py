"""NeuRD by hand, and against the derivative of its loss."""

from __future__ import annotations

import pytest
import torch

from spiel_dl.learning.neurd import centre, neurd_gradient

LEGAL = torch.tensor([1.0, 1.0, 0.0, 1.0])


def gradient(
    logits: list[float], q: list[float], threshold: float = 2.0, clip: float = 100.0
) -> list[float]:
    """Of three legal actions of probability 1/3, and an illegal third one."""
    return neurd_gradient(
        torch.tensor(logits),
        torch.tensor([1 / 3, 1 / 3, 0, 1 / 3]),
        torch.tensor(q),
        LEGAL,
        threshold=threshold,
        clip=clip,
    ).tolist()


def test_advantages_push_logits() -> None:
    # The mean of 3, 0 and 6 is 3; the illegal action's values change nothing.
    assert gradient([0, 0, 50, 0], [3, 0, 1000, 6]) == pytest.approx([0, 3, 0, -3])


def test_logits_beyond_the_threshold_are_not_pushed_further() -> None:
    # Centred logits 2.5, 0.5, -3. The first would rise by 1 and may not; the last would rise by 1
    # and may. Forces 0, -2, 1 have the mean -1/3.
    expected = [-1 / 3, 2 - 1 / 3, 0, -1 - 1 / 3]
    assert gradient([3.5, 1.5, 9, -2], [4, 1, 7, 4]) == pytest.approx(expected)
    # The other way round, the first may fall and the last may not. Forces -1, 2, 0.
    expected = [1 + 1 / 3, -2 + 1 / 3, 0, 1 / 3]
    assert gradient([3.5, 1.5, 9, -2], [1, 4, 7, 1]) == pytest.approx(expected)


def test_advantages_are_clipped() -> None:
    # Advantages 4, -2, -2 become 1, -1, -1, whose mean is -1/3.
    expected = [-4 / 3, 2 / 3, 0, 2 / 3]
    assert gradient([0, 0, 0, 0], [6, 0, 0, 0], clip=1.0) == pytest.approx(expected)


def test_forces_on_what_is_seldom_played_are_a_multiple_of_the_policy_gradient() -> None:
    # The baseline is 0.9, so the forces are 5.1, 1.1 and -0.775. Of the first two, half is left.
    found = neurd_gradient(
        torch.zeros(3),
        torch.tensor([0.1, 0.1, 0.8]),
        torch.tensor([6.0, 2.0, 0.125]),
        torch.ones(3),
        max_gain=5.0,
    ).tolist()
    mean = (2.55 + 0.55 - 0.775) / 3
    assert found == pytest.approx([mean - 2.55, mean - 0.55, mean + 0.775])


def test_a_gain_of_one_is_the_policy_gradient() -> None:
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn((50, 4), generator=generator, dtype=torch.float64, requires_grad=True)
    q = torch.randn((50, 4), generator=generator, dtype=torch.float64)
    policy = logits.softmax(dim=-1)
    (-policy * q).sum().backward()
    legal = torch.ones((50, 4), dtype=torch.float64)
    found = neurd_gradient(logits.detach(), policy.detach(), q, legal, threshold=1e9, max_gain=1.0)
    assert found.numpy() == pytest.approx(logits.grad.numpy())


def test_it_is_the_derivative_of_the_loss() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = 3 * torch.randn((50, 5), generator=generator, dtype=torch.float64)
    legal = torch.rand((50, 5), generator=generator) < 0.6
    legal[:, 1] = True
    q = torch.randn((50, 5), generator=generator, dtype=torch.float64)
    logits.requires_grad_()
    policy = logits.masked_fill(~legal, -torch.inf).softmax(dim=-1)
    advantage = (q - (policy * q).sum(dim=-1, keepdim=True)).clamp(-0.8, 0.8)
    mean = (logits * legal).sum(dim=-1, keepdim=True) / legal.sum(dim=-1, keepdim=True)
    may_rise = (logits - mean < 1.5).double()
    may_fall = (logits - mean > -1.5).double()
    force = may_rise * advantage.clamp(min=0) + may_fall * advantage.clamp(max=0)
    loss = -((logits - mean) * force.detach() * legal).sum()
    (expected,) = torch.autograd.grad(loss, logits)
    found = neurd_gradient(
        logits.detach(), policy.detach(), q, legal.double(), threshold=1.5, clip=0.8
    )
    assert torch.allclose(found, expected)
    assert (found.sum(dim=-1).abs() < 1e-12).all()


def test_no_legal_action_gives_zeros() -> None:
    nothing = torch.zeros((1, 4))
    assert centre(torch.ones((1, 4)), nothing).tolist() == [[0, 0, 0, 0]]
