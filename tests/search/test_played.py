"""Searches along the game that is played: copies of them, and whose states they answer."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable
from typing import Any

import pyspiel
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.knowledge_limited import KnowledgeLimitedPolicy
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.particle_sepot import ParticleConfig, ParticleSePoTPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.learning.compiled_rollouts import CompiledRollouts
from spiel_dl.learning.rollouts import Rollouts
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.late_policy import LatePolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.search.played import PlayedPolicy
from spiel_dl.search.policy_rows import AnyBlueprint, acting_policy, rows_of
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.load import AnyGame
from tests.untrained_blueprints import Blueprint, exact_critic

TREE = GameTree.from_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
GAME: pyspiel.Game = TREE.game
BLUEPRINT = Blueprint(GAME)


def network_policy() -> NetworkPolicy:
    network = PolicyNetwork(
        GAME.information_state_tensor_size(), GAME.num_distinct_actions(), (16, 16)
    )
    return NetworkPolicy(GAME, network, network.initial_parameters(seed=2))


def mirror_descent(blueprint: AnyBlueprint, game: AnyGame = GAME) -> PlayedPolicy:
    return MirrorDescentPolicy(game, blueprint, MirrorDescentConfig(num_rollouts=50, budget=20))


def below(
    kind: type[Any],
    blueprint: AnyBlueprint,
    game: AnyGame = GAME,
    **settings: ParticleConfig,
) -> PlayedPolicy:
    critic, config = exact_critic(TREE, BLUEPRINT), SearchConfig(effort=Effort(10))
    return kind(game, blueprint, critic, DepthLimit(rounds=1), config=config, **settings)


UPON: dict[str, Callable[..., PlayedPolicy]] = {
    "mirror descent": mirror_descent,
    "SePoT": functools.partial(below, SePoTPlayPolicy),
    "particles": functools.partial(below, ParticleSePoTPolicy, particles=ParticleConfig(budget=20)),
    "knowledge": functools.partial(
        below, KnowledgeLimitedPolicy, particles=ParticleConfig(budget=20)
    ),
}
"""Searches on top of a blueprint."""

MAKERS: dict[str, Callable[[], PlayedPolicy]] = {
    **{name: functools.partial(search, BLUEPRINT) for name, search in UPON.items()},
    "mirror descent, compiled": lambda: mirror_descent(network_policy()),
}


def answers_of(policy: PlayedPolicy) -> list[dict[int, float]]:
    """What is played along a game."""
    state, found = policy.game.new_initial_state(), []
    while not state.is_terminal():
        found.append(policy.action_probabilities(state))
        state.apply_action(state.legal_actions()[-1])
    assert any(0.01 < max(answer.values()) < 0.99 for answer in found)
    return found


@pytest.mark.parametrize("blueprint", [network_policy(), UniformPolicy(GAME, [0, 1])])
@pytest.mark.parametrize("search", UPON)
def test_a_policy_is_searched_upon_as_its_function_is(
    search: str, blueprint: openspiel_policy.Policy
) -> None:
    acting = acting_policy(blueprint)
    assert acting is not None
    assert answers_of(UPON[search](blueprint)) == answers_of(UPON[search](acting))


@pytest.mark.parametrize("search", ["SePoT", "particles", "knowledge"])
def test_a_network_is_searched_upon_as_its_method_is(search: str) -> None:
    blueprint = network_policy()
    found, expected = (answers_of(UPON[search](each)) for each in (blueprint, blueprint.act))
    for answer, wanted in zip(found, expected, strict=True):
        assert answer == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("search", UPON)
def test_the_compiled_game_is_the_game(search: str) -> None:
    assert answers_of(UPON[search](BLUEPRINT, game=TREE)) == answers_of(UPON[search](BLUEPRINT))


def test_games_of_a_network_are_played_out_in_compiled_loops() -> None:
    steps = [mirror_descent(each).step for each in (network_policy(), BLUEPRINT)]
    rollouts = [step._play_on.__self__ for step in steps]
    assert [type(each) for each in rollouts] == [CompiledRollouts, Rollouts]


@pytest.mark.parametrize("search", UPON)
def test_moves_with_a_choice_are_counted_and_no_others(search: str) -> None:
    policy, state, num_choices = UPON[search](BLUEPRINT), GAME.new_initial_state(), 0
    while not state.is_terminal():
        actions = state.legal_actions()
        num_searches = len(policy._kept)
        answer = policy.action_probabilities(state)
        num_choices += len(actions) > 1
        assert policy.num_moves == policy.num_moves_searched == num_choices
        assert policy.answer_was_searched == (len(actions) > 1)
        if len(actions) == 1:
            assert answer == {actions[0]: 1.0}
            assert len(policy._kept) == num_searches
        state.apply_action(actions[-1])
    assert num_choices


@pytest.mark.parametrize("search", UPON)
def test_blueprints_that_do_not_answer_many_states_are_refused(search: str) -> None:
    uniform = UniformPolicy(GAME, [0, 1])
    for blueprint in (ArrayPolicy.uniform(TREE), LatePolicy(uniform, uniform, 1), "uniform"):
        message = f"{type(blueprint).__name__} does not answer many states at once; give a policy"
        with pytest.raises(ValueError, match=message):
            UPON[search](blueprint)


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
