"""Off-policy v-trace for critics of histories: values under policies other than the acting one.

Kubíček et al. (2023), section 4.1, equation 1, with undiscounted games of finite length. One
trajectory gives targets for each player i and each transformation f. Let rho_t be the probability
of the move at time t by the policies that are valued (i's own policy at i's moves, the opponent's
transformed policy at the opponent's), divided by the probability with which it was sampled. Then

    v_t' = v_t + rho_t (r_t + v_(t+1) - v_t) + min(c_bar, rho_t) (v_(t+1)' - v_(t+1))

with v = v' = 0 behind the last move; in the second term rho_t is not bounded, as in Table 2. Where
the values after all actions are known, their expectation replaces the first two terms.
`learning.vtrace` is the same for a player's infosets; there a step lasts from one own move to the
next.
"""

from __future__ import annotations

import torch

from spiel_dl.learning.recurrence import one_later, solve_backwards
from spiel_dl.learning.sources import Trajectories


def transformation_ratios(transformed: torch.Tensor, trajectories: Trajectories) -> torch.Tensor:
    """The ratios rho of all moves for both players' values.

    Args:
      transformed: the blueprint at each observation under K transformations, the identity
        first: float [K, N, A], 0 for illegal actions.
      trajectories: the games.

    Returns:
      Float [T, B, 2, K]: for the value of each player, under each transformation of its opponent.
      Without meaning where nobody moves; NaN where a transformation's weights make no policy.
    """
    player = trajectories.player.unsqueeze(-1)
    acting = trajectories.of_actions(trajectories.behaviour).unsqueeze(-1)
    num_rows, num_actions = transformed.shape[1:]
    row = torch.arange(num_rows, device=transformed.device) * num_actions
    index = trajectories.observations.at_moves(row) + trajectories.action
    played = transformed.flatten(1).t()[index] / acting
    # The identity is the first transformation: its ratio is that of the player's own policy.
    own = played[..., :1].expand_as(played)
    ratios = [torch.where(player == who, own, played) for who in (0, 1)]
    return torch.stack(ratios, dim=-2)


def history_v_trace(
    *,
    value: torch.Tensor,
    ratio: torch.Tensor,
    valid: torch.Tensor,
    reward: torch.Tensor,
    c_bar: float = 1.0,
    expected: torch.Tensor | None = None,
) -> torch.Tensor:
    """Targets for the values of all histories; the module's docstring has the equation.

    Args:
      value: v, float [T, B, 2, K], each player's values of the histories before the moves.
      ratio: rho, float [T, B, 2, K].
      valid: bool [T, B], which moves are part of a game: in each column the first ones.
      reward: float [T, B], player 0's reward for the move.
      c_bar: bound on the ratios that carry a target backwards.
      expected: the expected value after the move, over all actions, float [T, B, 2, K]; None: not
        known.

    Returns:
      Float [T, B, 2, K]; the values themselves at invalid moves.
    """
    # Created on the device, as a CUDA graph demands.
    sign = 1 - 2 * torch.arange(2, dtype=value.dtype, device=value.device)
    counts = valid[..., None, None]
    if expected is None:
        own_reward = reward[..., None, None].to(value.dtype) * sign[:, None]
        error = own_reward + one_later(value * counts) - value
        expected = value + ratio * error
    carried = ratio.clamp(max=c_bar) * counts
    return value + solve_backwards((expected - value) * counts, carried)
