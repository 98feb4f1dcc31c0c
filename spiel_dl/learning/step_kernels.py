"""What compiled loops of learners have in common: from what networks say to gradients.

`learning.rnad_kernel` and `learning.mmd_kernel` have one loop each, over a batch of games once
networks have been asked.

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

from spiel_dl.learning.action_values import HistoryAnswer
from spiel_dl.learning.self_play import Distinct, Trajectories

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)
_inline = numba.njit(inline="always", boundscheck=False, error_model="numpy", nogil=True)


class References(NamedTuple):
    """K policies that the learner is compared with.

    Attributes:
      logits: float32 [K, M, at least A], in any units of a softmax over legal actions.
      place: int64 [T, B], the row of each move.
    """

    logits: torch.Tensor
    place: torch.Tensor


def run_kernel(
    kernel: Any,
    outputs: torch.Tensor,
    others: list[torch.Tensor],
    histories: HistoryAnswer | None,
    trajectories: Trajectories,
    seen: Distinct,
    settings: tuple[float, ...],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Calls a compiled loop of a learner.

    Args:
      kernel: it takes the gradient and the terms, which it adds to; the outputs and the others; of
        histories the action values, the row of each move, and the gradient, which it adds to; of
        the games what stands here first; and the settings.
      outputs: float32 [N, A + 1], what the current network says of the rows.
      others: what else networks say.
      histories: action values of histories, if there are any; their gradient is added to.
      trajectories: the games.
      seen: their observations, the rows.
      settings: numbers.

    Returns:
      The gradient, float32 [N, A + 1], and the terms that the learner reports, float32 [3].
    """
    assert seen.place is not None  # on a CPU
    games = (
        seen.place, trajectories.legal, trajectories.player, trajectories.action,
        trajectories.behaviour, trajectories.reward, trajectories.valid,
    )  # fmt: skip
    if histories is None:
        known = (torch.zeros((0, 0)), torch.zeros((0, 0), dtype=torch.int64), torch.zeros((0, 0)))
    else:
        known = (histories.answer.outputs, histories.place, histories.gradient)
    gradient, terms = torch.zeros(outputs.shape), torch.zeros(3)
    *said, by_said = known
    kernel(
        gradient.numpy(),
        terms.numpy(),
        *arrays(outputs, *others),
        (*arrays(*said), by_said.numpy()),  # what is written to is not copied
        arrays(*games),
        tuple(map(float, settings)),
    )
    return gradient, terms


def arrays(*tensors: torch.Tensor) -> tuple[np.ndarray, ...]:
    """Tensors as a compiled loop takes them: without gaps.

    Networks' outputs may have gaps, and a loop would be compiled once for each combination of
    arrays with and without. They are copied then, so a loop must not write to them.
    """
    return tuple(np.ascontiguousarray(tensor.numpy()) for tensor in tensors)


@_inline
def legal_actions(legal: np.ndarray, actions: np.ndarray) -> int:
    """Writes the numbers of legal actions; returns how many there are."""
    count = 0
    for action in range(len(legal)):
        if legal[action]:
            actions[count] = action
            count += 1
    return count


@_inline
def log_softmax(
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
def go_back_by_histories(
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
