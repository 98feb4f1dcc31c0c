"""PPO: the loss by hand, the defaults as shipped."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from spiel_dl import ArrayPolicy, GameTree, nash_conv
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.learning.config import PPOConfig
from spiel_dl.policies.policy_network import MaskedPolicy
from tests.learning.learner_checks import EASY_GAMES, loss_of_one_move

SMALL = PPOConfig(batch_size=64, hidden_sizes=(32, 32), learning_rate=1e-3, seed=1)


BY_HAND = (
    (0.6, 2.0, -2.4), (0.44, 2.0, -2.2), (0.2, 2.0, -1.0), (0.6, -2.0, 3.0), (0.2, -2.0, 1.6)
)  # fmt: skip
"""The probability of the move, its advantage, its loss."""


@pytest.mark.parametrize(("probability", "advantage", "loss"), BY_HAND)
def test_the_loss_by_hand(probability: float, advantage: float, loss: float) -> None:
    learner = PPOSolver("kuhn_poker", SMALL)
    found = loss_of_one_move(learner, [probability, 1 - probability], advantage)
    assert found == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize(
    ("probability", "loss"),
    # The values 1 and -2 are 1.8 above their mean -0.8, and 1.2 below it; pi_old is 0.4 and 0.6. At
    # 0.44, ratios are 1.1 and 0.56 / 0.6. At 0.6, 1.5 is clipped to 1.2 and 2 / 3 to 0.8.
    [
        (0.4, 0.0),
        (0.44, -(0.4 * 1.1 * 1.8 - 0.6 * 0.56 / 0.6 * 1.2)),
        (0.6, -(0.4 * 1.2 * 1.8 - 0.6 * 0.8 * 1.2)),
    ],
)
def test_what_is_expected_of_actions_is_clipped_as_well(probability: float, loss: float) -> None:
    learner = PPOSolver("kuhn_poker", SMALL)
    move = learner.play()._replace(behaviour=torch.tensor([[[0.4, 0.6]]]))
    pi = torch.tensor([[[probability, 1 - probability]]])
    found = learner.expected_loss(MaskedPolicy(pi, pi.log()), move, torch.tensor([[[1.0, -2.0]]]))
    assert found.losses.item() == pytest.approx(loss, abs=1e-6)


def test_the_bound_of_the_ratio_is_an_option() -> None:
    learner = PPOSolver("kuhn_poker", dataclasses.replace(SMALL, clip=0.4))
    assert loss_of_one_move(learner, [0.6, 0.4], 2.0) == pytest.approx(-2.8, rel=1e-5)


@pytest.mark.parametrize("game", EASY_GAMES)
def test_the_defaults_solve_small_games(game: str) -> None:
    """Measured after 200 steps: 0.26 and less. Uniform play has a NashConv above 1."""
    tree = GameTree.from_game(game)
    assert nash_conv(tree, ArrayPolicy.uniform(tree)) > 1
    learner = PPOSolver(tree)
    learner.run(200)
    assert nash_conv(tree, learner.policy()) < 0.3
