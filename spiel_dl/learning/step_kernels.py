"""What learners do with a batch of games once networks have been asked, in one compiled loop each.

For a CPU, where a torch operation on a batch costs more to start than to do, and where moves that
nobody makes need no work. The same by torch, in `algorithms.rnad` and `algorithms.mmd`, is the
definition; other devices use it.

Outputs are one row for each distinct observation, or for each move; `place` says which move has
which. A gradient is that of the rows: what moves of the same row say is added up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import torch

from spiel_dl.learning.kernels import at_the_end, go_back_a_move
from spiel_dl.learning.self_play import Distinct, Trajectories

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_TINY = np.finfo(np.float32).tiny
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class References(NamedTuple):
    """K policies that the learner is compared with.

    Attributes:
      logits: float32 [K, M, at least A], in any units of a softmax over legal actions.
      place: int64 [T, B], the row of each move.
    """

    logits: torch.Tensor
    place: torch.Tensor


def rnad_gradient(
    outputs: torch.Tensor,
    target_value: torch.Tensor,
    references: References,
    shares: torch.Tensor,
    trajectories: Trajectories,
    seen: Distinct,
    *,
    reward_unit: float,
    eta: float,
    c_bar: float,
    rho_bar: float,
    threshold: float,
    clip: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps 2 to 4 of `algorithms.rnad`, up to the gradient.

    Args:
      outputs: float32 [N, A + 1], what the current network says of the rows: logits and the value.
      target_value: float32 [N], the target network's values.
      references: the K regularisation policies.
      shares: float32 [K], how much of each is in the one that is used.
      trajectories: the games.
      seen: their observations, the rows.
      reward_unit: what rewards are divided by.
      eta: weight of the regularisation.
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values.
      threshold: NeuRD's beta.
      clip: NeuRD's c_n.

    Returns:
      The gradient, float32 [N, A + 1], and the terms `RNaDSolver` reports, float32 [3].
    """
    return _run(
        _rnad,
        outputs,
        [target_value, *references, shares],
        trajectories,
        seen,
        [1 / reward_unit, eta, c_bar, rho_bar, threshold, clip],
    )


def mmd_gradient(
    outputs: torch.Tensor,
    old_value: torch.Tensor,
    references: References,
    trajectories: Trajectories,
    seen: Distinct,
    *,
    reward_unit: float,
    gae_lambda: float,
    value_weight: float,
    temperature: float,
    magnet_weight: float,
    old_weight: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradient of MMD's loss; `algorithms.mmd` has it.

    Args:
      outputs: float32 [N, A + 1], what the current network says of the rows: logits and the value.
      old_value: float32 [N], what the network that played says is their value.
      references: the magnet.
      trajectories: the games.
      seen: their observations, the rows.
      reward_unit: what rewards are divided by.
      gae_lambda: how far advantages trust rewards rather than values.
      value_weight: weight of the value's squared error.
      temperature: weight of the entropy.
      magnet_weight: weight of the distance to the magnet.
      old_weight: weight of the distance to the policy that played.

    Returns:
      The gradient, float32 [N, A + 1], and the terms `PolicyGradientLearner` reports, float32 [3].
    """
    return _run(
        _mmd,
        outputs,
        [old_value, *references],
        trajectories,
        seen,
        [1 / reward_unit, gae_lambda, value_weight, temperature, magnet_weight, old_weight],
    )


def _run(
    kernel: Any,
    outputs: torch.Tensor,
    others: list[torch.Tensor],
    trajectories: Trajectories,
    seen: Distinct,
    numbers: list[float],
) -> tuple[torch.Tensor, torch.Tensor]:
    assert seen.place is not None  # on a CPU
    games = (
        seen.place, trajectories.legal, trajectories.player, trajectories.action,
        trajectories.behaviour, trajectories.reward, trajectories.valid,
    )  # fmt: skip
    gradient, terms = torch.zeros(outputs.shape), torch.zeros(3)
    arrays = [x.detach().numpy() for x in (gradient, terms, outputs, *others, *games)]
    kernel(*arrays, *map(float, numbers))
    return gradient, terms


@_inline
def _legal_actions(legal: np.ndarray, actions: np.ndarray) -> int:
    """Writes the numbers of legal actions; returns how many there are."""
    count = 0
    for action in range(len(legal)):
        if legal[action]:
            actions[count] = action
            count += 1
    return count


@_inline
def _log_softmax(
    logits: np.ndarray, actions: np.ndarray, count: int, log_pi: np.ndarray, pi: np.ndarray
) -> None:
    """Writes log-probabilities and probabilities of the first `count` of some actions."""
    largest, total = np.float32(-np.inf), np.float32(0.0)
    for index in range(count):
        log_pi[index] = logits[actions[index]]
        largest = max(largest, log_pi[index])
    for index in range(count):
        log_pi[index] -= largest
        pi[index] = np.exp(log_pi[index])
        total += pi[index]
    log_total = np.log(total)
    for index in range(count):
        log_pi[index] -= log_total
        pi[index] /= total


@_inline
def _neurd(
    logits: np.ndarray,
    pi: np.ndarray,
    actions: np.ndarray,
    count: int,
    threshold: float,
    clip: float,
    force: np.ndarray,
) -> None:
    """Turns action values to what pushes logits up, of the first `count` of some actions."""
    baseline, centre, mean = 0.0, 0.0, 0.0
    for index in range(count):
        baseline += pi[index] * force[index]
        centre += logits[actions[index]] / count
    for index in range(count):
        push = min(max(force[index] - baseline, -clip), clip)
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
    place: np.ndarray,
    legal: np.ndarray,
    player: np.ndarray,
    action: np.ndarray,
    behaviour: np.ndarray,
    reward: np.ndarray,
    valid: np.ndarray,
    reward_scale: float,
    eta: float,
    c_bar: float,
    rho_bar: float,
    threshold: float,
    clip: float,
) -> None:
    """`rnad_gradient`; adds to the gradient and to the terms."""
    num_actions = legal.shape[2]
    actions = np.empty(num_actions, np.int64)
    log_pi, pi, log_other, other, log_ratio, force = np.empty((6, num_actions), np.float32)
    weights = np.zeros(2)  # of a decision of each player
    for t in range(len(valid)):
        for game in range(valid.shape[1]):
            if valid[t, game]:
                weights[player[t, game]] += 1.0
    num_players = (weights > 0).sum()
    weights = 1 / np.maximum(weights, 1.0)
    value_loss, policy_loss, total_entropy = 0.0, 0.0, 0.0
    behind = np.empty((5, 2))
    for game in range(valid.shape[1]):
        at_the_end(behind)
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, weight = place[t, game], weights[player[t, game]]
            count = _legal_actions(legal[t, game], actions)
            _log_softmax(outputs[row], actions, count, log_pi, pi)
            log_ratio[:count] = log_pi[:count]
            for k in range(len(reference)):
                said = reference[k, reference_place[t, game]]
                _log_softmax(said, actions, count, log_other, other)
                for index in range(count):
                    log_ratio[index] -= shares[k] * log_other[index]
            entropy, distance, ratio, acting = 0.0, 0.0, 1.0, 1.0
            for index in range(count):
                entropy -= pi[index] * log_pi[index]
                distance += pi[index] * log_ratio[index]
                if actions[index] == action[t, game]:
                    acting = behaviour[t, game, actions[index]]
                    ratio = pi[index] / acting

            own, value = player[t, game], target_value[row]
            earned = reward_scale * (reward[t, game] if own == 0 else -reward[t, game])
            target, error = go_back_a_move(
                behind, own, value, ratio, eta * distance, earned, c_bar, rho_bar
            )
            for index in range(count):
                force[index] = value - eta * log_ratio[index]
                if actions[index] == action[t, game]:
                    force[index] += error / acting
            _neurd(outputs[row], pi, actions, count, threshold, clip, force)
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


@_jit
def _mmd(
    gradient: np.ndarray,
    terms: np.ndarray,
    outputs: np.ndarray,
    old_value: np.ndarray,
    reference: np.ndarray,
    reference_place: np.ndarray,
    place: np.ndarray,
    legal: np.ndarray,
    player: np.ndarray,
    action: np.ndarray,
    behaviour: np.ndarray,
    reward: np.ndarray,
    valid: np.ndarray,
    reward_scale: float,
    gae_lambda: float,
    value_weight: float,
    temperature: float,
    magnet_weight: float,
    old_weight: float,
) -> None:
    """`mmd_gradient`; adds to the gradient and to the terms.

    All policy terms but the first are sum_a pi(a) (c log pi(a) - log r(a)) with constants c and r,
    whose derivative by a logit is pi(b) times its own bracket minus the mean bracket.
    """
    num_actions = legal.shape[2]
    actions = np.empty(num_actions, np.int64)
    log_pi, pi, log_other, other, bracket = np.empty((5, num_actions), np.float32)
    weight = 1 / max(1, valid.sum())
    value_loss, policy_loss, total_entropy = 0.0, 0.0, 0.0
    behind = np.empty((5, 2))
    for game in range(valid.shape[1]):
        at_the_end(behind)
        for t in range(len(valid) - 1, -1, -1):
            if not valid[t, game]:
                continue
            row, own = place[t, game], player[t, game]
            earned = reward_scale * (reward[t, game] if own == 0 else -reward[t, game])
            value = old_value[row]
            # The policy is the one that played, and nothing is paid for.
            target, _ = go_back_a_move(behind, own, value, 1.0, 0.0, earned, gae_lambda, np.inf)
            advantage = target - value

            count = _legal_actions(legal[t, game], actions)
            _log_softmax(outputs[row], actions, count, log_pi, pi)
            said = reference[0, reference_place[t, game]]
            _log_softmax(said, actions, count, log_other, other)
            entropy, magnet, old, ratio = 0.0, 0.0, 0.0, 0.0
            for index in range(count):
                own_log = log_pi[index]
                from_magnet = own_log - log_other[index]
                entropy -= pi[index] * own_log
                magnet += pi[index] * from_magnet
                bracket[index] = temperature * own_log + magnet_weight * from_magnet
                acting = behaviour[t, game, actions[index]]
                if old_weight > 0:
                    from_old = own_log - np.log(max(acting, _TINY))
                    old += pi[index] * from_old
                    bracket[index] += old_weight * from_old
                if actions[index] == action[t, game]:
                    ratio = pi[index] / acting
            mean = magnet_weight * magnet + old_weight * old - temperature * entropy
            for index in range(count):
                pull = bracket[index] - mean + ratio * advantage
                pull *= pi[index]
                if actions[index] == action[t, game]:
                    pull -= ratio * advantage
                gradient[row, actions[index]] += weight * pull
            difference = outputs[row, num_actions] - target
            gradient[row, num_actions] += 2 * value_weight * weight * difference
            value_loss += weight * difference * difference
            policy_loss += weight * (magnet_weight * magnet + old_weight * old - ratio * advantage)
            total_entropy += weight * entropy
    terms[0] += value_loss
    terms[1] += policy_loss
    terms[2] += total_entropy
