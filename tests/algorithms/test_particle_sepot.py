"""Particle SePoT and knowledge-limited search: with all histories, they are SePoT."""

from __future__ import annotations

import functools

import numpy as np
import pyspiel
import pytest

from spiel_dl.algorithms.knowledge_limited import UNLIMITED, KnowledgeLimitedPolicy
from spiel_dl.algorithms.particle_sepot import ParticleConfig, ParticleSePoTPolicy
from spiel_dl.algorithms.sepot import SearchConfig, SePoTPlayPolicy
from spiel_dl.search.beliefs import Beliefs
from spiel_dl.search.knowledge_limited_step import KnowledgeLimitedStep
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, GameTree
from tests.untrained_blueprints import Blueprint, exact_critic

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"
GAMES = {
    GOOFSPIEL: DepthLimit(rounds=1),
    "python_goofspiel_ii(num_cards=3,points_order=random)": DepthLimit(rounds=2),
    "python_leduc": DepthLimit(rounds=1),
}
KINDS = {
    "particles": (ParticleSePoTPolicy, ParticleConfig(budget=10_000)),
    "unlimited knowledge": (
        KnowledgeLimitedPolicy,
        ParticleConfig(budget=10_000, order=UNLIMITED),
    ),
}


@functools.cache
def setting(game_string):
    tree = GameTree.from_game(game_string)
    blueprint = Blueprint(tree.game)
    return tree.game, blueprint, exact_critic(tree, blueprint)


def decisions(game: pyspiel.Game, num_games: int, seed: int) -> list[pyspiel.State]:
    """States of random games in which a player moves."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                found.append(state.clone())
            state.apply_action(int(generator.choice(state.legal_actions())))
    return found


def check_same(first, second, states):
    differs = False
    for state in states:
        answer, wanted = (p.action_probabilities(state) for p in (first, second))
        assert answer == pytest.approx(wanted, abs=1e-9)
        differs |= max(answer.values()) < 1.0 - 1e-6
    assert differs, "not all answers are pure"


@pytest.mark.parametrize("effort", [Effort(50)])
@pytest.mark.parametrize("kind", ["particles", "unlimited knowledge"])
@pytest.mark.parametrize("game_string", GAMES)
def test_with_all_histories_it_is_sepot(game_string, kind, effort):
    game, blueprint, critic = setting(game_string)
    config, limit = SearchConfig(effort=effort), GAMES[game_string]
    policy_class, particles = KINDS[kind]
    expected = SePoTPlayPolicy(game, blueprint, critic, limit, config=config)
    found = policy_class(game, blueprint, critic, limit, config=config, particles=particles)
    check_same(found, expected, decisions(game, 2, seed=1))
    assert found.num_searches > 0
    assert found.step.num_drawn == 0


@pytest.mark.parametrize("max_listed", [0, 10_000])
@pytest.mark.parametrize("policy_class", [ParticleSePoTPolicy, KnowledgeLimitedPolicy])
@pytest.mark.parametrize("game_string", GAMES)
def test_every_move_is_searched_within_the_budget(game_string, policy_class, max_listed):
    game, blueprint, critic = setting(game_string)
    particles = ParticleConfig(budget=6, max_listed=max_listed)
    policy = policy_class(
        game,
        blueprint,
        critic,
        GAMES[game_string],
        config=SearchConfig(effort=Effort(10)),
        particles=particles,
    )
    states = decisions(game, 2, seed=3)
    first = [policy.action_probabilities(state) for state in states]
    assert policy.num_moves == policy.num_moves_searched > 0
    assert policy.step.searched_from.num_particles <= 6
    # Whatever was asked before.
    again = policy_class(
        game,
        blueprint,
        critic,
        GAMES[game_string],
        config=SearchConfig(effort=Effort(10)),
        particles=particles,
    )
    assert [again.action_probabilities(state) for state in states[::-1]] == first[::-1]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_orders_of_knowledge_against_distances(order):
    """Breadth-first search among the histories of a public state, pair by pair."""
    game, blueprint, critic = setting(GOOFSPIEL)
    state = game.new_initial_state()
    for action in (3, 2, 1, 0):
        state.apply_action(action)
    step = KnowledgeLimitedStep(
        game,
        blueprint,
        critic,
        DepthLimit(rounds=1),
        SearchConfig(),
        ParticleConfig(order=order),
    )
    public = game.rules.public_tensor(state.batch, True)[0]
    rows = TensorPolicy(game.rules, blueprint)
    belief = Beliefs(game, max_listed=1000).of(0, public, rows)
    pairs = list(map(tuple, belief.infoset_keys.T.tolist()))
    own = step.keys.of_level(state.batch)[0][:, 0].tolist()
    for player in (0, 1):
        within = {pair for pair in pairs if pair[player] == own[player]}
        for distance in range(order):
            who = player if distance % 2 else 1 - player
            infosets = {pair[who] for pair in within}
            within = {pair for pair in pairs if pair[who] in infosets}
        found = step.choose(belief, player, state.batch, np.random.default_rng(0))
        assert set(map(tuple, step.keys.of_level(found.states)[0].T.tolist())) == within
        assert order > 1 or len(within) < len(pairs)


def test_a_frozen_player_follows_its_blueprint():
    """Against free neighbours the answer is another one, and all neighbours keep to theirs."""
    game, blueprint, critic = setting(GOOFSPIEL)
    limit, config = DepthLimit(rounds=1), SearchConfig(effort=Effort(200))
    frozen, free = (
        KnowledgeLimitedPolicy(
            game,
            blueprint,
            critic,
            limit,
            config=config,
            particles=ParticleConfig(order=1, frozen=is_frozen),
        )
        for is_frozen in (True, False)
    )
    bound = []
    solve = frozen.step._searcher.solve

    def watched(player, root, given, leaf_values, fixed=None):
        plan = solve(player, root, given, leaf_values, fixed)
        if fixed is not None and fixed.infosets.any():
            treeplex = root.trunk.sequence_form.treeplexes[player]
            own = treeplex.sequences_of(fixed.infosets)
            parents = plan[treeplex.parent_sequence[treeplex.infoset_of_sequence[own]]]
            np.testing.assert_allclose(plan[own], parents * fixed.strategy[own], atol=1e-12)
            tree = root.trunk.tree
            firsts = tree.first_history[player][root.trunk.infosets[player]][fixed.infosets]
            states = tree.states_of(firsts)
            rows = TensorPolicy(game.rules, blueprint)(states, player)
            assert fixed.strategy[own].tolist() == pytest.approx(rows[rows > 0].tolist())
            bound.append(player)
        return plan

    frozen.step._searcher.solve = watched
    differs = False
    for state in decisions(game, 3, seed=5):
        answer, other = (p.action_probabilities(state) for p in (frozen, free))
        differs |= answer != pytest.approx(other, abs=1e-3)
    assert differs
    assert set(bound) == {0, 1}


def test_errors():
    for settings in ({"budget": 1}, {"order": 0}, {"seed": -1}, {"max_listed": -1}):
        [(name, value)] = settings.items()
        with pytest.raises(ValueError, match=f"{name}={value}"):
            ParticleConfig(**settings)
    game, blueprint, critic = setting(GOOFSPIEL)
    for settings in ({"order": 2}, {"frozen": False}, {"safety": "updated"}):
        with pytest.raises(ValueError, match="are of knowledge-limited searches"):
            ParticleSePoTPolicy(
                game,
                blueprint,
                critic,
                DepthLimit(rounds=1),
                particles=ParticleConfig(**settings),
            )
    with pytest.raises(ValueError, match="or compile the game"):
        ParticleSePoTPolicy(
            game,
            blueprint,
            critic,
            DepthLimit(rounds=1),
            config=SearchConfig(continual=True),
        )
