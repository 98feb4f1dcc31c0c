"""Uniform, highest, one policy for each seat, and remembered answers."""

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.policies.small_policies import (
    HighestActionPolicy,
    RememberingPolicy,
    SeatsPolicy,
    UniformPolicy,
)
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.reference import decisions


def test_the_highest_action():
    game = pyspiel.load_game("leduc_poker")
    for state in decisions(game, 8, seed=0):
        answer = HighestActionPolicy(game, [0, 1]).action_probabilities(state)
        assert list(answer) == state.legal_actions()
        assert [action for action, p in answer.items() if p == 1.0] == [state.legal_actions()[-1]]
        assert sum(answer.values()) == 1.0


def test_each_seat_plays_its_own_policy():
    game = pyspiel.load_game("leduc_poker")
    first, second = UniformPolicy(game, [0, 1]), HighestActionPolicy(game, [0, 1])
    both = SeatsPolicy((first, second))
    players = set()
    for state in decisions(game, 8, seed=0):
        player = state.current_player()
        expected = (first, second)[player].action_probabilities(state)
        assert both.action_probabilities(state) == expected
        assert both.action_probabilities(state, player) == expected
        players.add(player)
    assert players == {0, 1}


class Counting(openspiel_policy.Policy):
    """Counts questions, and answers with the count."""

    count = 0

    def action_probabilities(self, state, player_id=None):
        self.count += 1
        return {0: float(self.count)}


def test_a_policy_without_a_game_is_not_remembered():
    with pytest.raises(ValueError, match="Counting has no game"):
        RememberingPolicy(Counting(None, [0, 1]))


@pytest.mark.parametrize("game_string", ["kuhn_poker", "goofspiel(imp_info=True,num_cards=3)"])
def test_what_was_answered_in_an_infoset_is_not_asked_again(game_string):
    game = pyspiel.load_game(game_string)
    counting = Counting(game, [0, 1])
    policy = RememberingPolicy(counting)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    player = 0
    first = policy.action_probabilities(state, player)
    assert first == policy.action_probabilities(state, player) == {0: 1.0}
    if state.is_simultaneous_node():
        assert policy.action_probabilities(state, 1) == {0: 2.0}
        with pytest.raises(ValueError, match="both players move"):
            policy.action_probabilities(state)
    else:
        # The same card of player 0, another one of player 1.
        other = game.new_initial_state().child(0).child(2)
        assert policy.action_probabilities(other) == first
        assert policy.action_probabilities(game.new_initial_state().child(1).child(0)) == {0: 2.0}


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("kuhn_poker", "leduc_poker"),
        ("kuhn_poker", "kuhn_poker(players=3)"),
        ("goofspiel(imp_info=True,num_cards=3)", "goofspiel(num_cards=3)"),
        ("goofspiel(num_cards=3,returns_type=total_points)", "goofspiel(num_cards=3)"),
    ],
)
def test_nothing_is_remembered_of_other_games(own, other):
    """Their infosets may have the same strings."""
    game = pyspiel.load_game(own)
    policy = RememberingPolicy(Counting(load_turn_based(game), [0, 1]))
    turned = policy.game.new_initial_state()
    for state in (game.new_initial_state(), turned, load_turn_based(own).new_initial_state()):
        while state.is_chance_node():
            state.apply_action(state.legal_actions()[0])
        # Also where the game was one with simultaneous moves, before it was converted.
        assert policy.action_probabilities(state, 0) == {0: 1.0}
    state = pyspiel.load_game(other).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match=r"the state is of .*, not of .*; ask in states of"):
        policy.action_probabilities(state, 0)
