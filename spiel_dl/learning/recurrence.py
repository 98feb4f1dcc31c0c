"""Linear recurrences from the last move to the first, which v-trace and its relatives solve."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games.compiled import kernel


def solve_backwards(constant: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Solves x_t = constant_t + factor_t x_(t+1), where x_T is 0; on a CPU step by step.

    Args:
      constant: float [T, ...].
      factor: float [T, ...], of the same shape and type.

    Returns:
      x, of the same shape.
    """
    if not constant.is_cpu:
        return solve_by_doubling(constant, factor)
    x = constant.clone(memory_format=torch.contiguous_format)
    _step_backwards(x.flatten(1).numpy(), factor.flatten(1).numpy())
    return x


def solve_by_doubling(constant: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """As `solve_backwards`, in log2 T rounds instead of T steps.

    Each round doubles `reach`: x_t is then expressed by x_(t + reach), times `factor`.
    """
    x, reach, num_steps = constant.clone(), 1, len(constant)
    while reach < num_steps:
        count = num_steps - reach
        x[:count].add_(factor[:count] * x[reach:])
        if 2 * reach < num_steps:
            factor = factor[:-reach] * factor[reach:]
        reach *= 2
    return x


def one_later(x: torch.Tensor) -> torch.Tensor:
    """x shifted by one move: x_(t+1) at t, 0 at the last one, of the shape of x, [T, ...]."""
    return torch.cat([x[1:], torch.zeros_like(x[:1])])


@kernel
def _step_backwards(x: np.ndarray, factor: np.ndarray) -> None:
    """Solves the recurrence in place; x, [T, N], holds the constants before."""
    for t in range(len(x) - 2, -1, -1):
        for column in range(x.shape[1]):
            x[t, column] += factor[t, column] * x[t + 1, column]
