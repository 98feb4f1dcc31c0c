"""Features of infostates, against the rules' and OpenSpiel's tensors."""

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit
from spiel_dl.value_functions.particle_features import InfostateFeatures
from tests.particle_networks import leaves_of

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"


def test_those_of_a_subclass_are_not_taken_for_others():
    class Own(InfostateFeatures):
        pass

    name = Own().name
    assert name.endswith("Own, perfect recall")
    with pytest.raises(ValueError, match="of a class of its own"):
        InfostateFeatures.named(name)


@pytest.mark.parametrize("positions", [True, False])
@pytest.mark.parametrize("perfect_recall", [True, False])
def test_with_rules_they_are_the_public_and_private_tensors(perfect_recall, positions):
    leaves = leaves_of(GOOFSPIEL, DepthLimit(rounds=1))
    rules = leaves.tree.game.rules
    features = InfostateFeatures(perfect_recall, positions)
    assert InfostateFeatures.named(features.name) == features
    found = features.of_leaves(leaves)
    row = 0
    for player in (0, 1):
        states = leaves.public_state_of_infoset(player)
        for history, public_state in zip(leaves.first_histories[player], states, strict=True):
            state = leaves.tree.states_of(np.array([history]))
            public = rules.public_tensor(state, perfect_recall)[0].numpy()
            private = rules.private_tensor(state, player, perfect_recall)[0].numpy()
            position = np.zeros(0)
            if positions:
                other = rules.public_tensor(state, not perfect_recall)[0].numpy()
                public = np.concatenate([public, other])
                position = rules.features(state, player)[0].numpy()
            np.testing.assert_array_equal(found.public[public_state], public)
            expected = np.concatenate([public, private, position, [1 - player, player]])
            np.testing.assert_array_equal(found.infostates[row], expected)
            row += 1
    assert row == len(found.infostates)


@pytest.mark.parametrize("positions", [True, False])
def test_without_rules_they_are_information_state_tensors_and_nothing_is_public(positions):
    leaves = leaves_of("leduc_poker", DepthLimit(moves=2))
    found = InfostateFeatures(positions=positions).of_leaves(leaves)
    assert found.public.shape == (leaves.num_public_states, 0)
    row = 0
    for player in (0, 1):
        for history in leaves.first_histories[player].tolist():
            state = leaves.tree.state(history)
            tensor = state.information_state_tensor(player)
            if positions:
                tensor = tensor + state.observation_tensor(player) + tensor
            np.testing.assert_array_equal(found.infostates[row][: len(tensor)], tensor)
            assert found.infostates[row][len(tensor) :].tolist() == [1 - player, player]
            row += 1
    assert row == len(found.infostates)
