"""Refined gadgets: CFR with floors against linear programs, below blueprints."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
import pytest

from spiel_dl.solvers import depth_limited, gadgets, linear_program, refinement
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import RestrictedGame, unrestricted
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from tests.solvers.test_gadgets import blueprint_strategies, worst_case
from tests.solvers.test_refinement_by_hand import solved_by_lp

LEDUC = ("leduc_poker", DepthLimit(plies=3))
GOOFSPIEL = ("python_goofspiel_ii(num_cards=4,points_order=descending)", DepthLimit(rounds=1))
CASES = [("kuhn_poker", DepthLimit(moves=1)), LEDUC, GOOFSPIEL]


class Resolved(NamedTuple):
    """All subgames below a depth limit, as a player's blueprint leads into them."""

    tree: GameTree
    form: SequenceForm
    below: np.ndarray
    own_range: np.ndarray
    cfvs: np.ndarray
    prior: tuple[np.ndarray, np.ndarray]
    """By the opponent's blueprint, and the public state of each root infoset."""
    combine: functools.partial


@functools.cache
def subgames(game: str, limit: DepthLimit, player: int) -> Resolved:
    """Below random strategies."""
    tree = GameTree.from_game(game)
    trunk = cut(tree, limit)
    leaves = trunk.leaves
    strategies = blueprint_strategies(tree, "random", seed=1)
    plans = [realization_plan(t, s) for t, s in zip(tree.treeplexes, strategies, strict=True)]
    own_range, prior = (
        plans[p][trunk.sequences[p]][leaves.sequences[p]] for p in (player, 1 - player)
    )
    form, below = leaves.subgames, leaves.subgame_sequences[player]
    plan = realization_plan(form.treeplexes[player], strategies[player][below], own_range)
    cfvs = best_response(form, 1 - player, plan).cfv[: len(prior)]
    groups = leaves.public_state_of_infoset(1 - player)
    combine = functools.partial(_combined, strategies[player], below, form.treeplexes[player])
    return Resolved(tree, form, plan, own_range, cfvs, (prior, groups), combine)


def _combined(
    strategy: np.ndarray, below: np.ndarray, treeplex: Treeplex, plan: np.ndarray
) -> np.ndarray:
    combined = strategy.copy()
    roots = treeplex.num_root_sequences
    combined[below[roots:]] = behaviour_strategy(treeplex, plan)[roots:]
    return combined


def by_cfr(gadget: gadgets.Gadget, player: int, iterations: int = 1000) -> np.ndarray:
    game = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
    solution = depth_limited.solve(game, Effort(iterations))
    return solution.plans[player][gadget.new_sequences[player]]


@pytest.mark.parametrize(("game", "limit"), CASES)
@pytest.mark.parametrize("player", [0, 1])
def test_cfr_with_floors_comes_to_the_solution_of_the_linear_program(game, limit, player):
    """Sums of cfvs within 1e-2, never above the blueprint; without floors, they are elsewhere."""
    found = subgames(game, limit, player)
    given = (found.form, player, found.own_range, found.cfvs)
    before = worst_case(found.tree, player, found.combine(found.below))

    def cfvs_of(plan):
        return best_response(found.form, 1 - player, plan).cfv[: len(found.cfvs)]

    for name in refinement.WEIGHTS:
        floors = refinement.floors(name, *found.prior)
        weights = floors / floors.max()
        gadget = gadgets.resolving(*given, floors)
        _, exact = solved_by_lp(gadget, player)
        assert np.maximum(cfvs_of(exact) - found.cfvs, 0).sum() < 1e-6
        plan = by_cfr(gadget, player)
        cfvs = cfvs_of(plan)
        assert np.maximum(cfvs - found.cfvs, 0).sum() < 1e-3
        assert -1e-2 < weights @ (cfvs - cfvs_of(exact)) < 1e-2
        assert worst_case(found.tree, player, found.combine(plan)) <= before + 1e-3
        if name == "ones" and game == "leduc_poker":
            loose = cfvs_of(by_cfr(gadgets.resolving(*given), player))
            assert weights @ (loose - cfvs) > 0.1


@pytest.mark.parametrize("floored", [False, True])
@pytest.mark.parametrize("player", [0, 1])
def test_max_margin_side_by_side_is_one_public_state_after_the_other(player, floored):
    found = subgames(*LEDUC, player)
    trunk = cut(found.tree, LEDUC[1])
    leaves, groups = trunk.leaves, found.prior[1]
    floors = refinement.floors("mixed", *found.prior, margins=True) if floored else None
    given = (found.form, player, found.own_range, found.cfvs)
    together = gadgets.max_margin(*given, floors, groups)
    value = 0.0
    for position, state in enumerate(leaves.public_states.tolist()):
        own, others = (
            slice(*leaves.infoset_offsets[p][position : position + 2]) for p in (player, 1 - player)
        )
        form = cut(found.tree, DepthLimit(moves=99), state).sequence_form
        alone = (form, player, found.own_range[own], found.cfvs[others])
        here = None if floors is None else floors[others]
        value += solved_by_lp(gadgets.max_margin(*alone, here))[0]
    assert solved_by_lp(together)[0] == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("gadget_name", ["resolving", "max_margin"])
@pytest.mark.parametrize("player", [0, 1])
def test_gaps_count_the_floors(gadget_name, player):
    """Both bounds on the value of a gadget with floors, whoever resolves, meet at the optimum."""
    found = subgames(*GOOFSPIEL, player)
    build = getattr(gadgets, gadget_name)
    gadget = build(found.form, player, found.own_range, found.cfvs, np.full(len(found.cfvs), 0.02))
    game = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
    value = linear_program.solve(game.sequence_form, game.ranges, inflows=game.inflows).value
    solution = depth_limited.solve(game, Effort(4000, tolerance=1e-3))
    lower, (upper, _) = (
        game.guaranteed_value(solution.strategy),
        game.best_response_to(solution.plans[1]),
    )
    assert solution.gap <= 1e-3
    assert value - 1e-3 <= lower <= value + 1e-9
    assert value - 1e-9 <= upper
    exact = depth_limited.solve_by_lp(game)
    assert game.guaranteed_value(exact.strategy) == pytest.approx(value, abs=1e-7)
    assert isinstance(game, RestrictedGame)
