"""MMD: the loss by hand, quantal response equilibria, the defaults as shipped."""

from __future__ import annotations

import math

import numpy as np
import pyspiel
import pytest

from spiel_dl.algorithms.exploitability import nash_conv
from spiel_dl.algorithms.mmd import MMDSolver
from spiel_dl.learning.policy_gradient import PolicyGradientConfig
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import GameTree
from tests.learning.learner_checks import EASY_GAMES, NegatedAdvantage, loss_of_one_move

SMALL = PolicyGradientConfig(batch_size=64, hidden_sizes=(32, 32), learning_rate=1e-3, seed=1)
MATRIX = np.array([[2.0, 0.0, 0.5], [-1.0, 1.0, 0.0]])


class BrokenMMD(NegatedAdvantage, MMDSolver):
    """Learns to lose."""


def test_the_loss_by_hand() -> None:
    # A ratio of 0.6 / 0.4, an advantage of 2, and the distance over a stepsize of 0.5.
    distance = 0.6 * math.log(0.6 / 0.4) + 0.4 * math.log(0.4 / 0.6)
    loss = loss_of_one_move(MMDSolver("kuhn_poker", SMALL), [0.6, 0.4], 2.0)
    assert loss == pytest.approx(-3 + 2 * distance, rel=1e-5)
    loss = loss_of_one_move(MMDSolver("kuhn_poker", SMALL, stepsize=0.1), [0.6, 0.4], 2.0)
    assert loss == pytest.approx(-3 + 10 * distance, rel=1e-5)


@pytest.mark.parametrize("game", EASY_GAMES)
def test_the_defaults_solve_small_games(game: str) -> None:
    """Measured after 100 steps: 0.003 and less. Uniform play has a NashConv above 1."""
    tree = GameTree.from_game(game)
    assert nash_conv(tree, ArrayPolicy.uniform(tree)) > 1
    learner = MMDSolver(tree)
    learner.run(100)
    assert nash_conv(tree, learner.policy()) < 0.05


def test_a_broken_learner_misses_the_bound() -> None:
    learner = BrokenMMD(EASY_GAMES[0])
    learner.run(100)
    assert nash_conv(learner.game, learner.policy()) > 1


def test_kuhn_poker_is_learned() -> None:
    learner = MMDSolver("kuhn_poker", SMALL)
    learner.run(800)
    assert nash_conv(learner.game, learner.policy()) < 0.25


def test_without_annealing_it_heads_for_the_quantal_response_equilibrium() -> None:
    """In a matrix game, where that is the fixed point of pi = softmax(values / temperature)."""
    temperature = 0.5
    first, second = np.full(2, 1 / 2), np.full(3, 1 / 3)
    for _ in range(20_000):
        answers = np.exp(MATRIX @ second / temperature), np.exp(-first @ MATRIX / temperature)
        first = 0.99 * first + 0.01 * answers[0] / answers[0].sum()
        second = 0.99 * second + 0.01 * answers[1] / answers[1].sum()
    assert abs(first[0] - 1 / 2) > 0.1
    assert np.abs(second - 1 / 3).max() > 0.1
    config = PolicyGradientConfig(
        batch_size=1024,
        hidden_sizes=(16,),
        learning_rate=1e-2,
        final_learning_rate=1e-4,
        decay_steps=1200,
        temperature=temperature,
        annealing_steps=math.inf,
    )
    game = pyspiel.create_matrix_game(MATRIX.tolist(), (-MATRIX).tolist())
    learner = MMDSolver(game, config)
    learner.run(300)
    state = learner.game.new_initial_state()
    for expected in (first, second):
        found = list(learner.policy().action_probabilities(state).values())
        assert found == pytest.approx(expected.tolist(), abs=0.02)
        state.apply_action(0)


@pytest.mark.parametrize("stepsize", [0.0, -1.0, math.inf, math.nan])
def test_a_wrong_stepsize_is_refused(stepsize: float) -> None:
    with pytest.raises(ValueError, match=f"stepsize={stepsize} must be positive and finite"):
        MMDSolver("kuhn_poker", SMALL, stepsize=stepsize)
