"""A critic's targets and their gradient in one compiled loop, for a CPU.

The same by torch, in `learning.critic_training` and `learning.history_vtrace`, is the definition;
other devices use it. `learning.step_kernels` has the like for learners of policies.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import torch

from spiel_dl.learning.self_play import Branches, Distinct, Trajectories
from spiel_dl.learning.step_kernels import arrays
from spiel_dl.learning.transformations import PolicyTransformations

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class CriticNumbers(NamedTuple):
    """Settings of a step; see `learning.history_vtrace`.

    Attributes:
      c_bar: bound on the ratios that carry targets backwards.
      rho_bar: bound on the ratios that correct values.
      trace_decay: what else targets are carried backwards by.
    """

    c_bar: float
    rho_bar: float
    trace_decay: float


def critic_gradient(
    values: torch.Tensor,
    policy: torch.Tensor,
    transformations: PolicyTransformations,
    trajectories: Trajectories,
    seen: Distinct,
    branches: Branches | None,
    values_behind: torch.Tensor,
    numbers: CriticNumbers,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean squared error of a critic's values, and its derivative by them.

    Args:
      values: float32 [N, 2 K], those of the rows, player 0's first.
      policy: the blueprint at all moves, float32 [T, B, A]; 0 for illegal actions.
      transformations: K of them.
      trajectories: the games.
      seen: their histories, the rows.
      branches: what comes of actions there; None: targets are of what was played.
      values_behind: float32 [M, 2 K], those of the branches' histories.
      numbers: settings.

    Returns:
      The derivative, float32 [N, 2 K], and the error, float32 [].
    """
    assert seen.place is not None  # on a CPU
    gradient, legal = torch.zeros(values.shape), trajectories.legal
    lines = transformations.lines(policy.shape[-1])
    if lines is None:
        transformed = transformations.apply(policy, legal, check=False).numpy()
        lines = (np.zeros((0, 0)), np.zeros((0, 0)))
    else:
        transformed = np.zeros((0, 0, 0, 0), np.float32)
    games = (
        seen.place, legal, trajectories.player, trajectories.action, trajectories.behaviour,
        trajectories.reward, trajectories.valid,
    )  # fmt: skip
    if branches is None:
        behind = (torch.zeros((0, 0), dtype=torch.int64), torch.zeros((0, 0)))
    else:
        behind = (branches.place, branches.utility)
    said, played = arrays(values, policy)
    error = _go_back(
        gradient.numpy(),
        said,
        played,
        (*lines, transformed),
        arrays(*games),
        arrays(*behind, values_behind),
        tuple(map(float, numbers)),
    )
    return gradient, torch.tensor(error, dtype=torch.float32)


@_inline
def _transform(
    kinds: tuple[np.ndarray, ...],
    t: int,
    game: int,
    policy: np.ndarray,
    legal: np.ndarray,
    out: np.ndarray,
) -> None:
    """Writes the transformed policies of a decision, float64 [A, K], legal actions' alone.

    Args:
      kinds: offsets and slopes of weights that are lines, float64 [K, A] each, of size 0 if they
        are not; then what the transformed policies are, float32 [K, T, B, A].
    """
    offset, slope, transformed = kinds
    for k in range(out.shape[1]):
        if len(offset) == 0:
            for a in range(len(legal)):
                out[a, k] = transformed[k, t, game, a]
            continue
        total = 0.0
        for a in range(len(legal)):
            if legal[a]:
                out[a, k] = max(offset[k, a] + slope[k, a] * policy[a], 0.0)
                total += out[a, k]
        is_own = k == 0 or total == 0  # the identity, to the last digit, or nothing is left
        for a in range(len(legal)):
            if legal[a]:
                out[a, k] = policy[a] if is_own else out[a, k] / total


@_jit
def _go_back(
    gradient: np.ndarray,
    values: np.ndarray,
    policy: np.ndarray,
    kinds: tuple[np.ndarray, ...],
    games: tuple[np.ndarray, ...],
    branches: tuple[np.ndarray, ...],
    numbers: tuple[float, ...],
) -> float:
    """`critic_gradient`; adds to the derivative, and returns the error."""
    place, legal, player, action, behaviour, reward, valid = games
    after, utility, values_behind = branches
    c_bar, rho_bar, trace_decay = numbers
    num_kinds, num_actions, num_valid = values.shape[1] // 2, legal.shape[2], 0
    for t in range(valid.shape[0]):
        for game in range(valid.shape[1]):
            num_valid += valid[t, game]
    weight = 1 / (max(num_valid, 1) * 2 * num_kinds)
    is_expected = len(after) > 0
    transformed = np.zeros((num_actions, num_kinds))
    next_value, next_target, expected = np.zeros((3, 2 * num_kinds))
    error = 0.0
    for game in range(valid.shape[1]):
        next_value[:], next_target[:] = 0.0, 0.0
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, mover, taken = place[t, game], player[t, game], action[t, game]
            _transform(kinds, t, game, policy[t, game], legal[t, game], transformed)
            if is_expected:
                expected[:] = 0.0
                for a in range(num_actions):
                    if legal[t, game, a]:
                        there = after[row, a]
                        for column in range(2 * num_kinds):
                            whose = column // num_kinds
                            k = 0 if whose == mover else column - whose * num_kinds
                            worth = utility[row, a] * (1 - 2 * whose)
                            if there >= 0:
                                worth = values_behind[there, column]
                            expected[column] += transformed[a, k] * worth
            for column in range(2 * num_kinds):
                whose = column // num_kinds
                k = 0 if whose == mover else column - whose * num_kinds
                ratio = transformed[taken, k] / behaviour[t, game, taken]
                value = values[row, column]
                if is_expected:
                    target = expected[column]
                else:
                    earned = reward[t, game] * (1 - 2 * whose)
                    target = value + min(rho_bar, ratio) * (earned + next_value[column] - value)
                carried = trace_decay * min(c_bar, ratio)
                target += carried * (next_target[column] - next_value[column])
                difference = value - target
                gradient[row, column] += 2 * weight * difference
                error += weight * difference * difference
                next_value[column], next_target[column] = value, target
    return error
