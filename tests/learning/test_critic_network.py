"""Critic networks: shapes, batches, what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from spiel_dl.learning import critic_network, history_features
from spiel_dl.learning.critic_network import CriticNetwork, NetworkCritic
from spiel_dl.learning.critics import Critic, ExactCritic, mean_absolute_error
from spiel_dl.learning.transformations import pure_transformations
from spiel_dl.tree import GameTree

NAMES = ("identity", "action 0", "action 1")


def fresh(tree: GameTree) -> NetworkCritic:
    size = history_features.of_tree(tree, np.flatnonzero(tree.player >= 0)[:1]).shape[1]
    network = CriticNetwork(size, 3, (8,))
    return NetworkCritic(tree.game, network, network.initial_parameters(seed=1), NAMES)


def test_values_are_the_networks_in_any_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=3,points_order=descending)")
    critic = fresh(tree)
    histories = np.random.default_rng(1).permutation(np.flatnonzero(tree.player >= 0))
    inputs = history_features.of_tree(tree, histories)
    outputs = critic.network.outputs(critic.parameters, inputs)
    for size in (1000, 7):
        monkeypatch.setattr(critic_network, "_BATCH", size)
        for player in (0, 1):
            found = critic.values(tree, histories, player)
            assert found.dtype == np.float32
            # The first K outputs are player 0's, the others player 1's.
            expected = outputs[:, 3 * player : 3 * player + 3].numpy()
            np.testing.assert_allclose(found, expected, atol=1e-6)
    assert critic.values(tree, histories[:0], 0).shape == (0, 3)


def test_bounded_values_stay_within_the_bound() -> None:
    network = CriticNetwork(2, 3, (8,), bound=2.0)
    parameters = 100 * network.initial_parameters(seed=1)
    history = torch.randn((50, 2), generator=torch.manual_seed(0))
    values = network.values(parameters, history)
    assert values.shape == (50, 2, 3)
    assert 1.9 < float(values.abs().max()) <= 2.0
    expected = 2 * network.outputs(parameters, history).tanh()
    torch.testing.assert_close(values.flatten(1), expected)


def test_the_error_of_a_critic_is_in_units_of_the_utility_range() -> None:
    """Kuhn poker pays -2 to 2. A critic off by 1 everywhere is off by a quarter of that."""
    tree = GameTree.from_game("kuhn_poker")
    strategies = tuple(treeplex.uniform_strategy() for treeplex in tree.treeplexes)
    exact = ExactCritic(tree, (strategies[0], strategies[1]), pure_transformations(2))

    class Off(Critic):
        def values(self, tree: GameTree, histories: np.ndarray, player: int) -> np.ndarray:
            return exact.values(tree, histories, player) + (1.0 if player == 0 else -1.0)

    assert mean_absolute_error(Off(), exact) == pytest.approx(0.25)
    assert mean_absolute_error(exact, exact) == 0


def test_what_it_cannot_value_is_refused() -> None:
    tree = GameTree.from_game("kuhn_poker")
    critic = fresh(tree)
    acting = np.flatnonzero(tree.player >= 0)
    with pytest.raises(ValueError, match="no player acts in history 0"):
        critic.values(tree, np.array([acting[0], 0]), 0)
    with pytest.raises(ValueError, match=r"is one of kuhn_poker\(\), not of leduc_poker\(\)"):
        critic.values(GameTree.from_game("leduc_poker"), acting, 0)
    with pytest.raises(ValueError, match="3 names"):
        NetworkCritic(tree.game, critic.network, critic.parameters, ("identity",))
    with pytest.raises(ValueError, match=r"hidden_sizes=\(0,\)"):
        CriticNetwork(4, 3, (0,))
