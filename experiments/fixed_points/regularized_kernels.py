"""The compiled loops of `regularized`: NumPy arrays only; numbers are float64."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from spiel_dl.solvers import kernels
from spiel_dl.solvers.kernels import SlicedPayoffs
from spiel_dl.tree.sequence_form import TreeplexArrays

_jit = numba.njit(cache=True, boundscheck=False, error_model="numpy", nogil=True)


class Side(NamedTuple):
    """What there is of one player: the game as it sees it, its policy, and its response.

    Attributes:
      treeplex: its strategy space.
      payoffs: of its sequences against the opponent's.
      visits: chance's reach of its infosets, by the opponent's sequences.
      opponent_visits: the same of the opponent's infosets, by its own sequences as rows.
      constants: float64 [S], what its sequences pay whatever the opponent does.
      log_anchor: float64 [S], what the response is drawn to.
      log_policy, policy, plan: float64 [S], its behaviour policy, and that as realization plan.
      cost: float64 [I], what it pays the opponent at each infoset it comes to.
      paid: float64 [I], cost times its own reach.
      reach: float64 [I], counterfactual reach.
      cfv: float64 [S], counterfactual values of sequences.
      log_response, response: float64 [S], the regularised response to both policies.
      force: float64 [S], log_response minus log_policy.
      last_force: float64 [S], the one before.
    """

    treeplex: TreeplexArrays
    payoffs: SlicedPayoffs
    visits: SlicedPayoffs
    opponent_visits: SlicedPayoffs
    constants: np.ndarray
    log_anchor: np.ndarray
    log_policy: np.ndarray
    policy: np.ndarray
    plan: np.ndarray
    cost: np.ndarray
    paid: np.ndarray
    reach: np.ndarray
    cfv: np.ndarray
    log_response: np.ndarray
    response: np.ndarray
    force: np.ndarray
    last_force: np.ndarray


@_jit
def normalise(treeplex, spread, logits, policy):
    """Turns logits into log-probabilities, in place, and into probabilities.

    Logits that are lower than an infoset's highest by more than `spread` are raised to that.
    """
    first_sequence, num_actions = treeplex.first_sequence, treeplex.num_actions
    for i in range(first_sequence.size):
        first = first_sequence[i]
        end = first + num_actions[i]
        highest = logits[first]
        for s in range(first, end):
            highest = max(highest, logits[s])
        total = 0.0
        for s in range(first, end):
            logits[s] = max(logits[s] - highest, -spread)
            policy[s] = np.exp(logits[s])
            total += policy[s]
        log_total = np.log(total)
        for s in range(first, end):
            logits[s] -= log_total
            policy[s] /= total


@_jit
def _realize(side, temperature, pays, spread):
    """Brings everything that follows from a player's own logits up to date."""
    treeplex, policy = side.treeplex, side.policy
    normalise(treeplex, spread, side.log_policy, policy)
    kernels.realization_plan(treeplex, policy, side.plan)
    if not pays:
        return
    first_sequence, num_actions = treeplex.first_sequence, treeplex.num_actions
    for i in range(first_sequence.size):
        divergence = 0.0
        for s in range(first_sequence[i], first_sequence[i] + num_actions[i]):
            divergence += policy[s] * (side.log_policy[s] - side.log_anchor[s])
        side.cost[i] = temperature * divergence
        side.paid[i] = side.cost[i] * side.plan[treeplex.parent_sequence[i]]


@_jit
def _respond(own, opponent, temperature, pays, spread):
    """Fills a player's response and force; returns how far its policy is from its response."""
    treeplex, cfv = own.treeplex, own.cfv
    kernels.counterfactual_values(own.payoffs, own.constants, opponent.plan, cfv)
    if pays:
        kernels.add_payoffs(own.opponent_visits, opponent.paid, cfv)
    own.reach[:] = 0.0
    kernels.add_payoffs(own.visits, opponent.plan, own.reach)
    parent_sequence, first_sequence = treeplex.parent_sequence, treeplex.first_sequence
    num_actions = treeplex.num_actions
    for i in range(parent_sequence.size - 1, -1, -1):
        first = first_sequence[i]
        end = first + num_actions[i]
        # Where chance never leads, all actions are worth the same.
        scale = 1.0 / (own.reach[i] * temperature) if own.reach[i] > 0.0 else 0.0
        value = -own.reach[i] * own.cost[i]
        for s in range(first, end):
            value += own.policy[s] * cfv[s]
            own.log_response[s] = own.log_anchor[s] + cfv[s] * scale
        cfv[parent_sequence[i]] += value
    normalise(treeplex, spread, own.log_response, own.response)
    residual = 0.0
    for s in range(treeplex.num_root_sequences, cfv.size):
        own.last_force[s] = own.force[s]
        own.force[s] = own.log_response[s] - own.log_policy[s]
        residual = max(residual, abs(own.response[s] - own.policy[s]))
    return residual


@_jit
def respond(sides, temperature, pays, spread):
    """Both players' responses to both policies; returns the larger residual."""
    first, second = sides
    _realize(first, temperature, pays, spread)
    _realize(second, temperature, pays, spread)
    residual = _respond(first, second, temperature, pays, spread)
    return max(residual, _respond(second, first, temperature, pays, spread))


@_jit
def iterate(sides, temperature, pays, spread, stepsize, num_iterations, tolerance):
    """Optimistic steps towards the responses, until the residual is within the tolerance.

    Returns:
      The number of steps done and the residual after the last one.
    """
    residual = np.inf
    for iteration in range(num_iterations):
        for side in sides:
            for s in range(side.treeplex.num_root_sequences, side.log_policy.size):
                step = 2.0 * side.force[s] - side.last_force[s]
                side.log_policy[s] += stepsize * step
        residual = respond(sides, temperature, pays, spread)
        if residual <= tolerance:
            return iteration + 1, residual
    return num_iterations, residual
