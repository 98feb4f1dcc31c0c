"""Information hidden from a searching player never changes its policy, to the last bit.

In every history of some of its infosets: all hidden parts that fit what it has seen.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable

import numpy as np
import pyspiel
import pytest

from spiel_dl import DepthLimit, Effort, ExactValue, ZeroValue, policy_bot
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.mirror_descent_search import (
    MirrorDescentConfig,
    MirrorDescentPolicy,
    MirrorDescentSource,
)
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.algorithms.sepot import ParticleConfig, SearchConfig, SePoTPlayPolicy, SePoTPolicy
from spiel_dl.learning.critic_network import NetworkCritic
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.solvers.refinement import WEIGHTS
from spiel_dl.tree.public_states import consistent_histories
from tests.made_up_values import NoisyValue
from tests.reference import state_after
from tests.trees import compiled
from tests.untrained_blueprints import network_critic, network_policy

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order={})"
SHIPS_3 = "python_battleships(board_width=3,board_height=3,ship_sizes=[2;2])"
SHIPS_2 = "python_battleships(board_width=2,board_height=2,ship_sizes=[2])"
TWO_SHOTS = "python_battleships(board_width=2,board_height=2,ship_sizes=[2],num_shots=2)"
GAMES = {
    GOOFSPIEL.format(4, "descending"): DepthLimit(rounds=1),
    GOOFSPIEL.format(5, "random"): DepthLimit(rounds=1),
    "python_leduc": DepthLimit(moves=2),
    SHIPS_2: DepthLimit(rounds=1),
    SHIPS_3: DepthLimit(moves=1),
}
FEW = [GOOFSPIEL.format(4, "descending"), SHIPS_2]
COMPILED = [GOOFSPIEL.format(4, "descending"), "python_leduc(num_ranks=2,num_suits=2)", TWO_SHOTS]
TOPS = [
    {"refinement": "mixed"},
    {"gadget": "max_margin", "refinement": "mixed"},
    {"gadget": "unsafe"},
]
EFFORT = Effort(iterations=10)
NUM_INFOSETS = 5
MAX_HISTORIES = 6


def networks(game: pyspiel.Game) -> tuple[NetworkPolicy, NetworkCritic]:
    """Untrained ones with large outputs."""
    return network_policy(game, scale=3), network_critic(game, scale=3)


@functools.cache
def hidden_parts(game_string: str) -> list[list[pyspiel.State]]:
    """For some infosets of whoever moves, states of at most MAX_HISTORIES of their histories."""
    game, generator, found = pyspiel.load_game(game_string), np.random.default_rng(2), {}
    while len(found) < NUM_INFOSETS:
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                key = state.information_state_string()
                if key not in found:
                    together = states_of_infoset(game, state, generator)
                    if len(together) > 1:
                        found[key] = together
            state.apply_action(int(generator.choice(state.legal_actions())))
    return list(found.values())[:NUM_INFOSETS]


def states_of_infoset(
    game: pyspiel.Game, state: pyspiel.State, generator: np.random.Generator
) -> list[pyspiel.State]:
    """OpenSpiel's states with the same information state string."""
    actions = consistent_histories(state, 20_000).actions.tolist()
    order = generator.permutation(len(actions))
    same = []
    for row in order[: 20 * MAX_HISTORIES]:
        other = state_after(game, actions[row])
        player = state.current_player()
        if other.information_state_string(player) == state.information_state_string(player):
            same.append(other)
    return same[:MAX_HISTORIES]


def check(policy, infosets: list[list[pyspiel.State]]) -> None:
    """All histories of an infoset get the same answer, and not all infosets do.

    Solutions that are kept would hide what they depend on, so they are dropped before the last.
    """
    answers = collections.Counter()
    for states in infosets:
        first, *others = (policy.action_probabilities(state) for state in states[:-1])
        if isinstance(policy, SearchPolicy) and not isinstance(policy.source, CompiledSource):
            policy.results.clear()
        others.append(policy.action_probabilities(states[-1]))
        assert others
        assert sum(first.values()) == pytest.approx(1.0)
        for state, other in zip(states[1:], others, strict=True):
            assert other == first, f"{state.history()} and {states[0].history()}"
        answers[tuple(first.items())] += 1
    assert len(answers) > 2


def check_kept(make: Callable[[], SearchPolicy], game_string: str) -> None:
    """As `check`, where solutions are kept: histories are asked alone, too, of fresh policies."""
    policy, infosets = make(), hidden_parts(game_string)
    check(policy, infosets)
    assert policy.num_searches > 2
    for states in infosets[:2]:
        answers = [make().action_probabilities(state) for state in (states[0], states[-1])]
        assert answers[0] == answers[1] == policy.action_probabilities(states[0])


def sepot(game_string: str, particles: ParticleConfig | None = None, **settings) -> SearchPolicy:
    game = pyspiel.load_game(game_string)
    blueprint, critic = networks(game)
    config, limit = SearchConfig(effort=EFFORT, **settings), GAMES[game_string]
    return SePoTPlayPolicy(game, blueprint.act, critic, limit, config=config, particles=particles)


@pytest.mark.parametrize(
    ("game_string", "top"),
    [*((game, {}) for game in GAMES), *((game, top) for game in FEW for top in TOPS)],
)
def test_search_by_reconstruction(game_string, top):
    policy = sepot(game_string, max_histories=2000, **top)
    check(policy, hidden_parts(game_string))
    assert policy.num_searches > 0


@pytest.mark.parametrize(
    ("game_string", "top"),
    [*((game, {}) for game in COMPILED), *((FEW[0], top) for top in TOPS)],
)
def test_search_on_the_compiled_game(game_string, top):
    tree = compiled(game_string)
    blueprint, critic = networks(tree.game)
    config, limit = SearchConfig(effort=EFFORT, **top), DepthLimit(moves=2)
    check_kept(lambda: SePoTPolicy(tree, blueprint, critic, limit, config=config), game_string)


@pytest.mark.parametrize("refinement", WEIGHTS)
def test_continual_resolving_with_refined_gadgets(refinement):
    tree, values = compiled(FEW[0]), NoisyValue(ExactValue(1e-1), 0.2)
    settings = {"refinement": refinement, "effort": Effort(20)}
    limit = DepthLimit(rounds=1)
    check_kept(lambda: ContinualResolvingPolicy(tree, values, limit, **settings), FEW[0])


@pytest.mark.parametrize("game_string", FEW)
def test_bots_draw_the_same(game_string):
    policy = sepot(game_string, max_histories=2000)
    for states in hidden_parts(game_string)[:3]:
        player = states[0].current_player()
        steps = [policy_bot(policy, player, seed=5).step_with_policy(state) for state in states[:4]]
        assert all(step == steps[0] for step in steps)
        assert steps[0][1] in states[0].legal_actions()


@pytest.mark.parametrize("game_string", GAMES)
def test_particle_search(game_string):
    game = pyspiel.load_game(game_string)
    policy = ParticlePolicy(game, ZeroValue(), GAMES[game_string], budget=40, effort=Effort(20))
    check(policy, hidden_parts(game_string))


@pytest.mark.parametrize(("max_listed", "order"), [(10, 1), (20_000, None)])
@pytest.mark.parametrize("game_string", [*GAMES][1:4])
def test_search_below_sampled_beliefs(game_string, order, max_listed):
    """With fixed seeds; public states are listed, or drawn."""
    policy = sepot(
        game_string, particles=ParticleConfig(12, max_listed=max_listed, seed=3, order=order)
    )
    check(policy, hidden_parts(game_string))


@pytest.mark.parametrize(("max_listed", "is_compiled"), [(10, False), (20_000, True)])
@pytest.mark.parametrize("game_string", [*GAMES][1:4])
def test_mirror_descent_search(game_string, max_listed, is_compiled):
    game = pyspiel.load_game(game_string)
    blueprint, _ = networks(game)
    acting = ActingNetwork(blueprint.network, blueprint.parameters)
    config = MirrorDescentConfig(num_rollouts=40, budget=12, max_listed=max_listed)
    policy = MirrorDescentPolicy(game, acting if is_compiled else blueprint.act, config)
    check(policy, hidden_parts(game_string))


def test_a_search_that_looks_at_hidden_cards_is_caught():
    """Caught although it caches its solutions for later calls."""

    class Cheat(MirrorDescentSource):
        def solve(self, path, position, previous, spec, search):
            found = super().solve(path, position, previous, spec, search)
            hidden = float(path.states.played.sum())
            return found._replace(policy=found.policy + 1e-9 * hidden)

    game = pyspiel.load_game(FEW[0])
    blueprint, _ = networks(game)
    policy = MirrorDescentPolicy(game, blueprint.act, MirrorDescentConfig(num_rollouts=40))
    policy.source = Cheat(game, blueprint.act, policy.source.config)
    infosets = hidden_parts(FEW[0])
    with pytest.raises(AssertionError, match="and"):
        check(policy, infosets)


def test_a_policy_that_looks_at_hidden_cards_is_caught():
    game = pyspiel.load_game(FEW[0])

    class Cheat(NetworkPolicy):
        def action_probabilities(self, state, player_id=None):
            answer = super().action_probabilities(state, player_id)
            return {action: p + 1e-12 * state.history()[0] for action, p in answer.items()}

    honest, _ = networks(game)
    cheat = Cheat(game, honest.network, honest.parameters)
    infosets = [states for states in hidden_parts(FEW[0]) if states[0].current_player()]
    with pytest.raises(AssertionError):
        check(cheat, infosets)
