"""Gadgets against hand-made gadget games, exact linear programs and their own guarantees."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from spiel_dl.solvers import gadgets, linear_program, refinement
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.gifts import gifts_at_leaves
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from spiel_dl.tree.trunk import Trunk
from tests import reference
from tests.trees import compiled

CASES = [
    ("kuhn_poker", DepthLimit(moves=1)),
    ("leduc_poker", DepthLimit(plies=3)),
    ("python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=1)),
]
BLUEPRINTS = ["uniform", "random", "equilibrium"]
SAFE = ["resolving", "max_margin", "reach_max_margin"]
WHOLE_SUBGAME = DepthLimit(moves=99)


def value_when_bound(form: SequenceForm, infoset: int, action: int) -> float:
    """The exact value for player 0, bound to an action in one infoset of its."""
    treeplex = form.treeplexes[0]
    plan = np.full(treeplex.num_sequences, np.nan)
    plan[treeplex.sequences(infoset)] = 0.0
    plan[treeplex.first_sequence[infoset] + action] = 1.0
    ranges = (np.ones(treeplex.num_root_sequences), np.ones(form.treeplexes[1].num_root_sequences))
    return linear_program.solve(form, ranges, fixed_plan_0=plan).value


@functools.cache
def coin_game() -> GameTree:
    return GameTree.from_game(reference.efg_game("fig3_coin_game"))


def coin_subgame() -> SequenceForm:
    """Player 0 guesses, blind; player 1's root infosets are the coin's color and its own move."""
    form = cut(coin_game(), DepthLimit(moves=1)).leaves.subgames
    assert [treeplex.num_root_sequences for treeplex in form.treeplexes] == [1, 4]
    return form


@pytest.mark.parametrize(("action", "value"), [(0, -3.0), (1, 0.0)])
def test_coin_game_itself(action, value):
    """Playing P loses 0.5 * 4 + 0.5 * 2 to RH and GH."""
    form = coin_game().sequence_form
    assert linear_program.solve(form).value == pytest.approx(0.0, abs=1e-9)
    assert value_when_bound(form, 0, action) == pytest.approx(value, abs=1e-9)


def test_resolving_gadget_of_the_coin_game():
    """With P, player 1 follows in all but GT: -(4 + 1 + 2) * 0.5, given cfvs of 0.

    The hand-made game divides by the four root histories' chance, 4 * 0.5.
    """
    gadget = gadgets.resolving(coin_subgame(), 0, np.ones(1), np.zeros(4))
    estimate = value_when_bound(gadget.sequence_form, 0, 0)
    assert estimate == pytest.approx(-3.5, abs=1e-9)
    by_hand = GameTree.from_game(reference.efg_game("fig3_resolving_gadget")).sequence_form
    assert value_when_bound(by_hand, 0, 0) == pytest.approx(-1.75, abs=1e-9)
    assert estimate / 2.0 == pytest.approx(value_when_bound(by_hand, 0, 0), abs=1e-9)
    value = linear_program.solve(gadget.sequence_form, gadget.root_ranges).value
    assert value / 2.0 == pytest.approx(linear_program.solve(by_hand).value, abs=1e-9)


def test_max_margin_gadget_of_the_coin_game():
    """With P, player 1 chooses RH: -4 * 0.5; per chance's reach of that root infoset, -4."""
    gadget = gadgets.max_margin(coin_subgame(), 0, np.ones(1), np.zeros(4))
    estimate = value_when_bound(gadget.sequence_form, 0, 0)
    assert estimate == pytest.approx(-2.0, abs=1e-9)
    assert estimate / 0.5 == pytest.approx(-4.0, abs=1e-9)
    by_hand = GameTree.from_game(reference.efg_game("fig3_max_margin_gadget")).sequence_form
    assert value_when_bound(by_hand, 0, 0) == pytest.approx(estimate, abs=1e-9)
    value = linear_program.solve(gadget.sequence_form, gadget.root_ranges).value
    assert value == pytest.approx(linear_program.solve(by_hand).value, abs=1e-9)


def test_given_cfvs_move_the_gadgets():
    """Given cfvs of 1 where P pays 2, 0.5, 1, -5."""
    cfvs = np.ones(4)
    resolve = gadgets.resolving(coin_subgame(), 0, np.ones(1), cfvs).sequence_form
    assert value_when_bound(resolve, 0, 0) == pytest.approx(-(2 + 1 + 1 + 1), abs=1e-9)
    margin = gadgets.max_margin(coin_subgame(), 0, np.ones(1), cfvs).sequence_form
    assert value_when_bound(margin, 0, 0) == pytest.approx(1.0 - 2.0, abs=1e-9)
    gifts = np.array([0.75, 0.0, 0.0, 0.0])
    reach = gadgets.reach_max_margin(coin_subgame(), 0, np.ones(1), cfvs, gifts).sequence_form
    assert value_when_bound(reach, 0, 0) == pytest.approx(1.75 - 2.0, abs=1e-9)


def test_unsafe_resolving_of_the_coin_game_is_fooled():
    """Against a range of RT and GT alone, P earns 0.5 * (-1 + 10); it is worth -3 in the game."""
    range_1 = np.array([0.0, 1.0, 0.0, 1.0])
    gadget = gadgets.unsafe(coin_subgame(), (np.ones(1), range_1))
    solution = linear_program.solve(gadget.sequence_form, gadget.root_ranges)
    assert solution.value == pytest.approx(4.5, abs=1e-9)
    np.testing.assert_allclose(solution.plans[0], [1.0, 1.0, 0.0], atol=1e-9)


def blueprint_strategies(tree: GameTree, kind: str, seed: int) -> list[np.ndarray]:
    """Both players' behaviour strategies: float64 [S_p]."""
    if kind == "uniform":
        return [treeplex.uniform_strategy() for treeplex in tree.treeplexes]
    if kind == "equilibrium":
        plans = linear_program.solve(tree.sequence_form).plans
        pairs = zip(tree.treeplexes, plans, strict=True)
        return [behaviour_strategy(treeplex, plan) for treeplex, plan in pairs]
    rng = np.random.default_rng(seed)
    # Squares of exponentials make some actions rare.
    weights = [rng.exponential(size=t.num_sequences) ** 2 for t in tree.treeplexes]
    return [behaviour_strategy(t, w) for t, w in zip(tree.treeplexes, weights, strict=True)]


def leaf_gifts(trunk: Trunk, opponent: int, cfv: np.ndarray, plan: np.ndarray) -> np.ndarray:
    """Gifts at the leaves, from the opponent's best-response cfvs in the whole game."""
    leaves, player = trunk.leaves, 1 - opponent
    own = trunk.sequences[player][leaves.sequences[player]][leaves.infoset_of_history[player]]
    weights = np.bincount(leaves.infoset_of_history[opponent], leaves.chance_reach * plan[own])
    return gifts_at_leaves(
        trunk.sequence_form.treeplexes[opponent],
        cfv[trunk.sequences[opponent]],
        np.zeros(1),
        leaves.sequences[opponent],
        weights,
    )


def resolve_everywhere(
    tree: GameTree, limit: DepthLimit, player: int, strategies: list[np.ndarray], gadget_name: str
) -> np.ndarray:
    """A player's blueprint, resolved exactly in every leaf public state: float64 [S].

    Given cfvs are those of the opponent's best response to the blueprint.
    """
    opponent, trunk = 1 - player, cut(tree, limit)
    leaves = trunk.leaves
    plans = [realization_plan(t, s) for t, s in zip(tree.treeplexes, strategies, strict=True)]
    response = best_response(tree.sequence_form, opponent, plans[player])
    gifts = leaf_gifts(trunk, opponent, response.cfv, plans[player])
    combined = strategies[player].copy()
    for position, public_state in enumerate(leaves.public_states.tolist()):
        here = [slice(*leaves.infoset_offsets[p][position : position + 2]) for p in (0, 1)]
        subgame = cut(tree, WHOLE_SUBGAME, public_state)
        form = subgame.sequence_form
        treeplex, own = form.treeplexes[player], subgame.sequences[player]
        ranges = [plans[p][trunk.sequences[p][leaves.sequences[p][here[p]]]] for p in (0, 1)]
        below = plans[player][own]
        below[: treeplex.num_root_sequences] = ranges[player]
        cfvs = best_response(form, opponent, below).cfv[: len(ranges[opponent])]
        roots = gadgets.Roots(ranges[player], ranges[opponent], cfvs, gifts[here[opponent]])
        gadget = gadgets.add_gadget(gadget_name, form, player, roots)
        solution = linear_program.solve(gadget.sequence_form, gadget.root_ranges)
        new = behaviour_strategy(treeplex, solution.plans[player])
        combined[own[treeplex.num_root_sequences :]] = new[treeplex.num_root_sequences :]
    return combined


def worst_case(tree: GameTree, player: int, strategy: np.ndarray) -> float:
    """The value of a best response against a player's strategy."""
    plan = realization_plan(tree.treeplexes[player], strategy)
    return best_response(tree.sequence_form, 1 - player, plan).value


@pytest.mark.parametrize("gadget_name", SAFE)
@pytest.mark.parametrize("blueprint", BLUEPRINTS)
@pytest.mark.parametrize(("game", "limit"), CASES)
def test_safe_resolving_is_no_more_exploitable(game, limit, blueprint, gadget_name):
    tree = compiled(game)
    strategies = blueprint_strategies(tree, blueprint, seed=3)
    for player in (0, 1):
        before = worst_case(tree, player, strategies[player])
        combined = resolve_everywhere(tree, limit, player, strategies, gadget_name)
        after = worst_case(tree, player, combined)
        assert after <= before + 1e-6
        if blueprint == "equilibrium":
            assert after == pytest.approx(before, abs=1e-6)
        elif gadget_name != "resolving":
            # Margins are pushed up wherever they can be, so a bad blueprint gets better.
            assert after < before - 0.01


def test_unsafe_resolving_can_be_more_exploitable():
    """An equilibrium is lost by answering only the range that it expects."""
    tree = compiled("leduc_poker")
    strategies = blueprint_strategies(tree, "equilibrium", seed=0)
    losses = []
    for player in (0, 1):
        combined = resolve_everywhere(tree, DepthLimit(plies=3), player, strategies, "unsafe")
        before = worst_case(tree, player, strategies[player])
        losses.append(worst_case(tree, player, combined) - before)
    assert max(losses) > 0.05


def test_gifts_by_hand():
    """An opponent with two infosets in a row, and leaf infosets behind four of its sequences.

    Infoset 0 (behind the root): actions 1 and 2 are worth 5 and 3. Infoset 1 (behind action 2):
    actions 3 and 4 are worth 1 and 2; so action 2 pays 1 elsewhere. Leaf infosets a and b hang from
    1, c from 2, d from 3. Gift of action 2: 5 - 3 = 2, for c (weight 3) and infoset 1 (weight 1):
    1.5 and 0.5. Behind action 3 there is 2 - 1 = 1 more for d. Nothing is left behind action 1.
    """
    treeplex = Treeplex(np.array([0, 2]), np.array([1, 3]), np.array([2, 2]), 1)
    cfv = np.array([5.0, 5.0, 3.0, 1.0, 2.0])
    sequences, weights = np.array([1, 1, 2, 3]), np.array([2.0, 1.0, 3.0, 1.0])
    gifts = gifts_at_leaves(treeplex, cfv, np.zeros(1), sequences, weights)
    np.testing.assert_allclose(gifts, [0.0, 0.0, 1.5, 1.5], atol=1e-12)
    # 3 at the root are 3 for a and b, and 3 more for c and d.
    gifts = gifts_at_leaves(treeplex, cfv, np.array([3.0]), sequences, weights)
    np.testing.assert_allclose(gifts, [2.0, 1.0, 3.75, 2.25], atol=1e-12)


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_cfvs_that_rise_by_the_gifts_leave_the_root_as_it_is(game, limit):
    tree = compiled(game)
    trunk = cut(tree, limit)
    strategy = blueprint_strategies(tree, "random", seed=5)
    for opponent in (0, 1):
        plan = realization_plan(tree.treeplexes[1 - opponent], strategy[1 - opponent])
        response = best_response(tree.sequence_form, opponent, plan)
        gifts = leaf_gifts(trunk, opponent, response.cfv, plan)
        assert (gifts >= 0).all()
        treeplex = trunk.sequence_form.treeplexes[opponent]
        # Who has not acted yet has made no mistake.
        assert (gifts.max() > 0) == (treeplex.num_infosets > 0)
        rises = np.bincount(
            trunk.leaves.sequences[opponent], gifts, minlength=treeplex.num_sequences
        )
        values = response.cfv[trunk.sequences[opponent]]
        for infoset in reversed(range(treeplex.num_infosets)):
            own = treeplex.sequences(infoset)
            rise = (values[own] + rises[own]).max() - values[own].max()
            rises[treeplex.parent_sequence[infoset]] += max(rise, 0.0)
        np.testing.assert_allclose(rises[0], 0.0, atol=1e-12)


def test_constants_of_the_subgame_are_kept():
    """A subgame whose sequences pay by themselves pays the same behind a gadget."""
    form = coin_subgame()
    own, others = np.array([0.0, 0.3, 0.0]), np.array([0.1, 0.2, 0.4, 0.8])
    form = SequenceForm(form.treeplexes, form.payoffs, form.utility_range, (own, others))
    gadget = gadgets.max_margin(form, 0, np.ones(1), np.zeros(4)).sequence_form
    # P: 0.3 less the best of 2 + 0.1, 0.5 + 0.2, 1 + 0.4, -5 + 0.8.
    assert value_when_bound(gadget, 0, 0) == pytest.approx(0.3 - 2.1, abs=1e-9)


def test_regret_minimization_finds_the_margin_of_the_linear_program():
    tree = compiled("leduc_poker")
    trunk = cut(tree, DepthLimit(plies=3))
    form = cut(tree, WHOLE_SUBGAME, int(trunk.leaves.public_states[7])).sequence_form
    rng = np.random.default_rng(0)
    num_roots = [treeplex.num_root_sequences for treeplex in form.treeplexes]
    gadget = gadgets.max_margin(form, 1, rng.random(num_roots[1]), rng.random(num_roots[0]))
    minimizer = RegretMinimizer(gadget.sequence_form)
    for player in (0, 1):
        minimizer.set_range(player, gadget.root_ranges[player])
    minimizer.run(2000)
    expected = linear_program.solve(gadget.sequence_form, gadget.root_ranges).value
    bounds = [
        best_response(
            gadget.sequence_form, p, minimizer.average_plan(1 - p), gadget.root_ranges[p]
        ).value
        for p in (0, 1)
    ]
    assert -bounds[1] <= expected + 1e-9
    assert expected <= bounds[0] + 1e-9
    assert sum(bounds) < 1e-3


@pytest.mark.parametrize(
    ("player", "player_range", "cfvs", "message"),
    [
        (2, np.ones(1), np.zeros(4), "player=2"),
        (0, np.ones(2), np.zeros(4), "player 0's range must be 1 finite numbers >= 0"),
        (0, -np.ones(1), np.zeros(4), "player 0's range must be 1 finite numbers >= 0"),
        (0, np.ones(1), np.zeros(3), "player 1's given cfvs must be 4 finite numbers"),
        (0, np.ones(1), np.full(4, np.nan), "player 1's given cfvs must be 4 finite numbers"),
    ],
)
@pytest.mark.parametrize("build", [gadgets.resolving, gadgets.max_margin])
def test_bad_arguments_are_refused(build, player, player_range, cfvs, message):
    with pytest.raises(ValueError, match=message):
        build(coin_subgame(), player, player_range, cfvs)


def test_bad_gifts_and_ranges_are_refused():
    with pytest.raises(ValueError, match="gifts must be 4 finite numbers >= 0"):
        gadgets.reach_max_margin(coin_subgame(), 0, np.ones(1), np.zeros(4), -np.ones(4))
    with pytest.raises(ValueError, match="player 1's range must be 4"):
        gadgets.unsafe(coin_subgame(), (np.ones(1), np.ones(3)))


def test_gadgets_by_their_names_are_those_of_their_functions():
    form, cfvs = coin_subgame(), np.arange(4.0)
    roots = gadgets.Roots(np.ones(1), np.array([0.0, 1, 2, 1]), cfvs, np.full(4, 0.5))
    floors = refinement.floors("mixed", roots.opponent_range)
    expected = {
        "resolving": gadgets.resolving(form, 0, np.ones(1), cfvs, floors),
        "max_margin": gadgets.max_margin(form, 0, np.ones(1), cfvs, floors),
        "reach_max_margin": gadgets.max_margin(form, 0, np.ones(1), cfvs + 0.5, floors),
    }
    assert (*expected, "unsafe") == gadgets.GADGETS
    for name, gadget in expected.items():
        found = gadgets.add_gadget(name, form, 0, roots, "mixed").sequence_form
        assert (found.payoffs != gadget.sequence_form.payoffs).nnz == 0
        np.testing.assert_array_equal(found.constants[1], gadget.sequence_form.constants[1])
    found = gadgets.add_gadget("unsafe", form.swapped(), 1, roots)
    np.testing.assert_array_equal(found.root_ranges[0], roots.opponent_range)


@pytest.mark.parametrize(
    ("name", "roots", "refined", "message"),
    [
        ("max", gadgets.Roots(np.ones(1)), "none", "gadget='max' must be one of"),
        ("reach_max_margin", gadgets.Roots(np.ones(1)), "none", "must be one of"),
        ("resolving", gadgets.Roots(np.ones(1)), "none", "needs the opponent's given cfvs"),
        ("unsafe", gadgets.Roots(np.ones(1)), "none", "needs the opponent's range"),
        ("unsafe", gadgets.Roots(np.ones(1)), "ones", "gadget='unsafe' is none"),
        ("resolving", gadgets.Roots(np.ones(1)), "all", "refinement='all' must be one of"),
    ],
)
def test_what_a_named_gadget_needs(name, roots, refined, message):
    with pytest.raises(ValueError, match=message):
        gadgets.add_gadget(name, coin_subgame(), 0, roots, refined)
