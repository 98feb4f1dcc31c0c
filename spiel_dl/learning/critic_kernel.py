"""A critic's targets and their gradient in compiled loops, for a CPU.

The same by torch, in `learning.critic_training` and `learning.history_vtrace`, is the definition;
other devices use it. `learning.step_kernels` has the like for learners of policies.
"""

from __future__ import annotations

import numba
import numpy as np
import torch

from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.transformations import PolicyTransformations

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


def transformed_moves(
    trajectories: Trajectories, policy: torch.Tensor, transformations: PolicyTransformations
) -> torch.Tensor:
    """How likely the moves that were made are, once the policy is transformed.

    Args:
      trajectories: the games.
      policy: the blueprint at all moves, float32 [T, B, A]; 0 for illegal actions.
      transformations: K of them.

    Returns:
      Float32 [T, B, K]; without meaning where nobody moves.
    """
    lines = transformations.lines(policy.shape[-1])
    action = trajectories.action
    if lines is None:
        index = action.unsqueeze(-1).expand(len(transformations), *action.shape, 1)
        transformed = transformations.apply(policy, trajectories.legal, check=False)
        return transformed.gather(-1, index)[..., 0].movedim(0, -1).contiguous()
    played = torch.zeros((*action.shape, len(transformations)))
    arrays = (x.numpy() for x in (policy, trajectories.legal, action, trajectories.valid, played))
    _transform_moves(*lines, *arrays)
    return played


def critic_gradient(
    outputs: torch.Tensor,
    old: torch.Tensor,
    played: torch.Tensor,
    trajectories: Trajectories,
    seen: Distinct,
    c_bar: float,
    rho_bar: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean squared error of a critic's values, and its gradient.

    Args:
      outputs: float32 [N, 2 K], the current network's values of the rows.
      old: float32 [N, at least 2 K], the target network's.
      played: float32 [T, B, K], see `transformed_moves`.
      trajectories: the games.
      seen: their histories, the rows.
      c_bar: see `history_vtrace`.
      rho_bar: the same.

    Returns:
      The gradient by `outputs`, float32 [N, 2 K], and the error, float32 [].
    """
    assert seen.place is not None  # on a CPU
    gradient = torch.zeros(outputs.shape)
    games = (
        seen.place, trajectories.player, trajectories.action, trajectories.behaviour,
        trajectories.reward, trajectories.valid,
    )  # fmt: skip
    error = _go_back(
        *(x.numpy() for x in (gradient, outputs, old, played)),
        tuple(x.numpy() for x in games),
        float(c_bar),
        float(rho_bar),
    )
    return gradient, torch.tensor(error, dtype=torch.float32)


@_jit
def _transform_moves(
    offset: np.ndarray,
    slope: np.ndarray,
    policy: np.ndarray,
    legal: np.ndarray,
    action: np.ndarray,
    valid: np.ndarray,
    played: np.ndarray,
) -> None:
    """Writes `transformed_moves`, of weights that are lines: float64 [K, A] each."""
    num_actions = legal.shape[2]
    for t in range(valid.shape[0]):
        for game in range(valid.shape[1]):
            if not valid[t, game]:
                continue
            pi, may, taken = policy[t, game], legal[t, game], action[t, game]
            played[t, game, 0] = pi[taken]
            for k in range(1, len(offset)):
                total, own = 0.0, 0.0
                for a in range(num_actions):
                    if may[a]:
                        weight = max(offset[k, a] + slope[k, a] * pi[a], 0.0)
                        total += weight
                        if a == taken:
                            own = weight
                played[t, game, k] = own / total if total > 0 else pi[taken]


@_jit
def _go_back(
    gradient: np.ndarray,
    outputs: np.ndarray,
    old: np.ndarray,
    played: np.ndarray,
    games: tuple[np.ndarray, ...],
    c_bar: float,
    rho_bar: float,
) -> float:
    """`critic_gradient`; adds to the gradient, and returns the error."""
    place, player, action, behaviour, reward, valid = games
    num_transformations, num_valid = played.shape[2], 0
    for t in range(valid.shape[0]):
        for game in range(valid.shape[1]):
            num_valid += valid[t, game]
    weight = 1 / (max(num_valid, 1) * 2 * num_transformations)
    next_value, next_target = np.empty((2, 2 * num_transformations), np.float32)
    error = 0.0
    for game in range(valid.shape[1]):
        next_value[:], next_target[:] = 0.0, 0.0
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, mover = place[t, game], player[t, game]
            acting = behaviour[t, game, action[t, game]]
            for whose in range(2):
                earned = reward[t, game] if whose == 0 else -reward[t, game]
                for k in range(num_transformations):
                    column = whose * num_transformations + k
                    ratio = played[t, game, 0 if whose == mover else k] / acting
                    value = old[row, column]
                    corrected = min(rho_bar, ratio) * (earned + next_value[column] - value)
                    carried = min(c_bar, ratio) * (next_target[column] - next_value[column])
                    target = value + corrected + carried
                    difference = outputs[row, column] - target
                    gradient[row, column] += 2 * weight * difference
                    error += weight * difference * difference
                    next_value[column], next_target[column] = value, target
    return error
