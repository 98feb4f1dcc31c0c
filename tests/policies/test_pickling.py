"""Policies can be pickled at any time, also after they were asked."""

import pickle

import pytest

from spiel_dl.policies import asking, opponent_models
from spiel_dl.policies.network_policy import FineTuning
from spiel_dl.policies.small_policies import HighestActionPolicy, RememberingPolicy, SeatsPolicy
from spiel_dl.tree.load import turn_based_game
from tests.untrained_blueprints import network_policy


def tuned(game):
    return network_policy(game, (4,), scale=1, seed=0, fine_tuning=FineTuning(0.01, None))


MAKERS = {
    "array": lambda game: opponent_models.random_policy(game, 4),
    "network": tuned,
    "highest": lambda game: HighestActionPolicy(game, [0, 1]),
    "seats": lambda game: SeatsPolicy((tuned(game), HighestActionPolicy(game, [0, 1]))),
    "remembering": lambda game: RememberingPolicy(tuned(game)),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("game_string", ["goofspiel(num_cards=3)", "python_leduc"])
def test_a_copy_answers_alike(maker, game_string):
    game = turn_based_game(game_string)
    policy = MAKERS[maker](game)
    copies = [pickle.loads(pickle.dumps(policy))]
    state, num_asked = game.new_initial_state(), 0
    while not state.is_terminal():
        if not state.is_chance_node():
            expected = asking.action_probabilities(policy, state, state.current_player())
            copies.append(pickle.loads(pickle.dumps(policy)))
            for copy in copies:
                assert copy.action_probabilities(state) == expected
            num_asked += 1
        state.apply_action(state.legal_actions()[-1])
    assert num_asked > 1


def test_remembered_answers_stay_remembered():
    game = turn_based_game("kuhn_poker")
    state = game.new_initial_state().child(0).child(1)
    policy = RememberingPolicy(tuned(game))
    answer = policy.action_probabilities(state)
    copy = pickle.loads(pickle.dumps(policy))
    copy.policy.parameters += 1.0
    assert copy.action_probabilities(state) == answer
