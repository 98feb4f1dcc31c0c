"""MMD and PPO: losses by hand, convergence, checkpoints."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.policy_gradient import (
    MMDConfig,
    MMDSolver,
    PolicyGradientSolver,
    PPOConfig,
    PPOSolver,
)
from spiel_dl.learning.self_play import Trajectories

SMALL = {"batch_size": 64, "hidden_sizes": (32, 32), "learning_rate": 1e-3, "seed": 1}


def make(name: str, game: str = "kuhn_poker") -> PolicyGradientSolver:
    if name == "mmd":
        return MMDSolver(game, MMDConfig(**SMALL))  # type: ignore[arg-type]
    return PPOSolver(game, PPOConfig(**SMALL))  # type: ignore[arg-type]


def one_move(solver: PolicyGradientSolver, policy: list[float], advantage: float) -> float:
    """The policy loss of one move: action 0, which was played with probability 0.4."""
    blank = solver.play()
    move = Trajectories(
        *blank._replace(
            action=torch.zeros((1, 1), dtype=torch.int64),
            behaviour=torch.tensor([[[0.4, 0.6]]]),
        )
    )
    log_pi = torch.tensor([[policy]]).log()
    return solver._policy_loss(log_pi, move, torch.tensor([[advantage]])).item()


def test_the_loss_of_mmd_by_hand() -> None:
    # A ratio of 0.6 / 0.4, an advantage of 2, and the distance over a stepsize of 0.5.
    distance = 0.6 * math.log(0.6 / 0.4) + 0.4 * math.log(0.4 / 0.6)
    assert one_move(make("mmd"), [0.6, 0.4], 2.0) == pytest.approx(-3 + 2 * distance, rel=1e-5)


@pytest.mark.parametrize(
    ("probability", "advantage", "loss"),
    [(0.6, 2.0, -2.4), (0.44, 2.0, -2.2), (0.2, 2.0, -1.0), (0.6, -2.0, 3.0), (0.2, -2.0, 1.6)],
)
def test_the_loss_of_ppo_by_hand(probability: float, advantage: float, loss: float) -> None:
    found = one_move(make("ppo"), [probability, 1 - probability], advantage)
    assert found == pytest.approx(loss, rel=1e-5)


def test_advantages_are_those_of_gae() -> None:
    """Against the recursion over each player's own moves, game by game."""
    solver = make("mmd", "leduc_poker")
    played = solver.play()
    target, advantage = solver._targets(played, played.distinct_observations())
    everything = played.observation.flatten(0, 1)
    value = solver.network.evaluate(solver.parameters, everything).value.detach()
    value = value.unflatten(0, played.action.shape)
    for game in range(20):
        length = int(played.valid[:, game].sum())
        utility = played.reward[:, game].sum().item()
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


@pytest.mark.parametrize("name", ["mmd", "ppo"])
def test_kuhn_poker_is_learned(name: str) -> None:
    solver = make(name)
    for _ in range(800):
        solver.step()
    assert nash_conv(pyspiel.load_game("kuhn_poker"), solver.policy()) < 0.25


@pytest.mark.parametrize("name", ["mmd", "ppo"])
def test_a_checkpoint_continues_to_the_same_parameters(name: str, tmp_path: Path) -> None:
    whole = make(name)
    for step in range(9):
        whole.step()
        if step == 4:
            whole.save(tmp_path / "checkpoint.safetensors")
    resumed = make(name)
    resumed.load(tmp_path / "checkpoint.safetensors")
    for _ in range(4):
        resumed.step()
    assert np.array_equal(resumed.parameters.detach().numpy(), whole.parameters.detach().numpy())
    assert resumed.metrics().keys() == whole.metrics().keys()
    with pytest.raises(ValueError, match="has algorithm"):
        make("ppo" if name == "mmd" else "mmd").load(tmp_path / "checkpoint.safetensors")


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match=r"stepsize=0\.0"):
        MMDConfig(stepsize=0.0)
    with pytest.raises(ValueError, match=r"clip=-1\.0"):
        PPOConfig(clip=-1.0)
    with pytest.raises(ValueError, match=r"gae_lambda=1\.5"):
        dataclasses.replace(MMDConfig(), gae_lambda=1.5)
    with pytest.raises(ValueError, match="num_epochs=0"):
        PPOConfig(num_epochs=0)
