"""Policies are called for the right player, with states of their own game."""

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies import asking, opponent_models
from spiel_dl.tree import GameTree

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


def test_the_player_to_move():
    game = pyspiel.load_game("kuhn_poker")
    state = game.new_initial_state().child(0).child(1)
    assert asking.acting_player(state) == asking.acting_player(state, 0) == 0
    assert asking.acting_player(state.child(0)) == asking.acting_player(state.child(0), 1) == 1
    for player in (1, 2, -1):
        with pytest.raises(ValueError, match=f"player {player} does not move in a state whose"):
            asking.acting_player(state, player)
    for nobody in (game.new_initial_state(), state.child(0).child(0)):
        for player in (None, 0, 1):
            with pytest.raises(ValueError, match="no player moves in a state whose current"):
                asking.acting_player(nobody, player)


def test_both_players_move():
    state = pyspiel.load_game(GOOFSPIEL).new_initial_state()
    assert [asking.acting_player(state, player) for player in (0, 1)] == [0, 1]
    with pytest.raises(ValueError, match="both players move in this state; pass player_id"):
        asking.acting_player(state)
    for player in (2, -2):
        with pytest.raises(ValueError, match=f"player {player} does not move"):
            asking.acting_player(state, player)


def test_all_forms_of_a_policy_answer_alike():
    """One policy, for both forms of a game, in Python and in C++."""
    game = pyspiel.load_game(GOOFSPIEL)
    tree = GameTree.from_game(game)
    policy = opponent_models.random_policy(tree, 2)
    original = openspiel_policy.TabularPolicy(game)
    table = {}
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            turn_based = tree.state(int(tree.first_history[player][infoset]))
            state = turn_based.simultaneous_game_state()
            row = policy.action_probabilities(state, player)
            key = state.information_state_string(player)
            table[key] = list(row.items())
            for action, probability in row.items():
                original.policy_for_key(key)[action] = probability
    forms = {
        "python": policy,
        "python table": policy.to_tabular(),
        "python, original": original,
        "c++": policy.to_pyspiel(),
        "c++, original": pyspiel.TabularPolicy(table),
    }
    first = game.new_initial_state()
    for player in (0, 1):
        # In a state of the original game, too.
        expected = policy.action_probabilities(first, player)
        answer = asking.action_probabilities(forms["c++, original"], first, player)
        assert answer == pytest.approx(expected, abs=1e-12)
        for infoset in range(tree.num_infosets(player)):
            state = tree.state(int(tree.first_history[player][infoset]))
            expected = policy.action_probabilities(state)
            for name, form in forms.items():
                answer = asking.action_probabilities(form, state, player)
                found = {action: answer[action] for action in expected}
                assert found == pytest.approx(expected, abs=1e-12), name
