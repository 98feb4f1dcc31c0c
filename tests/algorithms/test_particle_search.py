"""Particle search against exact solutions, and its policy by what it may know."""

import gc
import itertools
import weakref

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import ArrayPolicy, DepthLimit, Effort, ExactValue, GameTree, ValueFunction, ZeroValue
from spiel_dl.algorithms import exploitability, particle_search
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.algorithms.particle_search import ParticlePolicy
from spiel_dl.search.particles import (
    action_probabilities,
    leaf_particles,
    leaf_values,
    particle_spec,
    root_of_particles,
    solve_below,
)
from spiel_dl.search.search import search
from spiel_dl.solvers import linear_program
from spiel_dl.solvers.best_response import expected_value, realization_plan
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import root_ranges
from spiel_dl.value_functions.particle_features import InfostateFeatures
from spiel_dl.value_functions.particle_module import ParticleSizes
from tests import reference
from tests.made_up_values import MadeUpValue, broken_value
from tests.particle_networks import network_for
from tests.public_states import particles_of
from tests.reference import state_after
from tests.solvers.matrix_games import matrix_game

GOOFSPIEL = "python_goofspiel_ii(num_cards={},points_order=descending)"
DARK_HEX = "python_abrupt_dark_hex(num_cols=2,num_rows=2)"
BEYOND = DepthLimit(moves=99)


@pytest.mark.parametrize(("game", "actions"), [(GOOFSPIEL.format(4), []), ("python_leduc", [0, 1])])
def test_with_all_particles_and_no_limit_the_game_is_solved(game, actions):
    """The root's values, range-weighted, are those of a linear program of the whole game."""
    particles = particles_of(state_after(game, actions))
    solution = solve_below(particles, None, BEYOND, effort=Effort(2000))
    tree = GameTree.from_game(game)
    value = linear_program.solve(tree.sequence_form).value
    for player, sign in ((0, 1), (1, -1)):
        # The whole game's first infosets all have range 1, which sums to 1 here.
        roots = solution.plans[player][: len(solution.root_cfvs[player])]
        scale = len(roots) if actions else 1
        found = (roots * solution.root_cfvs[player]).sum() * scale**2
        assert found == pytest.approx(sign * value, abs=2e-3)


def test_below_a_subset_of_histories_the_solution_is_that_subgames():
    """Three histories, after which each player has two cards: a matrix game by hand."""
    state = state_after(GOOFSPIEL.format(4), [3, 2, 1, 0])
    everything = particles_of(state)
    generator = np.random.default_rng(0)
    particles = everything.sample(3, generator, np.ones(everything.num_particles))
    reach = np.ones((2, 3))
    particles = Particles(particles.game, particles.states, reach, particles.chance_reach)
    solution = solve_below(particles, None, BEYOND, effort=Effort(3000))
    form = solution.trunk.sequence_form
    # By OpenSpiel's own states: every pair of pure strategies in this subgame.
    values = pure_values(particles)
    best = linear_program.solve(matrix_game(values.tolist())).value
    plans = solution.plans
    scale = np.prod([len(cfvs) for cfvs in solution.root_cfvs])
    assert expected_value(form, plans) * scale == pytest.approx(best, abs=2e-3)


def pure_values(particles):
    """float64 [A, B]: summed utilities of the particles under pure strategies, move by move."""
    game = particles.game
    played = particles.states.played.numpy()
    histories = [
        [int(row[0]) - 1, int(row[4]) - 1, int(row[1]) - 1, int(row[5]) - 1] for row in played
    ]
    hands = [sorted({(h[p], h[2 + p]) for h in histories}) for p in (0, 1)]
    cards = [[[c for c in range(4) if c not in hand] for hand in hands[p]] for p in (0, 1)]
    choices = [list(itertools.product(*cards[p])) for p in (0, 1)]
    values = np.zeros((len(choices[0]), len(choices[1])))
    for i, j in np.ndindex(values.shape):
        for history in histories:
            bids = [
                choices[p][(i, j)[p]][hands[p].index((history[p], history[2 + p]))] for p in (0, 1)
            ]
            state = state_after(game, (*history, *bids))
            assert state.is_terminal()
            values[i, j] += state.returns()[0]
    return values


def test_leaf_particles_have_the_reaches_of_the_solution():
    particles = particles_of(state_after(GOOFSPIEL.format(4), []))
    solution = solve_below(particles, ZeroValue(), DepthLimit(rounds=1), effort=Effort(5))
    leaves = solution.trunk.leaves
    total = 0.0
    for state in range(leaves.num_public_states):
        below = leaf_particles(solution, state)
        bids = [below.states.played[:, column].numpy() - 1 for column in (0, 4)]
        for player in (0, 1):
            key = solution.trunk.tree.infoset_key[
                player, solution.trunk.tree.first_history[player][0]
            ]
            strategy = action_probabilities(solution, player, int(key))
            np.testing.assert_allclose(below.reach[player], [strategy[b] for b in bids[player]])
        total += below.total_reach.sum()
    assert total == pytest.approx(1.0)
    assert solution.leaf_reach.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "game", [GOOFSPIEL.format(4), pytest.param("python_leduc", marks=pytest.mark.slow)]
)
def test_one_block_with_all_particles_is_an_equilibrium(game):
    policy = ParticlePolicy(game, None, BEYOND, budget=10_000, effort=Effort(1000))
    tree = GameTree.from_game(game)
    found = ArrayPolicy.from_policy(tree, policy)
    uniform = exploitability.nash_conv(tree, ArrayPolicy.uniform(tree))
    assert exploitability.nash_conv(tree, found) < 0.01 * uniform


class ByFeatures(ValueFunction):
    """Conditional values of infosets that depend on features only, in float64."""

    where_nobody_comes = 0.0
    """What values at counterfactual reach 0 are multiplied by; those of networks need not be 0."""

    def bind(self, leaves):
        features = InfostateFeatures().of_leaves(leaves).infostates.astype(np.float64)
        worth = np.cos(features @ np.arange(features.shape[1]))
        first, second = np.split(worth, [leaves.num_infosets(0)])

        def evaluate(range_0, range_1):
            reach = leaves.counterfactual_reach(range_0, range_1)
            found = []
            for player, (other, worth) in enumerate(((range_1, first), (range_0, second))):
                mass = leaves.sum_by_public_state(1 - player, other)
                own_mass = mass[leaves.public_state_of_infoset(player)]
                instead = np.where(reach[player] > 0, 0.0, self.where_nobody_comes * own_mass)
                found.append((reach[player] + instead) * worth)
            return found[0], found[1]

        return MadeUpValue(evaluate).bind(leaves)


class EverywhereByFeatures(ByFeatures):
    """Values that are not 0 where the reach is 0."""

    where_nobody_comes = 0.5


@pytest.mark.parametrize(
    ("game", "limit", "values", "gadget"),
    [
        (GOOFSPIEL.format(3), DepthLimit(rounds=1), ByFeatures(), "resolving"),
        (GOOFSPIEL.format(3), DepthLimit(rounds=1), ByFeatures(), "max_margin"),
        ("python_leduc(num_ranks=2,num_suits=2)", DepthLimit(rounds=1), ByFeatures(), "resolving"),
        (DARK_HEX, DepthLimit(moves=1), EverywhereByFeatures(), "max_margin"),
    ],
)
def test_with_all_particles_it_is_continual_resolving(monkeypatch, game, limit, values, gadget):
    """Where no particle is left out, the search of a compiled game comes to the same."""
    tree, effort = GameTree.from_game(game), Effort(15)
    expected = ContinualResolvingPolicy(tree, values, limit, gadget=gadget, effort=effort)
    monkeypatch.setattr(particle_search, "_MAX_KEPT", 1000)
    policy = ParticlePolicy(tree, values, limit, budget=10_000, gadget=gadget, effort=effort)
    strategies = expected.to_array_policy().strategies
    found = ArrayPolicy.from_policy(tree, policy).strategies
    for player, treeplex in enumerate(tree.treeplexes):
        is_reached = realization_plan(treeplex, strategies[player])[treeplex.parent_sequence] > 1e-9
        rows = treeplex.sequences_of(is_reached)
        np.testing.assert_allclose(strategies[player][rows], found[player][rows], atol=1e-6)
    assert exploitability.nash_conv(tree, ArrayPolicy(tree, found)) == pytest.approx(
        exploitability.nash_conv(tree, ArrayPolicy(tree, strategies)), abs=1e-6
    )


def test_given_values_are_those_of_the_particles_that_are_left():
    """Given cfvs of the opponent's infosets are scaled by the kept share of their reach."""
    game, limit = GOOFSPIEL.format(4), DepthLimit(rounds=1)
    root = root_of_particles(particles_of(state_after(game, [])), limit, 0)
    before = search(root, particle_spec(ByFeatures(), "resolving"), Effort(9))
    leaves = before.trunk.leaves
    largest = int(np.argmax(np.diff(leaves.history_offsets)))
    here = slice(*leaves.history_offsets[largest : largest + 2])
    candidates, worth = leaf_particles(before, largest), leaf_values(before, 1, largest)
    infoset = leaves.infoset_of_history[1, here]
    reach = np.bincount(infoset, candidates.reach[0] * candidates.chance_reach)
    is_known = reach > 0
    np.testing.assert_allclose(
        np.bincount(infoset, candidates.reach[0] * worth)[is_known],
        before.leaf_cfvs[1][: len(reach)][is_known],
    )
    # One particle of each of the opponent's infosets, which has the terminating action's payoff.
    rows = np.unique(infoset, return_index=True)[1]
    kept, given = candidates.take(rows), worth[rows]
    root = root_of_particles(kept, limit, 0, given)
    own = root_ranges(root.trunk, kept)[0]
    expected = kept.reach[0] / own.sum() * given
    np.testing.assert_allclose(np.sort(root.given_cfvs), np.sort(expected))


@pytest.mark.parametrize(
    "game", [GOOFSPIEL.format(6), "python_leduc", "python_goofspiel_ii(num_cards=4)"]
)
@pytest.mark.parametrize(
    ("budget", "gadget"), [(2, "unsafe"), (8, "unsafe"), (8, "resolving"), (1000, "unsafe")]
)
def test_it_answers_every_state_and_the_same_in_any_order(game, budget, gadget):
    """Whether all particles are kept or few."""
    network, limit, effort = network_for(game), DepthLimit(rounds=1), Effort(3)

    def make():
        return ParticlePolicy(game, network, limit, budget=budget, gadget=gadget, effort=effort)

    states = reference.decisions(pyspiel.load_game(game), 2, seed=0)
    policy, answers = make(), []
    for state in states:
        answer = policy.action_probabilities(state)
        assert sorted(answer) == state.legal_actions()
        assert min(answer.values()) >= 0
        assert sum(answer.values()) == pytest.approx(1.0)
        answers.append(answer)
    other = make()
    for state, answer in reversed(list(zip(states, answers, strict=True))):
        assert other.action_probabilities(state) == answer


def test_a_lost_infoset_is_regenerated(monkeypatch):
    """With a budget of 2, some of the states of random games are not among the particles."""
    policy = ParticlePolicy(
        GOOFSPIEL.format(6),
        network_for(GOOFSPIEL.format(6)),
        DepthLimit(rounds=1),
        budget=2,
        effort=Effort(3),
    )
    regenerate, was_lost = policy.source._regenerate, []

    def counted(path, position, generator):
        was_lost.append(position > path.decisions[0])
        return regenerate(path, position, generator)

    monkeypatch.setattr(policy.source, "_regenerate", counted)
    for state in reference.decisions(pyspiel.load_game(GOOFSPIEL.format(6)), 8, seed=1):
        policy.action_probabilities(state)
    assert any(was_lost), "none was lost"


def test_a_game_goes_on_from_the_last_search(monkeypatch):
    """With one solution kept, every block is solved once all the same."""
    answers = []
    for max_kept in (1, 16):
        monkeypatch.setattr(particle_search, "_MAX_KEPT", max_kept)
        policy = ParticlePolicy(
            GOOFSPIEL.format(6),
            network_for(GOOFSPIEL.format(6)),
            DepthLimit(rounds=1),
            effort=Effort(3),
        )
        state = state_after(GOOFSPIEL.format(6), [])
        answers.append([])
        for action in (5, 4, 3, 2, 1, 0, 2, 3):
            if state.current_player() == 0:
                answers[-1].append(policy.action_probabilities(state))
            state.apply_action(action)
        assert policy.num_searches == len(answers[-1]) == 4
    assert answers[0] == answers[1]


def test_solutions_are_freed_with_their_last_reference():
    game, limit = GOOFSPIEL.format(4), DepthLimit(rounds=1)
    network = network_for(game, ParticleSizes(base=4, basis_width=1, regression_width=1))
    first, second = (particles_of(state_after(game, a)) for a in ([], [0, 1]))
    gc.disable()
    try:
        solution = solve_below(first, network, limit, Effort(2))
        tree = weakref.ref(solution.trunk.tree)
        solve_below(second, network, limit, Effort(2))
        assert tree() is not None
        del solution
        assert tree() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("num_answers", [0, 4])  # The last answer values the averages.
def test_values_that_are_not_finite_are_told(num_answers):
    game, values = pyspiel.load_game(GOOFSPIEL.format(4)), broken_value(1, num_answers)
    policy = ParticlePolicy(game, values, DepthLimit(rounds=1), effort=Effort(2))
    with pytest.raises(ValueError, match="values that are not finite"):
        policy.action_probabilities(game.new_initial_state())


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"game": "kuhn_poker"}, r"kuhn_poker.*has no Rules"),
        ({"value_function": None}, "pass value_function="),
        ({"value_function": ExactValue()}, "has no subgames"),
    ],
)
def test_wrong_settings_are_refused_when_they_are_known(how, message):
    def ask(**given):
        policy = ParticlePolicy(depth_limit=DepthLimit(rounds=1), **given)
        policy.action_probabilities(policy.game.new_initial_state())

    with pytest.raises(ValueError, match=message):
        ask(**{"game": GOOFSPIEL.format(4), "value_function": ZeroValue(), **how})
