"""Two-player v-trace: targets for values and action values from trajectories of interleaved moves.

Perolat et al. (2022), "Mastering the game of Stratego with model-free multiagent reinforcement
learning", Methods and the supplement's section on v-trace; Espeholt et al. (2018), "IMPALA", for
one player. Going back from the end of a game, each player sees the moves of the other, and chance,
as part of its environment. With

    rho_t = pi(a_t) / mu(a_t)          ratio of the evaluated to the acting policy
    K_t = eta sum_a pi(a) log(pi(a) / pi_reg(a))

player i is paid r_t^i, its utility, plus -K_t at its own moves and +K_t at the opponent's. At a
move of i, let w be the product of rho over this move and the opponent's moves until i's next one, R
the unweighted sum of what i is paid meanwhile, V' its value at its next move and v' the target
there, both 0 at the end:

    v_t = V_t + min(rho_bar, w) (R + V' - V_t) + min(c_bar, w) (v' - V')
    Q_t(a) = V_t - eta log(pi(a) / pi_reg(a)) + [a = a_t] (D + w' v' - V_t) / mu(a_t)

where w' is w without this move's own ratio, and D sums what i is paid from this move to its next
one, this move's own -K_t excepted, each payment weighted by the opponent's ratios up to it. So Q_t
is what an action earns from here on, its own regularisation cost included.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from spiel_dl.learning.recurrence import one_later, solve_backwards
from spiel_dl.learning.sources import Trajectories


class Targets(NamedTuple):
    """V-trace's targets for the mover, at every move.

    Attributes:
      value: float32 [T, B], v_t.
      action_value: float32 [T, B, A], Q_t.
    """

    value: torch.Tensor
    action_value: torch.Tensor


def v_trace(
    *,
    value: torch.Tensor,
    policy: torch.Tensor,
    log_ratio: torch.Tensor,
    trajectories: Trajectories,
    reward: torch.Tensor,
    eta: float,
    c_bar: float = 1.0,
    rho_bar: float = math.inf,
) -> Targets:
    """Targets for both players' moves; the module's docstring has the equations.

    Args:
      value: V, float [T, B], the value of the mover for itself.
      policy: pi, float [T, B, A], the policy to evaluate; 0 for illegal actions.
      log_ratio: log(pi / pi_reg), float [T, B, A]; 0 for illegal actions.
      trajectories: the games, played by mu.
      reward: float [T, B], player 0's reward for the move.
      eta: weight of the regularisation.
      c_bar: bound on the ratios that carry a target backwards.
      rho_bar: bound on the ratios that correct a value; infinite: unbiased.

    Returns:
      Targets; without meaning at invalid moves.
    """
    column, valid = trajectories.action.unsqueeze(-1), trajectories.valid
    acting = trajectories.of_actions(trajectories.behaviour)
    # Where nobody moves, the acting policy may be 0 at any action.
    ratio = (trajectories.of_actions(policy) / acting).where(valid, 1.0)
    cost = (policy * log_ratio).sum(dim=-1).mul_(eta) * valid
    v, error = _solve(value, ratio, cost, reward * valid, _own_moves(trajectories), c_bar, rho_bar)
    q = torch.sub(value.unsqueeze(-1), log_ratio, alpha=eta)
    return Targets(v, q.scatter_add_(-1, column, (error / acting).unsqueeze(-1)))


def on_policy_targets(
    *, value: torch.Tensor, trajectories: Trajectories, reward: torch.Tensor, c_bar: float
) -> torch.Tensor:
    """Targets of values under the policy that acted, without regularisation: float [T, B].

    Args:
      value: V, float [T, B], the value of the mover for itself.
      trajectories: the games.
      reward: float [T, B], player 0's reward for the move.
      c_bar: the lambda of generalized advantage estimation.
    """
    reward, own = reward * trajectories.valid, _own_moves(trajectories)
    ratio, cost = torch.ones_like(value), torch.zeros_like(value)
    return _solve(value, ratio, cost, reward, own, c_bar, math.inf)[0]


def _own_moves(trajectories: Trajectories) -> torch.Tensor:
    """Whether a valid move is that of each player: bool [T, 2, B]."""
    player = trajectories.player
    return torch.stack([player == 0, player == 1], dim=1) & trajectories.valid.unsqueeze(1)


def _solve(
    value: torch.Tensor,
    ratio: torch.Tensor,
    cost: torch.Tensor,
    reward: torch.Tensor,
    own: torch.Tensor,
    c_bar: float,
    rho_bar: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """V-trace by linear recurrences; the module's docstring has the symbols.

    Args:
      value: V, float [T, B].
      ratio: rho, float [T, B]; 1 where nobody moves.
      cost: K, float [T, B]; 0 where nobody moves.
      reward: float [T, B], player 0's; 0 where nobody moves.
      own: bool [T, 2, B], whether it is each player's own move.
      c_bar: bound on the ratios that carry a target backwards.
      rho_bar: bound on the ratios that correct a value.

    Returns:
      v_t and D + w' v' - V_t, float [T, B] each; without meaning where nobody moves.
    """
    # [T, 2, B] from here on, once for each player. `carries` is 1 at the other player's moves, over
    # which quantities are carried from the player's next own move to its last one.
    carries = (~own).to(value.dtype)
    value, ratio = value.unsqueeze(1).expand(own.shape), ratio.unsqueeze(1)
    utility = torch.stack([reward, -reward], dim=1)
    payment = torch.where(own, -cost.unsqueeze(1), cost.unsqueeze(1))

    # Four recurrences at once, each with its own factor.
    owns, weighing = 1 - carries, carries * ratio
    constant = torch.stack(
        [
            carries * (utility + payment),
            owns * value,
            carries * payment + weighing * utility,
            owns,
        ],
        dim=1,
    )
    factor = torch.stack([carries, carries, weighing, weighing], dim=1)
    # Behind the end the weight is 1, where recurrences have 0; so its share is added here.
    constant[-1, 3] += weighing[-1]
    paid, next_value, weighted, next_weight = one_later(solve_backwards(constant, factor)).unbind(1)
    next_weight[-1] = 1.0

    total = paid + utility + payment
    w = ratio * next_weight
    corrected = _bounded(w, rho_bar) * (total + next_value - value)
    # Target minus value, v' - V', of the player's first own move from this move on.
    gap = solve_backwards(owns * corrected, torch.where(own, _bounded(w, c_bar), carries))
    next_target = next_value + one_later(gap)
    error = weighted + utility + next_weight * next_target - value
    is_second = own[:, 1]
    v = value + gap
    return (
        torch.where(is_second, v[:, 1], v[:, 0]),
        torch.where(is_second, error[:, 1], error[:, 0]),
    )


def _bounded(weight: torch.Tensor, bound: float) -> torch.Tensor:
    return weight if bound == math.inf else weight.clamp(max=bound)
