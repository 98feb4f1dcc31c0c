"""Policies as rows of an environment's tables, and back."""

import numpy as np
import pytest

from spiel_dl.learning.tabulation import table_of, tabulate
from spiel_dl.learning.tree_environment import TreeEnvironment
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.tree import GameTree
from spiel_dl.value_functions.random_strategies import random_strategy


def random_policy(tree: GameTree) -> ArrayPolicy:
    generator = np.random.default_rng(1)
    first, second = (random_strategy(generator, t, 0.1, 0.1) for t in tree.treeplexes)
    return ArrayPolicy(tree, (first, second))


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "python_leduc"])
def test_a_row_is_what_the_policy_says_there(game: str) -> None:
    tree = GameTree.from_game(game)
    policy = random_policy(tree)
    table = table_of(TreeEnvironment(tree, 1), policy)
    first_row = 0
    for player in (0, 1):
        for infoset, history in enumerate(tree.first_history[player].tolist()):
            answer = policy.action_probabilities(tree.state(history))
            row = table[first_row + infoset].tolist()
            assert [row[action] for action in answer] == pytest.approx(list(answer.values()))
            assert sum(row) == pytest.approx(1)
        first_row += tree.num_infosets(player)
    # The last row is that of histories in which nobody acts.
    assert len(table) == first_row + 1
    assert table[-1].tolist() == [0] * table.shape[1]


@pytest.mark.parametrize("fine_tuning", [None, FineTuning(0.2, 16)])
def test_a_network_is_tabulated_as_it_answers(fine_tuning: FineTuning | None) -> None:
    tree = GameTree.from_game("leduc_poker")
    size, num_actions = tree.game.information_state_tensor_size(), tree.game.num_distinct_actions()
    network = PolicyNetwork(size, num_actions, (16, 8))
    parameters = 5 * network.initial_parameters(seed=1)
    table = tabulate(TreeEnvironment(tree, 1), network, parameters, fine_tuning)
    policy = NetworkPolicy(tree.game, network, parameters, fine_tuning)
    for player in (0, 1):
        for history in tree.first_history[player][::41].tolist():
            state = tree.state(history)
            expected = policy.action_probabilities(state)
            assert table.action_probabilities(state) == pytest.approx(expected, abs=1e-6)
