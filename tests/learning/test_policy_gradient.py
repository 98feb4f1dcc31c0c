"""Common code of MMD and PPO: advantages, losses, settings."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.ppo import PPOSolver
from spiel_dl.learning.config import MMDConfig, PPOConfig
from spiel_dl.learning.policy_gradient import PolicyLoss
from spiel_dl.policies.policy_network import MaskedPolicy

SMALL = MMDConfig(batch_size=64, hidden_sizes=(32, 32), seed=1, magnet_period=3)


def test_advantages_are_those_of_gae() -> None:
    """Against the recursion over each player's own moves, game by game."""
    solver = MMDSolver("leduc_poker", SMALL)
    played = solver.play()
    value = played.observations.at_moves(
        solver.network.values(solver.parameters, played.observations.rows)
    )
    target, advantage = solver.targets(played, value)
    for game in range(20):
        length = int(played.valid[:, game].sum())
        utility = played.reward[:, game].sum().item() / solver.utility_scale
        for player, sign in ((0, 1), (1, -1)):
            next_value, next_advantage = 0.0, 0.0
            earned = sign * utility
            for t in reversed(range(length)):
                if played.player[t, game] != player:
                    continue
                now = value[t, game].item()
                next_advantage = earned + next_value - now + 0.95 * next_advantage
                assert advantage[t, game].item() == pytest.approx(next_advantage, abs=1e-4)
                assert target[t, game].item() == pytest.approx(now + next_advantage, abs=1e-4)
                next_value, earned = now, 0.0


@pytest.mark.parametrize(
    ("kind", "config"),
    [(MMDSolver, SMALL), (PPOSolver, PPOConfig(batch_size=64, hidden_sizes=(32, 32), seed=1))],
)
def test_slopes_are_the_derivatives_of_losses(kind: Any, config: Any) -> None:
    """Against differences: by logits, a slope s gives pi (s - sum pi s)."""
    solver = kind("kuhn_poker", config)
    solver.config = dataclasses.replace(solver.config, num_epochs=2)
    generator = torch.Generator().manual_seed(3)
    logits, others, old, expected = torch.randn(
        (4, 1, 200, 3), generator=generator, dtype=torch.float64
    )
    legal = torch.ones_like(logits)
    legal[:, ::3, 1] = 0.0
    played = solver.play()._replace(
        action=torch.zeros((1, 200), dtype=torch.int64),
        behaviour=MaskedPolicy.of(old, legal).policy,
    )
    magnet = MaskedPolicy.of(others, legal).log_policy

    def losses(at: torch.Tensor) -> tuple[MaskedPolicy, list[PolicyLoss]]:
        current = MaskedPolicy.of(at, legal)
        found = solver.policy_loss(current, played, expected[..., 0], [magnet])
        return current, [found, solver.expected_loss(current, played, expected)]

    (policy, _), found = losses(logits)
    for which in range(2):
        slope = found[which].slope
        mean = (policy * slope).sum(dim=-1, keepdim=True)
        for action in range(3):
            change = torch.zeros(3, dtype=torch.float64)
            change[action] = 1e-6
            (_, after), (_, before) = losses(logits + change), losses(logits - change)
            measured = (after[which].losses - before[which].losses) / 2e-6
            by_logit = (policy * (slope - mean))[..., action]
            assert measured.abs().max() > 0.1
            assert by_logit.numpy() == pytest.approx(measured.numpy(), abs=1e-6)


def test_the_temperature_falls_with_the_root_of_the_steps() -> None:
    learner = MMDSolver("kuhn_poker", dataclasses.replace(SMALL, annealing_steps=4.0))
    assert learner.temperature() == 0.1
    learner.run(12)
    assert learner.temperature() == pytest.approx(0.05)  # 0.1 / sqrt(1 + 12 / 4)
