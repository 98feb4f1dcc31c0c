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

from spiel_dl.learning.action_values import HistoryValues
from spiel_dl.learning.kernels import at_the_end, go_back_a_move
from spiel_dl.learning.self_play import Distinct, Trajectories

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_TINY = np.finfo(np.float32).tiny
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class Histories(NamedTuple):
    """What `learning.action_values` says of all histories, and what is learned of it.

    Attributes:
      action_value: float32 [M, A], Q, of player 0; M is 0 where there are no such values.
      place: int64 [T, B], the row of each move.
      gradient: float32 [M, A], zeros, to which the derivative of the loss of Q is added.
      trace_decay: lambda.
    """

    action_value: torch.Tensor
    place: torch.Tensor
    gradient: torch.Tensor
    trace_decay: float

    @classmethod
    def of(cls, values: HistoryValues | None, trace_decay: float) -> Histories:
        """Those of a network's answers; None: there are none."""
        if values is None:
            return cls(
                torch.zeros((0, 0)),
                torch.zeros((0, 0), dtype=torch.int64),
                torch.zeros((0, 0)),
                trace_decay,
            )
        assert values.seen.place is not None  # on a CPU
        said = values.outputs.detach()
        return cls(said, values.seen.place, torch.zeros_like(said), trace_decay)

    def arrays(self) -> list[np.ndarray]:
        """What a kernel needs of it."""
        return [x.numpy() for x in (self.action_value, self.place, self.gradient)]


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
    histories: Histories,
    trajectories: Trajectories,
    seen: Distinct,
    *,
    reward_unit: float,
    eta: float,
    c_bar: float,
    rho_bar: float,
    threshold: float,
    clip: float,
    max_gain: float,
    sharpness: float,
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
      reward_unit: what rewards are divided by.
      eta: weight of the regularisation.
      c_bar: v-trace's bound on the ratios that carry targets backwards.
      rho_bar: v-trace's bound on the ratios that correct values.
      threshold: NeuRD's beta.
      clip: NeuRD's c_n.
      max_gain: the bound on what NeuRD's force is of the policy gradient's.
      sharpness: the power to which regularisation policies are taken, before they are normalised.

    Returns:
      The gradient, float32 [N, A + 1], and the terms `RNaDSolver` reports, float32 [3].
    """
    return _run(
        _rnad,
        outputs,
        [target_value, *references, shares],
        histories,
        trajectories,
        seen,
        [1 / reward_unit, eta, c_bar, rho_bar, threshold, clip, max_gain, sharpness],
    )


def mmd_gradient(
    outputs: torch.Tensor,
    old_value: torch.Tensor,
    references: References,
    histories: Histories,
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
      histories: action values of histories, if there are any; their gradient is added to.
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
        histories,
        trajectories,
        seen,
        [1 / reward_unit, gae_lambda, value_weight, temperature, magnet_weight, old_weight],
    )


def _run(
    kernel: Any,
    outputs: torch.Tensor,
    others: list[torch.Tensor],
    histories: Histories,
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
    arrays = [x.detach().numpy() for x in (gradient, terms, outputs, *others)]
    played = [x.numpy() for x in games]
    kernel(*arrays, *histories.arrays(), *played, *map(float, numbers), histories.trace_decay)
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
    logits: np.ndarray,
    scale: float,
    actions: np.ndarray,
    count: int,
    log_pi: np.ndarray,
    pi: np.ndarray,
) -> None:
    """Writes log-probabilities and probabilities of the first `count` of some actions."""
    largest, total = np.float32(-np.inf), np.float32(0.0)
    for index in range(count):
        log_pi[index] = scale * logits[actions[index]]
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
def _go_back_by_histories(
    after: float,
    sign: float,
    cost: float,
    earned: float,
    weight: float,
    said: np.ndarray,
    gradient: np.ndarray,
    actions: np.ndarray,
    count: int,
    taken: int,
    policy: np.ndarray,
    acting: float,
    bound: float,
    trace_decay: float,
    force: np.ndarray,
) -> float:
    """One move of `action_values.history_targets`.

    Args:
      after: W of the next move.
      sign: s.
      cost: K.
      earned: what the move earned the mover.
      weight: of the error of Q(h, a_t).
      said: Q(h, .), [A].
      gradient: of it, [A]; the loss's derivative is added.
      actions: the legal ones.
      count: how many they are.
      taken: the index among them of the one played.
      policy: pi, of the first `count` of them.
      acting: mu(a_t).
      bound: c_bar.
      trace_decay: lambda.
      force: where the mover's action values are written.

    Returns:
      W of this move.
    """
    expected = 0.0
    for index in range(count):
        force[index] = sign * said[actions[index]]
        expected += policy[index] * said[actions[index]]
    action = actions[taken]
    surprise = sign * earned + after - said[action]
    gradient[action] -= 2 * weight * surprise
    force[taken] += sign * surprise / acting
    carried = trace_decay * min(bound, policy[taken] / acting)
    return expected - sign * cost + carried * surprise


@_jit
def _rnad(
    gradient: np.ndarray,
    terms: np.ndarray,
    outputs: np.ndarray,
    target_value: np.ndarray,
    reference: np.ndarray,
    reference_place: np.ndarray,
    shares: np.ndarray,
    history_value: np.ndarray,
    history_place: np.ndarray,
    history_gradient: np.ndarray,
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
    max_gain: float,
    sharpness: float,
    trace_decay: float,
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
            count = _legal_actions(legal[t, game], actions)
            _log_softmax(outputs[row], 1.0, actions, count, log_pi, pi)
            log_ratio[:count] = log_pi[:count]
            for k in range(len(reference)):
                said = reference[k, reference_place[t, game]]
                _log_softmax(said, sharpness, actions, count, log_other, other)
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
                after = _go_back_by_histories(
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


@_jit
def _mmd(
    gradient: np.ndarray,
    terms: np.ndarray,
    outputs: np.ndarray,
    old_value: np.ndarray,
    reference: np.ndarray,
    reference_place: np.ndarray,
    history_value: np.ndarray,
    history_place: np.ndarray,
    history_gradient: np.ndarray,
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
    trace_decay: float,
) -> None:
    """`mmd_gradient`; adds to the gradient and to the terms.

    All policy terms but the first are sum_a pi(a) (c log pi(a) - log r(a)) with constants c and r,
    whose derivative by a logit is pi(b) times its own bracket minus the mean bracket.
    """
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
            count = _legal_actions(legal[t, game], actions)
            taken = 0
            for index in range(count):
                old[index] = behaviour[t, game, actions[index]]
                if actions[index] == action[t, game]:
                    taken = index
            # The policy is the one that played, and nothing is paid for.
            if knows_histories:
                there = history_place[t, game]
                after = _go_back_by_histories(
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

            _log_softmax(outputs[row], 1.0, actions, count, log_pi, pi)
            said = reference[0, reference_place[t, game]]
            _log_softmax(said, 1.0, actions, count, log_other, other)
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
