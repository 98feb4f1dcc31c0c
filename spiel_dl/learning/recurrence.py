"""What v-trace and its relatives have in common: a recurrence from the last move to the first."""

from __future__ import annotations

import numba
import numpy as np
import torch


def solve_backwards(constant: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Solves x_t = constant_t + factor_t x_(t+1), where x_T is 0: step by step on a CPU.

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

    After each, x_t is known in terms of an x that is twice as far ahead.
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


@numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
def _step_backwards(x: np.ndarray, factor: np.ndarray) -> None:
    """Solves it in place; x, [T, N], is the constant before."""
    for t in range(len(x) - 2, -1, -1):
        for column in range(x.shape[1]):
            x[t, column] += factor[t, column] * x[t + 1, column]
