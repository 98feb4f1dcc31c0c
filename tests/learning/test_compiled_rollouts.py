"""Games played to the end in compiled loops against exact values of the network's policy."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl import ArrayPolicy, GameTree
from spiel_dl.learning.compiled_rollouts import CompiledRollouts, can_play
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.learning.transformations import IDENTITY, PolicyTransformations
from spiel_dl.policies.network_policy import NetworkPolicy
from tests.untrained_blueprints import network_policy

GAMES = (
    "python_goofspiel_ii(num_cards=3,points_order=descending)",
    "python_goofspiel_ii(num_cards=3,points_order=random)",
    "python_battleships(board_width=2,board_height=1,ship_sizes=[1])",
    "python_liars_dice(numdice=1,dice_sides=3)",
    "python_dark_hex(num_rows=2,num_cols=2)",
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
)


def decided(game: pyspiel.Game, hidden_sizes: tuple[int, ...] = (20, 20)) -> NetworkPolicy:
    """A network that is far from uniform play; 20 units are no multiple of a vector's length."""
    return network_policy(game, hidden_sizes, scale=2)


@pytest.mark.parametrize("game", GAMES)
def test_mean_returns_are_the_networks_values(game):
    """After every action of some histories, within four standard errors."""
    tree = GameTree.from_game(game)
    policy = decided(tree.game)
    table = ArrayPolicy.from_policy(tree, policy)
    critic = ExactCritic(tree, table.strategies, PolicyTransformations([IDENTITY]))
    exact = critic.values(tree, np.arange(tree.num_histories), 0)[:, 0]
    exact = np.where(tree.is_terminal, tree.utility, exact)
    inner = np.flatnonzero((tree.player >= 0) & ~tree.is_terminal)
    histories = np.random.default_rng(2).permutation(inner)[:20]
    rules = tree.game.rules
    states = tree.states_of(histories)
    children = [
        (row, action, tree.first_child[history] + place)
        for row, history in enumerate(histories.tolist())
        for place, action in enumerate(
            rules.legal_actions(states.take(torch.tensor([row])))[0].nonzero()[:, 0].tolist()
        )
    ]
    count = 2000
    rows, actions, after = (np.repeat(column, count) for column in zip(*children, strict=True))
    rollouts = CompiledRollouts(rules, ActingNetwork(policy.network, policy.parameters))
    before = [array.copy() for array in states.arrays()]
    returns = rollouts.play_on(states, rows, actions, np.random.default_rng(3))
    for array, copy in zip(states.arrays(), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    by_child = returns.reshape(-1, count)
    expected = exact[after.reshape(-1, count)[:, 0]]
    bound = 4 * by_child.std(axis=1) / np.sqrt(count) + 1e-9
    assert (np.abs(by_child.mean(axis=1) - expected) < bound).all()
    over = tree.is_terminal[after.reshape(-1, count)[:, 0]]
    assert over.any()
    assert not by_child[over].std(axis=1).any()
    np.testing.assert_array_equal(by_child[over, 0], expected[over])


def test_games_without_a_compiled_form_are_refused():
    game = pyspiel.load_game("python_oshi_zumo_ii(coins=4)")
    policy = decided(game)
    acting = ActingNetwork(policy.network, policy.parameters)
    assert not can_play(game.rules, acting)
    with pytest.raises(ValueError, match="need rules with a compiled form"):
        CompiledRollouts(game.rules, acting)
