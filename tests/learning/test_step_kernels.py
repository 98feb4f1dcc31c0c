"""Compiled loops from outputs to gradients against the same in torch, which defines them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from spiel_dl.algorithms import mmd, rnad
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.algorithms.rnad import RNaDSolver
from spiel_dl.learning.critic_learner import CriticLearner
from spiel_dl.learning.critic_training import CriticConfig
from spiel_dl.learning.learner import Learner
from spiel_dl.learning.self_play import Trajectories
from spiel_dl.learning.transformations import (
    IDENTITY,
    RARE,
    PolicyTransformations,
    Transformation,
    transformations_by_name,
)
from spiel_dl.tree.load import turn_based_game
from tests.learning.learner_checks import NegatedAdvantage

GAMES = (
    ("leduc_poker", 200_000),
    ("python_leduc", 0),
    ("python_goofspiel_ii(num_cards=4,points_order=descending)", 0),
    ("python_battleships(board_width=2,board_height=2,ship_sizes=[2])", 0),
)
"""Games, and the largest ones to be played by tables: one by tables, others by compiled rules."""
SIZES = {"hidden_sizes": (16, 16), "batch_size": 32, "learning_rate": 0.02}


def learned_by(
    solver: RNaDSolver | MMDSolver, trajectories: Trajectories, *, by_kernel: bool
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The terms and the gradients of a step, which leaves the solver as it was.

    Instead of Adam's steps, there are some of gradient descent.
    """
    gradients: list[torch.Tensor] = []

    def descend_by(parameters: torch.Tensor) -> Callable[..., None]:
        def descend(gradient: torch.Tensor, *, at: int | None = None) -> None:
            gradients.append(gradient.clone())
            with torch.no_grad():
                parameters.sub_(0.02 * gradients[-1])

        return descend

    learn = solver._descend_by_kernel if by_kernel else solver._descend_by_torch
    learning = [solver, *([solver._histories] if solver._histories else [])]
    before = [learner.parameters.detach().clone() for learner in learning]
    with pytest.MonkeyPatch.context() as patch:
        for learner in learning:
            patch.setattr(learner._descent, "follow", descend_by(learner.parameters))
        terms = learn(trajectories, trajectories.distinct_observations())
    with torch.no_grad():
        for learner, parameters in zip(learning, before, strict=True):
            learner.parameters.copy_(parameters)
    # The kernel of several epochs learns of histories after them, torch before.
    return torch.stack(terms), sorted(gradients, key=len)


def check_kernel(solver: RNaDSolver | MMDSolver, num_gradients: int = 1) -> None:
    """Holds the kernel to torch, on games of a policy that is another one than that learned now."""
    trajectories = solver.play()
    with torch.no_grad():
        noise = torch.randn(len(solver.parameters), generator=torch.manual_seed(0))
        solver.parameters.add_(0.05 * noise)
    terms, gradients = learned_by(solver, trajectories, by_kernel=True)
    expected_terms, expected = learned_by(solver, trajectories, by_kernel=False)
    num_gradients += solver._histories is not None
    assert len(gradients) == len(expected) == num_gradients
    torch.testing.assert_close(terms, expected_terms, atol=1e-5, rtol=1e-5)
    for found, right in zip(gradients, expected, strict=True):
        scale = right.abs().max()
        assert scale > 0
        torch.testing.assert_close(found / scale, right / scale, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("game", "max_tree_histories"), GAMES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        # Bounds that bind, and a period whose first half is not over.
        {"neurd_threshold": 0.05, "neurd_clip": 0.5, "rho_bar": 0.9, "c_bar": 0.7},
        {"first_period": 40},
        {"history_values": True, "c_bar": 0.7},
        {"history_values": False},
    ],
)
def test_rnad_is_what_torch_says(
    game: str, max_tree_histories: int, settings: dict[str, float]
) -> None:
    config = {"first_period": 10, "max_tree_histories": max_tree_histories, **SIZES, **settings}
    solver = RNaDSolver(game, rnad.RNaDConfig(**config))
    solver.run(27)
    check_kernel(solver)


@pytest.mark.parametrize(("game", "max_tree_histories"), GAMES)
@pytest.mark.parametrize("history_values", [True, False])
@pytest.mark.parametrize("num_epochs", [1, 3])
def test_mmd_is_what_torch_says(
    game: str, max_tree_histories: int, num_epochs: int, history_values: bool
) -> None:
    solver = MMDSolver(
        game,
        mmd.MMDConfig(
            magnet_period=10,
            num_epochs=num_epochs,
            history_values=history_values,
            max_tree_histories=max_tree_histories,
            **SIZES,
        ),
    )
    solver.run(27)
    check_kernel(solver, num_epochs)


@pytest.mark.parametrize(("game", "max_tree_histories"), GAMES)
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [("paper", {"bounded": False}), ("pure", {"expected": False}), ("own", {"trace_decay": 0.7})],
)
def test_a_critic_is_what_torch_says(
    game: str, max_tree_histories: int, beside: bool, kind: str, settings: dict[str, Any]
) -> None:
    turn_based = turn_based_game(game)
    if kind == "own":
        own = Transformation("squared", lambda policy, legal: policy.square())
        transformations = PolicyTransformations([IDENTITY, RARE, own])
    else:
        transformations = transformations_by_name(kind, turn_based)
    bounds = {"rho_bar": 3.0, "c_bar": 0.8}
    critic = CriticConfig(hidden_sizes=(16, 16), learning_rate=0.02, **bounds, **settings)
    config = mmd.MMDConfig(max_tree_histories=max_tree_histories, **SIZES)
    learner: Learner = MMDSolver(
        game, config, transformations=transformations if beside else None,
        critic=critic if beside else None,
    )  # fmt: skip
    if not beside:
        learner = CriticLearner(
            game, learner.policy(), transformations, critic, exploration=0.3, batch_size=32,
            max_tree_histories=max_tree_histories,
        )  # fmt: skip
    learner.run(7)
    trajectories, trainer = learner.play(), learner._critic
    assert trainer is not None
    policy = learner.policy_at(trajectories)
    gradients: list[torch.Tensor] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainer._descent, "follow", lambda x, at=None: gradients.append(x + 0))
        error = trainer._learn_by_kernel(trajectories, policy)
        expected_error = trainer._learn_by_torch(trajectories, policy)
    gradient, expected = gradients
    torch.testing.assert_close(error, expected_error, atol=1e-6, rtol=1e-5)
    scale = expected.abs().max()
    assert scale > 0
    torch.testing.assert_close(gradient / scale, expected / scale, atol=1e-5, rtol=0)


class Negated(NegatedAdvantage, MMDSolver):
    """Has another loss than the kernel."""


def test_a_loss_of_ones_own_is_not_left_to_the_kernel() -> None:
    config = mmd.MMDConfig(**SIZES)
    solvers = [kind("leduc_poker", config) for kind in (MMDSolver, Negated)]
    for solver in solvers:
        solver.step()
    assert not torch.equal(solvers[0].parameters, solvers[1].parameters)
