"""Helpers for tests of several learners."""

from __future__ import annotations

import torch

from spiel_dl.learning.policy_gradient import PolicyGradientLearner
from spiel_dl.learning.sources import MoveInputs, Trajectories
from spiel_dl.policies.policy_network import MaskedPolicy

EASY_GAMES = (
    "liars_dice(dice_sides=2)",
    "python_goofspiel_ii(num_cards=3,points_order=descending)",
)
"""Small games in which uniform play loses much: a NashConv of 1.125 and 1.333."""


def uniform(observation: object, legal: torch.Tensor) -> torch.Tensor:
    """Plays all legal actions alike."""
    del observation
    return legal / legal.sum(dim=1, keepdim=True).clamp(min=1)


def loss_of_one_move(
    learner: PolicyGradientLearner,
    policy: list[float],
    advantage: float,
    magnet: tuple[float, float] = (0.5, 0.5),
) -> float:
    """The policy loss of one move: action 0, which was played with probability 0.4."""
    played = learner.play()
    move = played._replace(
        action=torch.zeros((1, 1), dtype=torch.int64), behaviour=torch.tensor([[[0.4, 0.6]]])
    )
    pi, log_magnet = torch.tensor([[policy]]), torch.tensor([[magnet]]).log()
    current, advantages = MaskedPolicy(pi, pi.log()), torch.tensor([[advantage]])
    return learner.policy_loss(current, move, advantages, [log_magnet]).losses.item()


def games_of(
    *, behaviour: torch.Tensor, action: torch.Tensor, player: torch.Tensor, valid: torch.Tensor
) -> Trajectories:
    """Games of which nothing else is known; each move has an observation of its own."""
    nothing = torch.zeros(0)
    return Trajectories(
        observations=MoveInputs(nothing, None, action.shape),
        legal=nothing,
        player=player,
        action=action,
        behaviour=behaviour,
        reward=nothing,
        valid=valid,
    )
