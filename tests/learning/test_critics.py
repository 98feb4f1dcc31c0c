"""Exact critics against OpenSpiel's own recursion over states."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from open_spiel.python.algorithms import expected_game_score

from spiel_dl import ArrayPolicy, GameTree, random_policy
from spiel_dl.learning.critics import ExactCritic, transformed_strategies
from spiel_dl.learning.transformations import (
    action_values,
    paper_transformations,
    pure_transformations,
)

GAMES = ["kuhn_poker", "python_goofspiel_ii(num_cards=3,points_order=random)"]


@pytest.mark.parametrize("game", GAMES)
def test_values_are_those_of_openspiel(game):
    tree = GameTree.from_game(game)
    blueprint = random_policy(tree, seed=3)
    transformations = paper_transformations(action_values(tree.game))
    critic = ExactCritic(tree, blueprint.strategies, transformations)
    histories = np.random.default_rng(4).choice(tree.num_histories, 8, replace=False)
    for player in (0, 1):
        values = critic.values(tree, histories, player)
        assert values.shape == (8, 22)
        for others in (0, 1, 5, 17):
            strategies = [critic.strategies[p][others if p != player else 0] for p in (0, 1)]
            policy = ArrayPolicy(tree, (strategies[0], strategies[1]))
            for row, history in enumerate(histories.tolist()):
                expected = expected_game_score.policy_value(tree.state(history), [policy] * 2)
                assert values[row, others] == pytest.approx(expected[player], abs=1e-12)


def test_transformed_strategies_are_the_transformed_rows():
    """Pure actions in Leduc: 1 where legal, the blueprint where not."""
    tree = GameTree.from_game("leduc_poker")
    blueprint = random_policy(tree, seed=5)
    for player, treeplex in enumerate(tree.treeplexes):
        original = blueprint.strategies[player]
        found = transformed_strategies(tree, player, original, pure_transformations(3))
        np.testing.assert_array_equal(found[0], original)
        for action in range(3):
            for infoset in range(treeplex.num_infosets):
                own, legal = treeplex.sequences(infoset), tree.legal_actions(player, infoset)
                row = np.float64(legal == action) if action in legal else original[own]
                np.testing.assert_array_equal(found[1 + action, own], row)


def test_a_blueprint_is_a_policy_or_its_strategies():
    tree = GameTree.from_game("leduc_poker")
    table, pure = random_policy(tree, seed=1), pure_transformations(3)
    histories = np.arange(20)
    expected = ExactCritic(tree, table.strategies, pure).values(tree, histories, 0)
    for policy in (table, table.to_tabular()):
        found = ExactCritic(tree, policy, pure).values(tree, histories, 0)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_strategies_of_another_game_are_refused():
    tree, pure = GameTree.from_game("leduc_poker"), pure_transformations(3)
    other = ArrayPolicy.uniform("kuhn_poker")
    with pytest.raises(ValueError, match="a strategy must have one number per sequence"):
        ExactCritic(tree, other.strategies, pure)
    with pytest.raises(ValueError, match="kuhn_poker"):
        ExactCritic(tree, other, pure)


def test_another_tree_is_refused():
    tree = GameTree.from_game("kuhn_poker")
    transformations = paper_transformations(torch.arange(1.0, 3.0))
    critic = ExactCritic(tree, ArrayPolicy.uniform(tree).strategies, transformations)
    with pytest.raises(ValueError, match="its own tree only"):
        critic.values(GameTree.from_game("kuhn_poker"), np.zeros(1, np.int64), 0)
