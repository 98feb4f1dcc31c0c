"""Searches along the game that is played: copies of them, and whose states they answer."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pyspiel
import pytest

from spiel_dl.algorithms.knowledge_limited import KnowledgeLimitedPolicy
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.particle_sepot import ParticleConfig, ParticleSePoTPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning.self_play import ActingNetwork, ActingPolicy
from spiel_dl.policies.late_policy import LatePolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.search.played import PlayedPolicy
from spiel_dl.search.policy_rows import rows_of
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.untrained_blueprints import Blueprint, exact_critic

TREE = GameTree.from_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
GAME: pyspiel.Game = TREE.game
BLUEPRINT = Blueprint(GAME)


def network_policy() -> NetworkPolicy:
    network = PolicyNetwork(
        GAME.information_state_tensor_size(), GAME.num_distinct_actions(), (16, 16)
    )
    return NetworkPolicy(GAME, network, network.initial_parameters(seed=2))


def mirror_descent(acting: ActingPolicy) -> PlayedPolicy:
    return MirrorDescentPolicy(GAME, acting, MirrorDescentConfig(num_rollouts=50, budget=20))


def below(kind: type[Any], **settings: ParticleConfig) -> PlayedPolicy:
    critic, config = exact_critic(TREE, BLUEPRINT), SearchConfig(effort=Effort(10))
    return kind(GAME, BLUEPRINT, critic, DepthLimit(rounds=1), config=config, **settings)


def acting_network() -> ActingNetwork:
    policy = network_policy()
    return ActingNetwork(policy.network, policy.parameters)


MAKERS: dict[str, Callable[[], PlayedPolicy]] = {
    "mirror descent": lambda: mirror_descent(BLUEPRINT),
    "mirror descent, compiled": lambda: mirror_descent(acting_network()),
    "SePoT": lambda: below(SePoTPlayPolicy),
    "particles": lambda: below(ParticleSePoTPolicy, particles=ParticleConfig(budget=20)),
    "knowledge": lambda: below(KnowledgeLimitedPolicy, particles=ParticleConfig(budget=20)),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_a_copy_answers_alike(maker: str) -> None:
    policy = MAKERS[maker]()
    copies = [pickle.loads(pickle.dumps(policy))]
    state = GAME.new_initial_state()
    while not state.is_terminal():
        expected = policy.action_probabilities(state)
        copies.append(pickle.loads(pickle.dumps(policy)))
        for copy in copies:
            assert copy.action_probabilities(state) == expected
        state.apply_action(state.legal_actions()[-1])
    assert len(copies) > 3


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    ("game", "actions"),
    [
        ("python_goofspiel_ii(num_cards=3,points_order=descending)", ()),
        ("python_goofspiel_ii(num_cards=4,points_order=ascending)", ()),
        ("python_goofspiel_ii(num_cards=3,points_order=descending)", (0, 1, 1, 2)),  # forced
        ("kuhn_poker", (0, 1)),
    ],
)
def test_states_of_other_games_are_refused(maker: str, game: str, actions: tuple[int, ...]) -> None:
    state = load_turn_based(game).new_initial_state()
    for action in actions:
        state.apply_action(action)
    with pytest.raises(ValueError, match=r"the state is of .*, not of .*num_cards=4"):
        MAKERS[maker]().action_probabilities(state)


@pytest.mark.parametrize("maker", MAKERS)
def test_nobody_acts_at_the_end(maker: str) -> None:
    state = GAME.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="no player moves"):
        MAKERS[maker]().action_probabilities(state)


def test_rows_of_a_late_policy_are_pickled() -> None:
    policy = LatePolicy(network_policy(), UniformPolicy(GAME, [0, 1]), 1)
    rows = rows_of(GAME.rules, policy)
    copy = pickle.loads(pickle.dumps(rows))
    for actions in ((), (0, 1), (0, 1, 3)):
        state = GAME.new_initial_state()
        for action in actions:
            state.apply_action(action)
        player = state.current_player()
        found = copy(state.batch, player)
        assert (found == rows(state.batch, player)).all()
        answer = policy.action_probabilities(state)
        assert found[0, list(answer)] == pytest.approx(list(answer.values()), abs=1e-6)
