"""`SearchPolicy`, compiled and along played games: caches, copies, counts and errors."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable

import numpy as np
import pyspiel
import pytest
import torch

from spiel_dl.algorithms.abd import ABDPolicy
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.algorithms.mirror_descent_search import MirrorDescentConfig, MirrorDescentPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.sepot import ParticleConfig, SearchConfig, SePoTPlayPolicy
from spiel_dl.learning.compiled_rollouts import CompiledRollouts
from spiel_dl.learning.rollouts import Rollouts
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.search import policy as search_policy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.leaf_values import ByValueFunction
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.policy_rows import AnyBlueprint, acting_policy
from spiel_dl.search.spec import Spec
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.gadgets import SAFE_GADGETS
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.load import AnyGame
from spiel_dl.tree.pieces import Pieces
from spiel_dl.value_functions import ZeroValue
from tests.reference import state_after
from tests.untrained_blueprints import Blueprint, exact_critic, network_policy

GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"
TREE = GameTree.from_game(GOOFSPIEL_4)
GAME: pyspiel.Game = TREE.game
BLUEPRINT = Blueprint(GAME)
LIMIT = DepthLimit(rounds=1)
NETWORK = network_policy(GAME, (16, 16), scale=1, seed=2)


def mirror_descent(blueprint: AnyBlueprint, game: AnyGame = GAME) -> SearchPolicy:
    return MirrorDescentPolicy(game, blueprint, MirrorDescentConfig(num_rollouts=50, budget=20))


def sepot(
    blueprint: AnyBlueprint, game: AnyGame = GAME, particles: ParticleConfig | None = None
) -> SearchPolicy:
    critic, config = exact_critic(TREE, BLUEPRINT), SearchConfig(effort=Effort(10))
    return SePoTPlayPolicy(game, blueprint, critic, LIMIT, config=config, particles=particles)


UPON: dict[str, Callable[..., SearchPolicy]] = {
    "mirror descent": mirror_descent,
    "SePoT": sepot,
    "particles": functools.partial(sepot, particles=ParticleConfig(budget=20)),
    "knowledge": functools.partial(sepot, particles=ParticleConfig(budget=20, order=1)),
}
"""Searches on top of a blueprint."""
MODEL = random_policy(TREE, 0)
MAKERS: dict[str, Callable[[], SearchPolicy]] = {
    **{name: functools.partial(search, BLUEPRINT) for name, search in UPON.items()},
    "mirror descent, compiled": lambda: mirror_descent(NETWORK),
    "particle": lambda: ParticlePolicy(GAME, ZeroValue(), LIMIT, budget=20, effort=Effort(10)),
    "resolving": lambda: ContinualResolvingPolicy(TREE, ZeroValue(), LIMIT, effort=Effort(10)),
    "abd": lambda: ABDPolicy(TREE, 0, MODEL, LIMIT, p=0.5, effort=Effort(10)),
}


def answers_of(policy: SearchPolicy) -> list[dict[int, float]]:
    """The policies at all decisions of a game."""
    state, found = policy.game.new_initial_state(), []
    while not state.is_terminal():
        found.append(policy.action_probabilities(state))
        state.apply_action(state.legal_actions()[-1])
    assert any(0.01 < max(answer.values()) < 0.99 for answer in found)
    return found


@pytest.mark.parametrize("blueprint", [NETWORK, UniformPolicy(GAME, [0, 1])])
@pytest.mark.parametrize("search", ["mirror descent", "SePoT"])
def test_a_policy_is_searched_upon_as_its_function_is(search, blueprint):
    acting = acting_policy(blueprint)
    assert answers_of(UPON[search](blueprint)) == answers_of(UPON[search](acting))


@pytest.mark.parametrize("search", UPON)
def test_what_a_blueprint_returned_stays_as_it_is(search):
    returned = []

    def keeping(tensors: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        rows = legal / legal.sum(dim=1, keepdim=True, dtype=torch.float64).clamp(min=1.0)
        returned.append((rows, rows.clone()))
        return rows

    answers_of(UPON[search](keeping))
    assert len(returned) > 1
    assert all(torch.equal(rows, before) for rows, before in returned)


@pytest.mark.parametrize("search", UPON)
def test_the_compiled_game_is_the_game(search):
    assert answers_of(UPON[search](BLUEPRINT, game=TREE)) == answers_of(UPON[search](BLUEPRINT))


def test_games_of_a_network_are_played_out_in_compiled_loops():
    sources = [mirror_descent(each).source for each in (NETWORK, BLUEPRINT)]
    rollouts = [source._play_on[0].__self__ for source in sources]
    assert [type(each) for each in rollouts] == [CompiledRollouts, Rollouts]


@pytest.mark.parametrize("search", UPON)
def test_moves_with_a_choice_are_searched_and_no_others(search):
    policy, state, num_choices = UPON[search](BLUEPRINT), GAME.new_initial_state(), 0
    while not state.is_terminal():
        actions = state.legal_actions()
        num_searches = len(policy.results)
        answer = policy.action_probabilities(state)
        num_choices += len(actions) > 1
        assert policy.answer_was_searched == (len(actions) > 1)
        if len(actions) == 1:
            assert answer == {actions[0]: 1.0}
            assert len(policy.results) == num_searches
        state.apply_action(actions[-1])
    assert num_choices


def test_searches_are_kept_as_long_as_there_is_memory(monkeypatch):
    root, drawn = (state_after(GAME, actions) for actions in ((), (2, 2)))

    def asked() -> tuple[list[dict[int, float]], int]:
        policy = UPON["SePoT"](BLUEPRINT)
        answers = [policy.action_probabilities(state) for state in (root, drawn, root, drawn)]
        return answers, policy.num_searches

    answers, number = asked()
    assert number == 2
    monkeypatch.setattr(search_policy, "MAX_BYTES", 1)
    assert asked() == (answers, 4)


def test_only_what_is_asked_for_is_solved():
    lazy = MAKERS["resolving"]()
    state = GAME.new_initial_state()
    assert not lazy.results
    lazy.action_probabilities(state)
    assert lazy.num_searches == 1
    for action in (0, 1):
        state.apply_action(action)
    answer = lazy.action_probabilities(state)
    assert lazy.num_searches == 2
    assert lazy.to_array_policy().action_probabilities(state) == answer


@pytest.mark.parametrize("scheme", ["block", "sliding"])
@pytest.mark.parametrize("gadget", SAFE_GADGETS)
def test_searches_to_the_end_of_the_game_go_on_from_one_another(gadget, scheme):
    tree = GameTree.from_game("kuhn_poker")
    source = CompiledSource(Pieces(tree, DepthLimit(moves=1), scheme), ArrayPolicy.uniform(tree))
    policy = SearchPolicy(source, Spec(gadget=gadget, exact=True), Effort())
    # An equilibrium stays one where its subgames are solved again.
    assert exploitability(tree, policy.to_array_policy()) < 1e-9
    assert policy.num_searches > 1


@pytest.mark.parametrize("gadget", ["resolving", "unsafe"])
def test_a_search_inside_of_the_one_before_needs_what_its_leaves_do_not_tell(gadget):
    pieces = Pieces(TREE, DepthLimit(rounds=2), "sliding")
    source = CompiledSource(pieces, ArrayPolicy.uniform(TREE))
    policy = SearchPolicy(source, Spec(ByValueFunction(pieces, ZeroValue()), gadget), Effort(1))
    with pytest.raises(ValueError, match="use scheme='block', a depth limit of 1 level"):
        policy.to_array_policy()


@pytest.mark.parametrize("gadget", ["full", "full_trunk"])
def test_a_search_down_to_several_limits_does_not_choose_among_value_functions(gadget):
    pieces = Pieces(TREE, LIMIT, "block")
    values = ByValueFunction(pieces, {LIMIT: ZeroValue()})
    source = CompiledSource(pieces, MODEL, (0,))
    policy = SearchPolicy(source, Spec(values, gadget, p=0.5), Effort(1))
    with pytest.raises(ValueError, match="looks down to several depth limits"):
        policy.action_probabilities(GAME.new_initial_state())


@pytest.mark.parametrize("gadget", ["resolving", "max_margin", "reach_max_margin"])
def test_cdrnr_that_never_trusts_its_model_is_continual_resolving(gadget):
    """The same but for rounding: who is updated first only differs for player 1."""
    limit, values = DepthLimit(moves=2), ZeroValue()
    settings = {"gadget": gadget, "effort": Effort(30)}
    expected = ContinualResolvingPolicy(TREE, values, limit, **settings)
    found = CDRNRPolicy(
        TREE, 0, MODEL, limit, p=0.0, value_function=values, scheme="block", **settings
    )
    np.testing.assert_allclose(
        found.to_array_policy().strategies[0], expected.to_array_policy().strategies[0], atol=1e-6
    )


@pytest.mark.parametrize("search", UPON)
def test_blueprints_that_do_not_answer_many_states_are_refused(search):
    for blueprint in (ArrayPolicy.uniform(TREE), "uniform"):
        message = f"{type(blueprint).__name__} does not answer many states at once; give a policy"
        with pytest.raises(ValueError, match=message):
            UPON[search](blueprint)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_copy_answers_alike(maker):
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
def test_states_of_other_games_and_ends_are_refused(maker):
    policy = MAKERS[maker]()
    descending = "python_goofspiel_ii(num_cards=3,points_order=descending)"
    for game, actions in (
        (descending, ()),
        ("python_goofspiel_ii(num_cards=4,points_order=ascending)", ()),
        (descending, (0, 1, 1, 2)),  # forced
        ("kuhn_poker", (0, 1)),
    ):
        state = state_after(load_turn_based(game), actions)
        with pytest.raises(ValueError, match=r"the state is of .*, not of .*num_cards=4"):
            policy.action_probabilities(state)
    state = GAME.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(ValueError, match="no player moves"):
        policy.action_probabilities(state)
