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
from typing import Any, NamedTuple

import torch

from spiel_dl.learning import kernels


class Targets(NamedTuple):
    """What v-trace estimates for the mover, move by move.

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
    behaviour: torch.Tensor,
    action: torch.Tensor,
    player: torch.Tensor,
    valid: torch.Tensor,
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
      behaviour: mu, float [T, B, A], the policy that acted.
      action: int64 [T, B], the actions it took.
      player: int8 [T, B], who moved.
      valid: bool [T, B], which moves are part of a game: in each column the first ones.
      reward: float [T, B], what the move earned player 0.
      eta: weight of the regularisation.
      c_bar: bound on the ratios that carry a target backwards.
      rho_bar: bound on the ratios that correct a value; infinite: unbiased.

    Returns:
      Targets; without meaning at invalid moves.
    """
    column = action.unsqueeze(-1)
    acting = behaviour.gather(-1, column).squeeze(-1)
    ratio = (policy.gather(-1, column).squeeze(-1) / acting).where(valid, 1.0)
    cost = eta * (policy * log_ratio).sum(dim=-1) * valid
    steps = (value, ratio, cost, reward, player, valid)
    if value.device.type == "cpu":
        arrays: list[Any] = [*(x.contiguous().numpy() for x in steps), c_bar, rho_bar]
        v, error = map(torch.from_numpy, kernels.go_back(*arrays))
    else:
        v, error = go_back(*steps, c_bar, rho_bar)
    q = value.unsqueeze(-1) - eta * log_ratio
    return Targets(v, q.scatter_add(-1, column, (error / acting).unsqueeze(-1)))


def go_back(
    value: torch.Tensor,
    ratio: torch.Tensor,
    cost: torch.Tensor,
    reward: torch.Tensor,
    player: torch.Tensor,
    valid: torch.Tensor,
    c_bar: float,
    rho_bar: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `kernels.go_back`, on any device; without meaning at invalid moves."""
    # [T, 2, B] from here on: everything once for each player.
    players = torch.arange(2, device=player.device, dtype=player.dtype)[:, None]
    own = (player.unsqueeze(1) == players) & valid.unsqueeze(1)
    sign = torch.where(players == 0, 1.0, -1.0).to(reward.dtype)
    utility = (reward * valid).unsqueeze(1) * sign
    regularisation = torch.where(own, -cost.unsqueeze(1), cost.unsqueeze(1))
    columns = (x.unbind() for x in (own, utility, regularisation, ratio, value))
    targets, errors = _go_back_for_both(list(zip(*columns, strict=True)), c_bar, rho_bar)
    mover = (player == 1).unsqueeze(1).long()
    v = torch.stack(targets).gather(1, mover).squeeze(1)
    error = torch.stack(errors).gather(1, mover).squeeze(1)
    return v, error


def _go_back_for_both(
    steps: list[tuple[torch.Tensor, ...]], c_bar: float, rho_bar: float
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """From the last move to the first, for both players ([2, B] each).

    Returns:
      For every move, v_t and D + w' v' - V_t, meaningful for the mover.
    """
    zero = torch.zeros_like(steps[0][1])
    paid, weighted, next_value, next_target = zero, zero, zero, zero
    weight = torch.ones_like(zero)
    targets, errors = [], []
    for own, utility, regularisation, ratio, value in reversed(steps):
        paid = paid + utility + regularisation
        weighted = weighted + utility
        after = weighted + weight * next_target
        weight = ratio * weight
        corrected = _bounded(weight, rho_bar) * (paid + next_value - value)
        target = value + corrected + _bounded(weight, c_bar) * (next_target - next_value)
        targets.append(target)
        errors.append(after - value)
        # At an own move a new stretch begins; the opponent's moves are added to the one there is.
        paid = torch.where(own, zero, paid)
        weighted = torch.where(own, zero, regularisation + ratio * weighted)
        weight = torch.where(own, 1.0, weight)
        next_value = torch.where(own, value, next_value)
        next_target = torch.where(own, target, next_target)
    return targets[::-1], errors[::-1]


def _bounded(weight: torch.Tensor, bound: float) -> torch.Tensor:
    return weight if bound == math.inf else weight.clamp(max=bound)
