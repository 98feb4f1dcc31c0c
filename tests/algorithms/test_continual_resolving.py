"""Continual resolving: exact exploitability, laziness, and what makes it safe."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl import DepthLimit, Effort, ExactValue, ValueFunction, ZeroValue
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cfr import CFRPlusSolver
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.search.compiled_roots import Start
from spiel_dl.solvers import gadgets, linear_program
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.gadgets import GADGETS
from spiel_dl.solvers.refinement import WEIGHTS
from spiel_dl.tree import cut
from spiel_dl.tree.pieces import ROOT
from spiel_dl.tree.trunk import Trunk
from spiel_dl.value_functions.positional import PositionalNetwork
from tests.made_up_values import NoisyValue
from tests.reference import assert_same_policy
from tests.trees import compiled

SAFE = ["resolving", "max_margin", "reach_max_margin"]
GOOFSPIEL_4 = "python_goofspiel_ii(num_cards=4,points_order=descending)"

# Out pays player 0 more than it can win in the matching pennies behind In.
OUTSIDE_OPTION = """EFG 2 R "outside option" { "P0" "P1" } ""

p "" 1 1 "enter" { "In" "Out" } 0
p "" 1 2 "hide" { "l" "r" } 0
p "" 2 1 "seek" { "l" "r" } 0
t "" 1 "" { -1, 1 }
t "" 2 "" { 2, -2 }
p "" 2 1 "seek" { "l" "r" } 0
t "" 3 "" { 2, -2 }
t "" 4 "" { -1, 1 }
t "" 5 "" { 5, -5 }
"""


def measure(
    game: str,
    limit: DepthLimit,
    gadget: str,
    iterations: int,
    refinement: str = "none",
    function: ValueFunction | None = None,
) -> float:
    """Exact exploitability, NashConv / 2, in utility units."""
    tree = compiled(game)
    policy = ContinualResolvingPolicy(
        tree,
        function or ExactValue(tolerance=1e-3),
        limit,
        gadget=gadget,
        refinement=refinement,
        effort=Effort(iterations),
    )
    return exploitability.exploitability(tree, policy.to_array_policy())


@pytest.mark.parametrize("gadget", SAFE)
@pytest.mark.parametrize(
    ("game", "limit", "iterations", "bound"),
    [
        ("kuhn_poker", DepthLimit(moves=1), 300, 0.01),
        ("python_leduc", DepthLimit(rounds=1), 200, 0.05),
        (GOOFSPIEL_4, DepthLimit(rounds=1), 80, 0.012),
    ],
)
def test_safe_gadgets_keep_the_game_solved(game, limit, iterations, bound, gadget):
    """A uniform policy's exploitability is 0.46 in kuhn_poker, 2.4 in Leduc."""
    assert measure(game, limit, gadget, iterations) < bound


@pytest.mark.parametrize(("gadget", "refinement"), [*zip(SAFE, WEIGHTS, strict=True)])
def test_refined_gadgets_keep_the_game_solved(gadget, refinement):
    assert measure("kuhn_poker", DepthLimit(moves=1), gadget, 300, refinement) < 0.01
    assert measure(GOOFSPIEL_4, DepthLimit(rounds=1), gadget, 80, refinement) < 0.012


@pytest.mark.parametrize(
    ("gadget", "refinement"),
    [
        (SAFE[0], WEIGHTS[0]),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in zip(SAFE[1:], WEIGHTS[1:], strict=True)
        ),
    ],
)
def test_refined_gadgets_mend_more_of_what_a_bad_value_function_broke(gadget, refinement):
    """Errors of a tenth of the largest utility spoil the trunk's strategy and the given cfvs."""
    game, limit = "python_leduc", DepthLimit(rounds=1)

    def bad(weights: str | None) -> float:
        functions = [NoisyValue(ExactValue(1e-2), 1.3, seed) for seed in (0, 1)]
        found = [measure(game, limit, gadget, 100, weights, each) for each in functions]
        return float(np.mean(found))

    assert bad(refinement) < 0.95 * bad("none")


@pytest.mark.parametrize("gadget", SAFE)
def test_the_prior_is_what_the_opponent_did_and_not_how_often_it_enters(gadget):
    """The opponent's prior is split among its actions and passed to the next piece."""
    tree, limit = compiled(GOOFSPIEL_4), DepthLimit(rounds=1)
    policy = ContinualResolvingPolicy(
        tree, ZeroValue(), limit, gadget=gadget, refinement="prior", effort=Effort(50)
    )
    policy.to_array_policy()
    below = starts_of(policy, 0)
    for state, start in policy.results[0, ROOT].items():
        if not start.player_range.any():
            continue
        trunk = cut(tree, limit, state)
        treeplex, leaves = trunk.sequence_form.treeplexes[1], trunk.leaves
        priors = np.concatenate([below[s].opponent_range for s in leaves.public_states.tolist()])
        plan = np.zeros(treeplex.num_sequences)
        plan[leaves.sequences[1]] = priors
        np.testing.assert_allclose(plan[leaves.sequences[1]], priors, atol=1e-12)
        entered = start.opponent_range[treeplex.parent_sequence]
        np.testing.assert_allclose(treeplex.sum_per_infoset(plan), entered, atol=1e-12)
        assert entered.any()


@pytest.mark.slow
@pytest.mark.parametrize("gadget", SAFE)
@pytest.mark.parametrize(
    ("game", "limit"), [("python_leduc", DepthLimit(plies=3)), (GOOFSPIEL_4, DepthLimit(rounds=1))]
)
def test_safe_gadgets_keep_the_game_solved_level_after_level(game, limit, gadget):
    assert measure(game, limit, gadget, iterations=1000) < 0.02


def test_without_gadget_kuhn_poker_is_lost():
    assert measure("kuhn_poker", DepthLimit(moves=1), "unsafe", 300) > 0.05


def test_beyond_the_game_it_is_plain_cfr_plus():
    solver = CFRPlusSolver("leduc_poker")
    solver.run(30)
    policy = ContinualResolvingPolicy("leduc_poker", None, DepthLimit(moves=99), effort=Effort(30))
    expected, found = solver.average_policy(), policy.to_array_policy()
    assert_same_policy(found, expected, atol=1e-12)


@pytest.mark.parametrize("gadget", GADGETS)
def test_given_cfvs_can_be_kept(gadget):
    """Every gadget handed on has a solution that keeps the opponent at the given cfvs.

    The value function answers with best responses to strategies, so their average is such a
    solution, exactly; averages that lag by one of the few iterations would break it.
    """
    tree = compiled(GOOFSPIEL_4)
    function = ExactValue(tolerance=1e-2)
    policy = ContinualResolvingPolicy(
        tree, function, DepthLimit(rounds=1), gadget=gadget, effort=Effort(5)
    )
    num_checked = 0
    policy.to_array_policy()
    for player in (0, 1):
        for public_state, start in list(starts_of(policy, player).items())[:8]:
            if start.player_range.any():
                form = cut(tree, DepthLimit(moves=99), public_state).sequence_form
                given = (start.player_range, start.opponent_cfvs)
                margin = gadgets.max_margin(form, player, *given)
                value = linear_program.solve(margin.sequence_form, margin.root_ranges).value
                assert (value if player == 0 else -value) > -1e-7
                num_checked += 1
    assert num_checked > 6


def test_gifts_handed_on_leave_the_roots_as_they_may_be():
    """In the second level, cfvs that rise by the gifts lift no root above cfv and gift given there.

    But for roots that the solution of few iterations did not keep there in the first place.
    """
    tree, limit, num_gifts = compiled(GOOFSPIEL_4), DepthLimit(rounds=1), 0
    function = ExactValue(tolerance=1e-2)
    policy = ContinualResolvingPolicy(
        tree, function, limit, gadget="reach_max_margin", effort=Effort(30)
    )
    strategies = policy.to_array_policy().strategies
    for player, opponent in ((0, 1), (1, 0)):
        below = starts_of(policy, player)
        for public_state in cut(tree, limit).leaves.public_states.tolist():
            start, trunk = below[public_state], cut(tree, limit, public_state)
            if not start.player_range.any():
                continue
            leaves, form = trunk.leaves, trunk.sequence_form
            strategy = strategies[player][trunk.sequences[player]]
            plan = realization_plan(form.treeplexes[player], strategy, start.player_range)
            mass = leaves.sum_by_public_state(player, plan[leaves.sequences[player]])
            scale = mass[leaves.public_state_of_infoset(opponent)]
            given = [below[state] for state in leaves.public_states.tolist()]
            cfvs = scale * np.concatenate([each.opponent_cfvs for each in given])
            gifts = scale * np.concatenate([each.gifts for each in given])
            kept = root_values(trunk, opponent, plan, cfvs)
            lifted = root_values(trunk, opponent, plan, cfvs + gifts)
            allowed = np.maximum(kept, start.opponent_cfvs + start.gifts)
            assert (lifted <= allowed + 1e-9).all()
            num_gifts += np.count_nonzero(lifted > kept + 1e-6)
    assert num_gifts > 0


def starts_of(policy: ContinualResolvingPolicy, player: int) -> dict[int, Start]:
    """A player's knowledge of the public states below those that were solved."""
    return {
        state: start
        for (each, _), starts in policy.results.items()
        if each == player
        for state, start in starts.items()
    }


def root_values(trunk: Trunk, opponent: int, plan: np.ndarray, cfvs: np.ndarray) -> np.ndarray:
    """The opponent's best-response cfvs at the roots of a trunk with valued leaves."""
    treeplex = trunk.sequence_form.treeplexes[opponent]
    values = trunk.sequence_form.values_against(opponent, plan)
    np.add.at(values, trunk.leaves.sequences[opponent], cfvs)
    for infoset in reversed(range(treeplex.num_infosets)):
        values[treeplex.parent_sequence[infoset]] += values[treeplex.sequences(infoset)].max()
    return values[: treeplex.num_root_sequences]


def test_where_the_own_strategy_never_comes_it_is_uniform():
    game = pyspiel.load_efg_game(OUTSIDE_OPTION)
    policy = ContinualResolvingPolicy(game, ExactValue(), DepthLimit(moves=1), effort=Effort(200))
    state = game.new_initial_state()
    out = next(a for a in state.legal_actions() if state.action_to_string(a) == "Out")
    assert policy.action_probabilities(state)[out] == 1.0
    state.apply_action(next(a for a in state.legal_actions() if a != out))
    assert set(policy.action_probabilities(state).values()) == {0.5}
    # Player 1 must be prepared all the same: its own range there is 1.
    state.apply_action(state.legal_actions()[0])
    for probability in policy.action_probabilities(state).values():
        assert probability == pytest.approx(0.5, abs=0.05)


def test_a_mapping_of_one_value_function_is_that_value_function():
    tree, limit = compiled(GOOFSPIEL_4), DepthLimit(rounds=1)
    function, effort = ExactValue(tolerance=1e-2), Effort(10)
    by_limit = {DepthLimit(rounds=rounds): function for rounds in (1, 2)}
    expected = ContinualResolvingPolicy(tree, function, limit, effort=effort).to_array_policy()
    found = ContinualResolvingPolicy(tree, by_limit, limit, effort=effort).to_array_policy()
    assert_same_policy(found, expected)


def test_what_is_made_for_one_depth_limit_is_asked_for_all_leaves_there():
    """Values that go by the infoset are the same, whether bound to all leaves or to a piece's."""
    tree, limit, effort = compiled("kuhn_poker"), DepthLimit(moves=1), Effort(20)
    function, level = NoisyValue(ZeroValue(), 1.0), NoisyValue(ZeroValue(), 1.0)
    level.one_limit = True
    expected = ContinualResolvingPolicy(tree, function, limit, effort=effort).to_array_policy()
    found = ContinualResolvingPolicy(tree, level, limit, effort=effort).to_array_policy()
    assert_same_policy(found, expected)


@pytest.mark.parametrize(
    ("game", "unit"), [("kuhn_poker", "moves"), (GOOFSPIEL_4, "rounds"), ("python_leduc", "plies")]
)
def test_networks_that_are_made_for_one_depth_limit_each(game, unit):
    """Untrained networks, whose influence shows in comparison with networks of output 0."""
    tree, values = compiled(game), {False: {}, True: {}}
    step = 3 if game == "python_leduc" else 1
    limit = DepthLimit(**{unit: step})
    for depth in (step, 2 * step):
        end = DepthLimit(**{unit: depth})
        for is_zero in (False, True):
            network = PositionalNetwork(1, 8)
            network.initialize(cut(tree, end).leaves)
            if is_zero:
                arrays = network.parameter_arrays()
                network.load_parameters({name: 0 * array for name, array in arrays.items()})
            values[is_zero][end] = network
    effort = Effort(20)
    of_networks, of_zeros, expected = (
        ContinualResolvingPolicy(tree, function, limit, effort=effort).to_array_policy()
        for function in (values[False], values[True], ZeroValue())
    )
    for player in (0, 1):
        found = of_zeros.strategies[player]
        np.testing.assert_allclose(found, expected.strategies[player], atol=1e-9)
        assert np.abs(of_networks.strategies[player] - found).max() > 1e-3

    first, second = values[False].values()
    with pytest.raises(ValueError, match=f"fit the leaves at a depth limit of {2 * step} {unit}: "):
        ContinualResolvingPolicy(tree, first, limit)
    with pytest.raises(ValueError, match=r"a mapping from each of .* or a ParticleNetwork"):
        ContinualResolvingPolicy(tree, {**values[False], limit: second}, limit)
    with pytest.raises(ValueError, match=f"no entry for .*{unit}={2 * step}.*, where a step ends"):
        ContinualResolvingPolicy(tree, {limit: first}, limit)
    with pytest.raises(ValueError, match="a mapping must be from DepthLimits"):
        ContinualResolvingPolicy(tree, {2: first}, limit)
