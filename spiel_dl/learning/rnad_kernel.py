"""A learner step of R-NaD in one compiled loop; see `learning.step_kernels`."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import torch

from spiel_dl.learning.action_values import HistoryAnswer
from spiel_dl.learning.kernels import at_the_end, go_back_a_move
from spiel_dl.learning.self_play import Distinct, Trajectories
from spiel_dl.learning.step_kernels import (
    References,
    go_back_by_histories,
    legal_actions,
    log_softmax,
    run_kernel,
)

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class RNaDNumbers(NamedTuple):
    """Settings of a step.

    Attributes:
      reward_scale: what rewards are multiplied by.
      eta: weight of the regularisation.
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values.
      threshold: NeuRD's beta.
      clip: NeuRD's c_n.
      max_gain: the bound on what NeuRD's force is of the policy gradient's.
      sharpness: the power to which regularisation policies are taken, before they are normalised.
      trace_decay: lambda of action values of histories.
    """

    reward_scale: float
    eta: float
    c_bar: float
    rho_bar: float
    threshold: float
    clip: float
    max_gain: float
    sharpness: float
    trace_decay: float


def rnad_gradient(
    outputs: torch.Tensor,
    target_value: torch.Tensor,
    references: References,
    shares: torch.Tensor,
    histories: HistoryAnswer | None,
    trajectories: Trajectories,
    seen: Distinct,
    numbers: RNaDNumbers,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps 2 to 4 of `algorithms.rnad`, up to the gradient.

    Args:
      outputs: float32 [N, A + 1], what the current network says of the rows: logits and the value.
      target_value: float32 [N], the target network's values.
      references: the K regularisation policies.
      shares: float32 [K], how much of each is in the one that is used.
      histories: action values of histories, if there are any; their gradient is added to.
      trajectories: the games.
      seen: their observations, the rows.
      numbers: settings.

    Returns:
      The gradient, float32 [N, A + 1], and the terms `RNaDSolver` reports, float32 [3].
    """
    return run_kernel(
        _rnad,
        outputs,
        [target_value, *references, shares],
        histories,
        trajectories,
        seen,
        numbers,
    )


@_inline
def _neurd(
    logits: np.ndarray,
    pi: np.ndarray,
    actions: np.ndarray,
    count: int,
    threshold: float,
    clip: float,
    max_gain: float,
    force: np.ndarray,
) -> None:
    """Turns action values to what pushes logits up, of the first `count` of some actions."""
    baseline, centre, mean = 0.0, 0.0, 0.0
    for index in range(count):
        baseline += pi[index] * force[index]
        centre += logits[actions[index]] / count
    for index in range(count):
        push = min(max(force[index] - baseline, -clip), clip) * min(1.0, max_gain * pi[index])
        centred = logits[actions[index]] - centre
        if (centred >= threshold and push > 0) or (centred <= -threshold and push < 0):
            push = 0.0
        force[index] = push
        mean += push / count
    for index in range(count):
        force[index] -= mean


@_jit
def _rnad(
    gradient: np.ndarray,
    terms: np.ndarray,
    outputs: np.ndarray,
    target_value: np.ndarray,
    reference: np.ndarray,
    reference_place: np.ndarray,
    shares: np.ndarray,
    histories: tuple[np.ndarray, ...],
    games: tuple[np.ndarray, ...],
    numbers: tuple[float, ...],
) -> None:
    """`rnad_gradient`; adds to the gradient and to the terms."""
    history_value, history_place, history_gradient = histories
    place, legal, player, action, behaviour, reward, valid = games
    (
        reward_scale, eta, c_bar, rho_bar, threshold, clip, max_gain, sharpness, trace_decay,
    ) = numbers  # fmt: skip
    num_actions = legal.shape[2]
    actions = np.empty(num_actions, np.int64)
    log_pi, pi, log_other, other, log_ratio, force = np.empty((6, num_actions), np.float32)
    weights = np.zeros(2)  # of a decision of each player
    for t in range(len(valid)):
        for game in range(valid.shape[1]):
            if valid[t, game]:
                weights[player[t, game]] += 1.0
    num_players = (weights > 0).sum()
    weight_of_history = 1 / max(weights.sum(), 1.0)
    weights = 1 / np.maximum(weights, 1.0)
    knows_histories = len(history_value) > 0
    value_loss, policy_loss, total_entropy = 0.0, 0.0, 0.0
    behind = np.empty((5, 2))
    for game in range(valid.shape[1]):
        at_the_end(behind)
        after = 0.0
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, weight = place[t, game], weights[player[t, game]]
            count = legal_actions(legal[t, game], actions)
            log_softmax(outputs[row], 1.0, actions, count, log_pi, pi)
            for index in range(count):
                log_ratio[index] = log_pi[index]
            for k in range(len(reference)):
                said = reference[k, reference_place[t, game]]
                log_softmax(said, sharpness, actions, count, log_other, other)
                for index in range(count):
                    log_ratio[index] -= shares[k] * log_other[index]
            entropy, distance, taken = 0.0, 0.0, 0
            for index in range(count):
                entropy -= pi[index] * log_pi[index]
                distance += pi[index] * log_ratio[index]
                if actions[index] == action[t, game]:
                    taken = index
            acting = behaviour[t, game, action[t, game]]

            own = player[t, game]
            sign = 1.0 if own == 0 else -1.0
            earned = reward_scale * sign * reward[t, game]
            if knows_histories:
                there = history_place[t, game]
                after = go_back_by_histories(
                    after, sign, eta * distance, earned, weight_of_history, history_value[there],
                    history_gradient[there], actions, count, taken, pi, acting, c_bar, trace_decay,
                    force,
                )  # fmt: skip
                target = sign * after
                for index in range(count):
                    force[index] -= eta * log_ratio[index]
            else:
                value = target_value[row]
                target, error = go_back_a_move(
                    behind, own, value, pi[taken] / acting, eta * distance, earned, c_bar, rho_bar
                )
                for index in range(count):
                    force[index] = value - eta * log_ratio[index]
                force[taken] += error / acting
            _neurd(outputs[row], pi, actions, count, threshold, clip, max_gain, force)
            for index in range(count):
                pull = -weight * force[index]
                gradient[row, actions[index]] += pull
                policy_loss += pull * outputs[row, actions[index]]
            difference = outputs[row, num_actions] - target
            gradient[row, num_actions] += 2 * weight * difference
            value_loss += weight * difference * difference
            total_entropy += weight * entropy
    terms[0] += value_loss
    terms[1] += policy_loss
    terms[2] += total_entropy / num_players
