"""What v-trace and its relatives have in common: a recurrence from the last move to the first."""

from __future__ import annotations

import torch


def solve_backwards(constant: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Solves x_t = constant_t + factor_t x_(t+1), where x_T is 0.

    It takes log2 T rounds instead of T steps: after each, x_t is known in terms of an x that is
    twice as far ahead.

    Args:
      constant: float [T, ...].
      factor: float [T, ...], of the same shape, or one that is expanded to it.

    Returns:
      x, of the same shape.
    """
    x, reach, num_steps = constant.clone(), 1, len(constant)
    while reach < num_steps:
        known = num_steps - reach
        x[:known].add_(factor[:known] * x[reach:])
        if 2 * reach < num_steps:
            factor = factor[:-reach] * factor[reach:]
        reach *= 2
    return x


def one_later(x: torch.Tensor) -> torch.Tensor:
    """What is one move later, 0 at the last one: of the shape of x, [T, ...]."""
    return torch.cat([x[1:], torch.zeros_like(x[:1])])
