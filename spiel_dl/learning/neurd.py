"""Neural replicator dynamics (NeuRD): the policy gradient with the softmax's derivative left out.

Hennes et al. (2020), "Neural Replicator Dynamics", eq. 9 and the thresholded variant; Perolat et
al. (2022), Methods. The loss of one decision is

    - sum_a l(a) f(a),   l = logits minus their mean over legal actions,

where the force f = clip(Q - sum_b pi(b) Q(b), -c_n, c_n) is held fixed. f(a) counts as 0 where
l(a) is already at least beta and would be pushed up, or at most -beta and would be pushed down.

From samples, the force on an action that is seldom played is nearly always 0, and huge, as
1 / pi(a), when it is played. The softmax's policy gradient has pi(a) f(a) in place of f(a), and no
such noise, but hardly changes actions that are seldom played. Between the two, for any g, is

    min(1, g pi(a)) f(a),

NeuRD where pi(a) is at least 1 / g, and g times the policy gradient where it is smaller. All have
the same fixed points, those where f is 0. This bound is our addition.
"""

from __future__ import annotations

import math

import torch


def neurd_gradient(
    logits: torch.Tensor,
    policy: torch.Tensor,
    action_value: torch.Tensor,
    mask: torch.Tensor,
    *,
    threshold: float = 2.0,
    clip: float = 10_000.0,
    max_gain: float = math.inf,
) -> torch.Tensor:
    """The derivative of each decision's loss by its logits.

    Args:
      logits: float [..., A].
      policy: pi, float [..., A]; 0 for illegal actions.
      action_value: Q, float [..., A].
      mask: float [..., A], 1 for legal actions and 0 for others.
      threshold: beta.
      clip: c_n.
      max_gain: g, infinite: plain NeuRD.

    Returns:
      Float [..., A]; 0 for illegal actions, and a sum of 0 over legal ones.
    """
    baseline = (policy * action_value).sum(dim=-1, keepdim=True)
    force = (action_value - baseline).clamp_(-clip, clip)
    if max_gain < math.inf:
        force *= (max_gain * policy).clamp_(max=1.0)
    # Minus how far a logit is already in the direction of its force; beyond beta, the force is 0.
    margin = force.sign().mul_(centre(logits, mask)).neg_()
    return centre(torch.ops.aten.threshold_backward(force, margin, -threshold), mask).neg_()


def centre(values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Values minus their mean over legal actions: [..., A]; 0 for illegal ones."""
    mean = (values * mask).sum(dim=-1, keepdim=True) / mask.sum(dim=-1, keepdim=True).clamp_(min=1)
    return (values - mean).mul_(mask)
