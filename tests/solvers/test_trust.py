"""Trust in how the opponent has come: by hand, and against a linear program."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.solvers import depth_limited, gadgets, refinement, trust
from spiel_dl.solvers.best_response import best_response
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.restricted_game import unrestricted
from tests.solvers.test_gadgets import coin_subgame
from tests.solvers.test_refinement import CASES, by_cfr, subgames


def test_the_coin_game_by_hand():
    """P pays player 1 cfvs of 2, 0.5, 1, -5 in RH, RT, GH, GT, where it is given 0.

    With a trust of 0.25 that it comes with RT and GT, 0.75 * (2 + 0.5 + 1) is what it takes where
    it is free, and 0.25 * 4 * (0.5 - 5) / 2 what it gets where it is trusted.
    """
    floors, free = trust.floors(0.25, np.array([0.0, 3.0, 0.0, 3.0]))
    np.testing.assert_allclose(floors, [0.0, 0.5, 0.0, 0.5])
    np.testing.assert_allclose(free, 0.75)
    gadget = gadgets.resolving(coin_subgame(), 0, np.ones(1), np.zeros(4), floors, free)
    assert gadget.inflows is not None
    form, ranges, inflows = gadget.sequence_form, gadget.root_ranges, gadget.inflows
    plan = np.array([1.0, 1.0, 0.0])
    value = best_response(form, 1, plan, ranges[1], inflow=inflows[1]).value
    assert value == pytest.approx(0.75 * 3.5 - 0.25 * 4 * 2.25, abs=1e-9)
    exact = refinement.solve_with_floors(coin_subgame(), 0, np.ones(1), np.zeros(4), floors, free)
    assert exact.first == pytest.approx(0.75 * np.maximum(exact.cfvs, 0).sum(), abs=1e-9)
    assert exact.first + exact.second <= value + 1e-9


@pytest.mark.parametrize(("game", "limit"), CASES)
@pytest.mark.parametrize("player", [0, 1])
def test_cfr_comes_to_the_linear_program_and_keeps_the_bound(game, limit, player):
    """Below random strategies, with given cfvs of best responses."""
    found = subgames(game, limit, "1", player)
    given = (found.form, player, found.own_range, found.cfvs)
    prior, groups = found.prior
    plain = by_cfr(gadgets.resolving(*given), player)
    before = best_response(found.form, 1 - player, plain).cfv[: len(prior)]
    assert not trust.floors(0.0, prior, groups)[0].any()
    shares = []
    for degree in (0.3, 0.9):
        floors, free = trust.floors(degree, prior, groups)
        exact = refinement.solve_with_floors(*given, floors, free)
        gadget = gadgets.resolving(*given, floors, free)
        game_of = unrestricted(gadget.sequence_form, gadget.root_ranges, gadget.inflows)
        solution = depth_limited.solve(game_of, Effort(1000))
        plan = solution.plans[player][gadget.new_sequences[player]]
        cfvs = best_response(found.form, 1 - player, plan).cfv[: len(prior)]
        reached = free @ np.maximum(cfvs, found.cfvs) + floors @ cfvs
        assert reached == pytest.approx(exact.first + exact.second, abs=1e-2)
        assert reached >= exact.first + exact.second - 1e-6
        # No more safety is given up than is gained against who is trusted.
        lost = free @ np.maximum(exact.cfvs - found.cfvs, 0)
        assert lost <= floors @ (before - exact.cfvs) + 1e-3
        shares.append(floors @ exact.cfvs / floors.sum())
    assert shares[1] <= shares[0] + 1e-9
    assert shares[0] <= (floors @ before) / floors.sum() + 1e-3
    if game == "leduc_poker":
        assert shares[0] < (floors @ before) / floors.sum() - 0.01


def test_public_states_that_nobody_expected_count_alike():
    floors, free = trust.floors(0.5, np.array([1.0, 3.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(floors, [0.25, 0.75, 0.5, 0.5])
    np.testing.assert_allclose(free, 0.5)


def test_trust_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"trust=1\.0 must be from 0 to below 1"):
        trust.check_trust(1.0)
    with pytest.raises(ValueError, match=r"leaf_trust=1\.5 must be from 0 to 1"):
        trust.check_trust(0.0, leaf_trust=1.5)
    for gadget, refined in (("max_margin", None), ("resolving", "ones"), ("unsafe", None)):
        with pytest.raises(ValueError, match=r"trust=0\.5 needs gadget='resolving'"):
            trust.check_trust(0.5, gadget, refined)
    form, cfvs = coin_subgame(), np.zeros(4)
    with pytest.raises(ValueError, match="free weights need floors"):
        gadgets.resolving(form, 0, np.ones(1), cfvs, None, np.ones(4))
    with pytest.raises(ValueError, match="free weights must be 4 finite numbers >= 0"):
        gadgets.resolving(form, 0, np.ones(1), cfvs, np.ones(4), -np.ones(4))
