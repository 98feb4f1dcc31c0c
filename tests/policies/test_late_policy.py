"""One policy down to a round, and another one from there on."""

import pyspiel
import pytest

from spiel_dl.policies.late_policy import LatePolicy
from spiel_dl.policies.small_policies import HighestActionPolicy, UniformPolicy
from spiel_dl.tree.from_openspiel import load_turn_based

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"


def game(num_cards: int) -> pyspiel.Game:
    return load_turn_based(GOOFSPIEL.format(num_cards))


def test_the_round_says_who_plays() -> None:
    own = game(4)
    policy = LatePolicy(HighestActionPolicy(own, [0, 1]), UniformPolicy(own, [0, 1]), 1)
    state = game(4).new_initial_state()  # the same game, loaded again
    for expected in ({0: 0.0, 1: 0.0, 2: 0.0, 3: 1.0}, {0: 0.0, 1: 0.0, 2: 0.0, 3: 1.0}):
        assert policy.action_probabilities(state) == expected
        state.apply_action(3)
    assert policy.action_probabilities(state) == {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}


@pytest.mark.parametrize("other", [GOOFSPIEL.format(3), "kuhn_poker"])
def test_states_of_other_games_are_refused(other: str) -> None:
    own = game(4)
    policy = LatePolicy(HighestActionPolicy(own, [0, 1]), UniformPolicy(own, [0, 1]), 1)
    state = pyspiel.load_game(other).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match=r"the state is of .*, not of .*num_cards=4"):
        policy.action_probabilities(state)


def test_both_policies_are_of_one_game() -> None:
    above, below = UniformPolicy(game(4), [0, 1]), UniformPolicy(game(3), [0, 1])
    with pytest.raises(ValueError, match=r"above is a policy of .*4.*, but below one of .*3"):
        LatePolicy(above, below, 1)
