"""Policies of networks and their fine-tuning, by hand."""

from __future__ import annotations

import math

import pyspiel
import pytest
import torch

from spiel_dl.games.features import features, num_features
from spiel_dl.learning.action_values import ActionValueNetwork
from spiel_dl.learning.critic_network import CriticNetwork
from spiel_dl.policies.network_policy import FineTuning, NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork, log_policy, policy_of
from tests.untrained_blueprints import network_policy

LEDUC = pyspiel.load_game("leduc_poker")


def test_policies_are_softmaxes_over_legal_actions() -> None:
    logits = torch.tensor([[0.0, 100.0, math.log(3)], [1.0, 2.0, 3.0]])
    legal = torch.tensor([[True, False, True], [False, True, False]])
    expected = torch.tensor([[0.25, 0.0, 0.75], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(policy_of(logits, legal), expected)
    torch.testing.assert_close(log_policy(logits, legal).exp(), expected)
    # Bits, not nearly: an illegal action is never played.
    assert (policy_of(logits, legal)[~legal] == 0).all()


def test_everything_is_finite_where_nothing_is_legal() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    nothing = torch.zeros((1, 3), dtype=torch.bool)
    logs = log_policy(logits, nothing)
    assert logs.isfinite().all()
    logs.sum().backward()
    assert not logits.grad.any()


@pytest.mark.parametrize("sizes", [(0, 3, (8,)), (5, 3, (8, 0)), (5, -1, (8,))])
def test_empty_layers_are_refused(sizes: tuple[int, int, tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="has an empty layer; all must be positive"):
        PolicyNetwork(*sizes)
    with pytest.raises(ValueError, match=r"hidden_sizes=\(\) has no layer"):
        PolicyNetwork(5, 3, ())


def test_no_network_has_an_empty_layer() -> None:
    for network in (ActionValueNetwork, CriticNetwork):
        with pytest.raises(ValueError, match=r"hidden_sizes=\(8, 0\).* has an empty layer"):
            network(5, 3, (8, 0))


def tuned(policy: list[float], **settings: object) -> list[float]:
    rows = torch.tensor([policy], dtype=torch.float64)
    return FineTuning(**settings).apply(rows)[0].tolist()  # type: ignore[arg-type]


def test_unlikely_actions_are_dropped() -> None:
    expected = [0.5 / 0.9, 0, 0.4 / 0.9, 0]
    assert tuned([0.5, 0.05, 0.4, 0.05], threshold=0.1, num_levels=None) == pytest.approx(expected)


def test_probabilities_are_rounded_from_the_likeliest_down() -> None:
    # Of 8 levels, 0.61 wants 4.88, so 5; 0.3 wants 2.4, so 3; nothing is left for 0.09.
    assert tuned([0.09, 0.61, 0.3], threshold=0.0, num_levels=8) == [0, 5 / 8, 3 / 8]
    # 0.3 wants 1.2, so 2, twice; 0.25 wants 1; the last ones share what is left in order.
    assert tuned([0.3, 0.15, 0.25, 0.3], threshold=0, num_levels=4) == [0.5, 0, 0, 0.5]


def test_multiples_of_a_level_stay() -> None:
    policy = [3 / 32, 12 / 32, 0.0, 17 / 32]
    assert tuned(policy) == policy
    assert tuned([1 / 3, 2 / 3], threshold=0.0, num_levels=3) == pytest.approx([1 / 3, 2 / 3])


def test_a_policy_is_the_softmax_of_the_logits_over_legal_actions() -> None:
    policy = network_policy(LEDUC, (16, 8))
    network, parameters = policy.network, policy.parameters
    state = LEDUC.new_initial_state().child(0).child(3)
    observation = torch.from_numpy(features(state, 0))
    # The layers one by one: weights from inputs to outputs, then biases, in turn.
    units, position = observation, 0
    for inputs, outputs in ((46, 16), (16, 8), (8, 4)):
        weights = parameters[position : position + inputs * outputs].reshape(inputs, outputs)
        position += inputs * outputs
        units = units @ weights + parameters[position : position + outputs]
        position += outputs
        if outputs != 4:
            units = units.clamp(min=0)
    assert position == network.num_parameters
    expected = torch.softmax(units[1:3], dim=0).tolist()  # nobody has bet, so no fold
    found = policy.action_probabilities(state)
    assert list(found) == [1, 2] == state.legal_actions()
    assert list(found.values()) == pytest.approx(expected, abs=1e-5)
    assert sum(found.values()) == pytest.approx(1, abs=1e-15)
    assert network.values(parameters, observation[None]).item() == pytest.approx(
        units[3].item(), abs=1e-5
    )


def test_states_in_which_the_player_does_not_move_are_refused() -> None:
    policy = network_policy(LEDUC)
    network, parameters = policy.network, policy.parameters
    with pytest.raises(ValueError, match="current player is -1"):
        policy.action_probabilities(LEDUC.new_initial_state())
    with pytest.raises(ValueError, match="player 1 does not move"):
        policy.action_probabilities(LEDUC.new_initial_state().child(0).child(1), 1)
    with pytest.raises(ValueError, match="18 inputs and 2 actions"):
        NetworkPolicy(pyspiel.load_game("kuhn_poker"), network, parameters)
    with pytest.raises(ValueError, match=rf"has {len(parameters)}; if .* has changed since"):
        NetworkPolicy(LEDUC, network, parameters[:-1])


def test_decisions_move_to_where_the_network_lives() -> None:
    policy = network_policy(LEDUC, fine_tuning=FineTuning())
    policy.parameters = policy.parameters.to("meta")
    observation = torch.zeros((5, 2, num_features(LEDUC)))
    found = policy.act(observation, torch.ones((5, 2, 3), dtype=torch.bool))
    assert (found.device.type, found.shape) == ("meta", (5, 2, 3))


def test_many_states_at_a_time_are_answered_as_one_by_one() -> None:
    policy = network_policy(LEDUC)
    first = LEDUC.new_initial_state().child(0).child(3)
    states = [first, first.child(1), first.child(2), first.child(1).child(1).child(4)]
    for state, found in zip(states, policy.probabilities_of(states), strict=True):
        alone = policy.action_probabilities(state)
        assert list(found) == list(alone) == state.legal_actions()
        assert found == pytest.approx(alone, abs=1e-5)
