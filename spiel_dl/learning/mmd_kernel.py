"""A learner step of MMD in one compiled loop; see `learning.step_kernels`."""

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
_TINY = np.finfo(np.float32).tiny


class MMDNumbers(NamedTuple):
    """Settings of a step.

    Attributes:
      reward_scale: what rewards are multiplied by.
      gae_lambda: how far advantages trust rewards rather than values.
      value_weight: weight of the value's squared error.
      temperature: weight of the entropy.
      magnet_weight: weight of the distance to the magnet.
      old_weight: weight of the distance to the policy that played.
      trace_decay: lambda of action values of histories.
    """

    reward_scale: float
    gae_lambda: float
    value_weight: float
    temperature: float
    magnet_weight: float
    old_weight: float
    trace_decay: float


def mmd_gradient(
    outputs: torch.Tensor,
    old_value: torch.Tensor,
    references: References,
    histories: HistoryAnswer | None,
    trajectories: Trajectories,
    seen: Distinct,
    numbers: MMDNumbers,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of MMD's loss; `algorithms.mmd` has it.

    Args:
      outputs: float32 [N, A + 1], what the current network says of the rows: logits and the value.
      old_value: float32 [N], what the network that played says is their value.
      references: the magnet.
      histories: action values of histories, if there are any; their gradient is added to.
      trajectories: the games.
      seen: their observations, the rows.
      numbers: settings.

    Returns:
      The gradient, float32 [N, A + 1], and the terms `PolicyGradientLearner` reports, float32 [3].
    """
    return run_kernel(
        _mmd,
        outputs,
        [old_value, *references],
        histories,
        trajectories,
        seen,
        numbers,
    )


@_jit
def _mmd(
    gradient: np.ndarray,
    terms: np.ndarray,
    outputs: np.ndarray,
    old_value: np.ndarray,
    reference: np.ndarray,
    reference_place: np.ndarray,
    histories: tuple[np.ndarray, ...],
    games: tuple[np.ndarray, ...],
    numbers: tuple[float, ...],
) -> None:
    """`mmd_gradient`; adds to the gradient and to the terms.

    All policy terms are sum_a pi(a) (c log pi(a) - log r(a) - w(a)) with constants c, r and w, the
    actions' worth; the derivative by a logit is pi(b) times its own bracket minus the mean bracket.
    """
    history_value, history_place, history_gradient = histories
    place, legal, player, action, behaviour, reward, valid = games
    (
        reward_scale, gae_lambda, value_weight, temperature, magnet_weight, old_weight,
        trace_decay,
    ) = numbers  # fmt: skip
    num_actions = legal.shape[2]
    actions = np.empty(num_actions, np.int64)
    log_pi, pi, log_other, other, old, worth, bracket = np.empty((7, num_actions), np.float32)
    knows_histories = len(history_value) > 0
    weight = 1 / max(1, valid.sum())
    value_loss, policy_loss, total_entropy = 0.0, 0.0, 0.0
    behind = np.empty((5, 2))
    for game in range(valid.shape[1]):
        at_the_end(behind)
        after = 0.0
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, own = place[t, game], player[t, game]
            sign = 1.0 if own == 0 else -1.0
            earned = reward_scale * sign * reward[t, game]
            count = legal_actions(legal[t, game], actions)
            taken = 0
            for index in range(count):
                old[index] = behaviour[t, game, actions[index]]
                if actions[index] == action[t, game]:
                    taken = index
            # The policy is the one that played, and nothing is paid for.
            if knows_histories:
                there = history_place[t, game]
                after = go_back_by_histories(
                    after, sign, 0.0, earned, weight, history_value[there],
                    history_gradient[there], actions, count, taken, old, old[taken], 1.0,
                    trace_decay, worth,
                )  # fmt: skip
                target = sign * after
            else:
                value = old_value[row]
                target, _ = go_back_a_move(behind, own, value, 1.0, 0.0, earned, gae_lambda, np.inf)
                worth[:count] = 0.0
                worth[taken] = (target - value) / old[taken]

            log_softmax(outputs[row], 1.0, actions, count, log_pi, pi)
            said = reference[0, reference_place[t, game]]
            log_softmax(said, 1.0, actions, count, log_other, other)
            entropy, magnet, from_old, expected = 0.0, 0.0, 0.0, 0.0
            for index in range(count):
                own_log = log_pi[index]
                from_magnet = own_log - log_other[index]
                entropy -= pi[index] * own_log
                magnet += pi[index] * from_magnet
                expected += pi[index] * worth[index]
                bracket[index] = temperature * own_log + magnet_weight * from_magnet
                if old_weight > 0:
                    gone = own_log - np.log(max(old[index], _TINY))
                    from_old += pi[index] * gone
                    bracket[index] += old_weight * gone
                bracket[index] -= worth[index]
            loss = magnet_weight * magnet + old_weight * from_old - expected
            mean = loss - temperature * entropy
            for index in range(count):
                gradient[row, actions[index]] += weight * pi[index] * (bracket[index] - mean)
            difference = outputs[row, num_actions] - target
            gradient[row, num_actions] += 2 * value_weight * weight * difference
            value_loss += weight * difference * difference
            policy_loss += weight * loss
            total_entropy += weight * entropy
    terms[0] += value_loss
    terms[1] += policy_loss
    terms[2] += total_entropy
