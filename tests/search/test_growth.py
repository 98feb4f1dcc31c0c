"""Trunks that grow: with all expansions, they are the game to its end."""

from __future__ import annotations

import functools

import pytest

from spiel_dl.algorithms.knowledge_limited import KnowledgeLimitedPolicy, ParticleConfig
from spiel_dl.algorithms.particle_sepot import ParticleSePoTPolicy
from spiel_dl.algorithms.sepot import SearchConfig
from spiel_dl.play.position_view import Watched, look
from spiel_dl.search.growth import Growth
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit, GameTree
from tests.untrained_blueprints import Blueprint, exact_critic

GAMES = {
    "python_goofspiel_ii(num_cards=4,points_order=descending)": [(3, 2), (3, 2, 1)],
    "python_goofspiel_ii(num_cards=4,points_order=random)": [(0, 3, 2, 1), (0, 3, 2, 1, 1)],
}
"""The first decisions of the second round, where searches begin here."""
EFFORT = Effort(40, variant=PREDICTIVE_CFR_PLUS)


@functools.cache
def setting(game_string):
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    return tree.game, blueprint, exact_critic(tree, blueprint)


def search(game_string, kind, rounds, max_histories=None, **particles):
    return kind(
        *setting(game_string),
        DepthLimit(rounds=rounds),
        config=SearchConfig(effort=EFFORT, first_level=1, max_histories=max_histories),
        particles=ParticleConfig(budget=5000, **particles),
    )


def answers(policy, game_string):
    found = []
    for actions in GAMES[game_string]:
        state = policy.game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        found.append(list(policy.action_probabilities(state).values()))
    return found


@pytest.mark.parametrize(
    ("kind", "safety"),
    [
        (KnowledgeLimitedPolicy, "none"),
        (KnowledgeLimitedPolicy, "values"),
        (ParticleSePoTPolicy, "none"),
    ],
)
@pytest.mark.parametrize("game_string", GAMES)
def test_with_all_expansions_it_is_the_game_to_its_end(game_string, kind, safety):
    grown = search(game_string, kind, 1, num_expansions=10**6, safety=safety)
    whole = search(game_string, kind, 9, safety=safety)
    found, expected = answers(grown, game_string), answers(whole, game_string)
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    assert grown.num_searches == len(found)


@pytest.mark.parametrize("game_string", GAMES)
def test_no_more_is_expanded_than_asked_for(game_string):
    found, trunks = {}, {}
    for count in (0, 20):
        policy = search(game_string, KnowledgeLimitedPolicy, 1, num_expansions=count)
        trunks[count] = []
        policy.step.watch = lambda each, seen=trunks[count]: seen.append(each.trunk.tree)
        found[count] = answers(policy, game_string)
    for before, after in zip(trunks[0], trunks[20], strict=True):
        acting = [
            int(((tree.num_children > 0) & (tree.player >= 0)).sum()) for tree in (before, after)
        ]
        assert acting[1] - acting[0] == 20
    assert any(
        one != pytest.approx(two, abs=1e-3) for one, two in zip(*found.values(), strict=True)
    )


def test_it_grows_within_the_bound_of_a_search():
    game_string, sizes = next(iter(GAMES)), {}
    for bound in (120, 10_000):
        policy = search(game_string, KnowledgeLimitedPolicy, 1, bound, num_expansions=10**6)
        sizes[bound] = []
        policy.step.watch = lambda each, seen=sizes[bound]: seen.append(each.trunk.tree)
        answers(policy, game_string)
        assert policy.num_searches == 2
    for small, large in zip(*sizes.values(), strict=True):
        assert small.num_histories <= 121 < large.num_histories


@pytest.mark.parametrize("bound", [60, None])
def test_who_watches_is_not_told_values_that_are_not_known(bound):
    game_string = next(iter(GAMES))
    policy = search(game_string, KnowledgeLimitedPolicy, 1, bound, num_expansions=5)
    for actions in GAMES[game_string]:
        state = policy.game.new_initial_state()
        for action in actions:
            state.apply_action(action)
        found = look(Watched(lambda: policy), state, may_tell_private=True)
        assert found.state is not None
        rows = [row for own in found.state.infosets for row in own]
        assert rows
        assert all(row.cfv is None for row in rows)


def test_infosets_of_a_public_state_that_is_held_are_answered_alike_in_any_order():
    game_string = next(iter(GAMES))
    states = []
    for actions in ((3, 2), (2, 1)):  # the first player has won the first prize
        state = setting(game_string)[0].new_initial_state()
        for action in actions:
            state.apply_action(action)
        states.append(state)
    orders = []
    for each in (states, states[::-1]):
        policy = search(game_string, ParticleSePoTPolicy, 1, num_expansions=5)
        orders.append({str(state): policy.action_probabilities(state) for state in each})
        assert policy.num_searches == 1
    assert orders[0] == orders[1]


def test_growth_goes_where_players_go():
    """Who never plays an action does not come behind it, unless it is the one who explores."""
    game_string = "python_goofspiel_ii(num_cards=4,points_order=descending)"
    policy = search(game_string, KnowledgeLimitedPolicy, 1, num_expansions=1)
    original, seen = Growth._leaf_reach, []

    def watched(growth, plans, explorer):
        sequences = [growth.trunk.sequences_at(player, growth._leaves) for player in (0, 1)]
        for never in (0, 1):
            changed = [plan.copy() for plan in plans]
            changed[never][sequences[never][0]] = 0.0
            reach = original(growth, changed, explorer)
            is_there = sequences[never] == sequences[never][0]
            assert (reach[is_there] > 0).all() == (never == explorer)
            assert (reach[~is_there] > 0).any()
            seen.append((never, explorer))
        return original(growth, plans, explorer)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Growth, "_leaf_reach", watched)
        answers(policy, game_string)
    assert len(set(seen)) == 4
