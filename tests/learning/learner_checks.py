"""What the tests of several learners share."""

from __future__ import annotations

import torch

from spiel_dl.learning.policy_gradient import PolicyGradientLearner
from spiel_dl.learning.self_play import Trajectories

EASY_GAMES = (
    "liars_dice(dice_sides=2)",
    "python_goofspiel_ii(num_cards=3,points_order=descending)",
)
"""Small games in which uniform play loses much: a NashConv of 1.125 and 1.333."""


def loss_of_one_move(
    learner: PolicyGradientLearner,
    policy: list[float],
    advantage: float,
    magnet: tuple[float, float] = (0.5, 0.5),
) -> float:
    """The policy loss of one move: action 0, which was played with probability 0.4."""
    played = learner.play()
    move = Trajectories(
        *played._replace(
            action=torch.zeros((1, 1), dtype=torch.int64),
            behaviour=torch.tensor([[[0.4, 0.6]]]),
        )
    )
    log_pi, log_magnet = torch.tensor([[policy]]).log(), torch.tensor([[[magnet]]]).log()
    advantages = torch.tensor([[advantage]])
    return learner.policy_loss(log_pi, move, advantages, log_magnet).item()


class NegatedAdvantage(PolicyGradientLearner):
    """Does what its advantages advise against: a bug that bounds in tests must notice."""

    def policy_loss(
        self,
        log_pi: torch.Tensor,
        trajectories: Trajectories,
        advantage: torch.Tensor,
        log_magnets: torch.Tensor,
    ) -> torch.Tensor:
        """As the learner's, of the wrong sign."""
        return super().policy_loss(log_pi, trajectories, -advantage, log_magnets)
