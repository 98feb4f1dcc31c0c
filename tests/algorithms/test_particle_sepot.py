"""Particle SePoT and knowledge-limited search: with all histories, they are SePoT."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from spiel_dl import DepthLimit, Effort, GameTree
from spiel_dl.algorithms.sepot import ParticleConfig, SearchConfig, SePoTPlayPolicy
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.search.samples import OfKnowledge
from spiel_dl.tree.from_rules import InfosetKeys
from tests.reference import decisions, state_after
from tests.untrained_blueprints import Blueprint, exact_critic

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"
WITH_TIES = (6, 5, 4, 4, 3, 2)
GAMES = {
    GOOFSPIEL: DepthLimit(rounds=1),
    "python_goofspiel_ii(num_cards=3,points_order=random)": DepthLimit(rounds=2),
    "python_leduc(num_ranks=2,num_suits=2)": DepthLimit(rounds=1),
}
UNLIMITED = 1 << 30
"""An order of knowledge beyond any public state."""


@functools.cache
def setting(game_string):
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    return tree.game, blueprint, exact_critic(tree, blueprint)


# Knowledge of any order may stop short of the public state, in which weights have mean 1.
@pytest.mark.parametrize(("order", "refinement"), [(None, "prior"), (UNLIMITED, "none")])
@pytest.mark.parametrize("game_string", GAMES)
def test_with_all_histories_it_is_sepot(game_string, order, refinement, monkeypatch):
    monkeypatch.delattr("spiel_dl.search.beliefs.DrawnBelief")  # All are listed.
    config = SearchConfig(refinement=refinement, effort=Effort(50))
    every = ParticleConfig(budget=10_000, order=order)
    make = functools.partial(SePoTPlayPolicy, *setting(game_string), GAMES[game_string])
    expected, found = make(config=config), make(config=config, particles=every)
    is_mixed = False
    for state in decisions(found.game, 2, seed=1):
        answer = found.action_probabilities(state)
        assert answer == pytest.approx(expected.action_probabilities(state), abs=1e-9)
        is_mixed |= max(answer.values()) < 1.0 - 1e-6
    assert is_mixed, "all answers are pure"
    assert found.num_searches > 0


@pytest.mark.parametrize("max_listed", [0, 10_000])
@pytest.mark.parametrize("order", [None, 1])
@pytest.mark.parametrize("game_string", GAMES)
def test_every_move_is_searched_within_the_budget(game_string, order, max_listed):
    make = functools.partial(
        SePoTPlayPolicy,
        *setting(game_string),
        GAMES[game_string],
        config=SearchConfig(effort=Effort(10)),
        particles=ParticleConfig(budget=6, max_listed=max_listed, order=order),
    )
    policy = make()
    states, sizes = decisions(policy.game, 2, seed=3), []
    policy.watch = lambda solution: sizes.append(len(solution.root.histories))
    first = []
    for state in states:
        first.append(policy.action_probabilities(state))
        assert policy.answer_was_searched == (len(state.legal_actions()) > 1)
    assert sizes
    assert max(sizes) <= 6
    # Whatever was asked before.
    again = make()
    assert [again.action_probabilities(state) for state in states[::-1]] == first[::-1]


def listed_belief(state, blueprint):
    """The histories of a state's public state, which is listed."""
    rules = state.get_game().rules
    public = rules.public_tensor(state.batch, True)[0]
    return Beliefs(state.get_game(), 10_000).of(0, public, TensorPolicy(rules, blueprint))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders_of_knowledge_against_distances(order):
    """Breadth-first search among the histories of a public state, pair by pair."""
    game, blueprint, _ = setting(GOOFSPIEL)
    state = state_after(game, (3, 2, 1, 0))
    sampler, keys = OfKnowledge(ParticleConfig(order=order)), InfosetKeys(game.rules)
    belief = listed_belief(state, blueprint)
    pairs = list(map(tuple, belief.infoset_keys.T.tolist()))
    own = keys.of_level(state.batch)[0][:, 0].tolist()
    for player in (0, 1):
        within = {pair for pair in pairs if pair[player] == own[player]}
        for distance in range(order):
            who = player if distance % 2 else 1 - player
            infosets = {pair[who] for pair in within}
            within = {pair for pair in pairs if pair[who] in infosets}
        found = sampler.choose(belief, player, state.batch, np.random.default_rng(0)).particles
        assert set(map(tuple, keys.of_level(found.states)[0].T.tolist())) == within
        assert order > 1 or len(within) < len(pairs)


@pytest.mark.parametrize(("order", "budget"), [(1, 40), (2, 40), (3, 6)])
def test_drawn_histories_stand_for_those_within_the_order(order, budget):
    """On average of 400 draws: their reach, of the own infoset and in all."""
    state = state_after("python_goofspiel_ii(num_cards=7,points_order=descending)", WITH_TIES)
    player = state.current_player()
    belief = listed_belief(state, Blueprint(state.get_game()))
    own = belief.key_of(player, state.batch)

    def reach(particles):
        is_own = particles.infoset_keys[player] == own
        return np.array([particles.total_reach.sum(), particles.total_reach[is_own].sum()])

    every = OfKnowledge(ParticleConfig(budget=10_000, order=order))
    expected = reach(every.choose(belief, player, state.batch, np.random.default_rng(0)).particles)
    some = OfKnowledge(ParticleConfig(budget=budget, order=order))
    generator = np.random.default_rng(0)
    drawn = [some.choose(belief, player, state.batch, generator).particles for _ in range(400)]
    assert max(each.num_particles for each in drawn) <= budget
    shares = np.array([reach(each) / expected for each in drawn])
    error = 4 * shares.std(axis=0) / 20
    assert (abs(shares.mean(axis=0) - 1) < error + 1e-9).all()
    assert (error < 0.3).all()


def test_a_player_follows_its_blueprint_where_it_is_not_solved():
    game, blueprint, critic = setting(GOOFSPIEL)
    config, particles = SearchConfig(effort=Effort(50)), ParticleConfig(order=1)
    policy = SePoTPlayPolicy(
        game, blueprint, critic, DepthLimit(rounds=1), config=config, particles=particles
    )
    found = []
    policy.watch = found.append
    for state in decisions(game, 3, seed=5):
        policy.action_probabilities(state)
    seats = set()
    for solution in found:
        root, player, plan = solution.root, solution.player, solution.plans[solution.player]
        if root.bound is None:
            continue
        treeplex = root.trunk.sequence_form.treeplexes[player]
        own = treeplex.sequences_of(root.bound.infosets)
        parents = plan[treeplex.parent_sequence[treeplex.infoset_of_sequence[own]]]
        np.testing.assert_allclose(plan[own], parents * root.bound.strategy[own], atol=1e-12)
        tree = root.trunk.tree
        firsts = tree.first_history[player][root.trunk.infosets[player]][root.bound.infosets]
        rows = TensorPolicy(game.rules, blueprint)(tree.states_of(firsts), player)
        assert root.bound.strategy[own].tolist() == pytest.approx(rows[rows > 0].tolist())
        seats.add(player)
    assert seats == {0, 1}
