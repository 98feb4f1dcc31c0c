"""Tables of a compiled game, against the tree."""

import numpy as np
import pytest

from spiel_dl.games.features import features
from spiel_dl.learning.tree_environment import TreeEnvironment, table_bytes
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.tree import GameTree, size_limit
from tests.untrained_blueprints import network_policy


@pytest.mark.parametrize("game", ["kuhn_poker", "leduc_poker", "python_leduc"])
def test_tables_say_what_the_states_say(game: str) -> None:
    """At every history: who moves, what is legal, what is known, what comes after a move."""
    tree = GameTree.from_game(game)
    environment = TreeEnvironment(tree, 1)
    num_actions = tree.game.num_distinct_actions()
    for history in range(0, tree.num_histories, 7):
        state, row = tree.state(history), int(environment.row[history])
        assert bool(environment.is_over[history]) == state.is_terminal()
        assert environment.player[history] == state.current_player()
        if state.is_terminal():
            assert environment.utility[history].item() == pytest.approx(state.returns()[0])
        legal = state.legal_actions() if state.current_player() >= 0 else []
        assert environment.infoset_legal[row].nonzero()[:, 0].tolist() == legal
        if state.current_player() >= 0:
            known = features(state, state.current_player())
            np.testing.assert_allclose(environment.infoset_features[row].numpy(), known)
        for action in range(num_actions):
            after = int(environment.successor[history * num_actions + action])
            if action in legal:
                assert (int(tree.parent[after]), int(tree.action[after])) == (history, action)
            else:
                assert after == history


def test_a_row_is_what_the_policy_says_there() -> None:
    tree = GameTree.from_game("leduc_poker")
    policy = random_policy(tree, seed=1)
    table = TreeEnvironment(tree, 1).table_of(policy)
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
    policy = network_policy(tree.game, (16, 8), fine_tuning=fine_tuning)
    table = TreeEnvironment(tree, 1).tabulate(policy.network, policy.parameters, fine_tuning)
    for player in (0, 1):
        for history in tree.first_history[player][::41].tolist():
            state = tree.state(history)
            expected = policy.action_probabilities(state)
            assert table.action_probabilities(state) == pytest.approx(expected, abs=1e-6)


def test_tables_that_do_not_fit_into_memory_are_refused(monkeypatch):
    tree = GameTree.from_game("leduc_poker")
    environment = TreeEnvironment(tree, 1)
    tables = (environment.infoset_features, environment.infoset_legal, environment.successor)
    numbers = sum(table.numel() * table.element_size() for table in tables)
    numbers += environment.history_tables[1].numel() * 4
    assert numbers < table_bytes(tree) < 4 * numbers
    monkeypatch.setattr(size_limit, "available_bytes", lambda: numbers)
    with pytest.raises(ValueError, match=r"9,457 histories, .* GiB are available; give the game"):
        TreeEnvironment(tree, 1)
