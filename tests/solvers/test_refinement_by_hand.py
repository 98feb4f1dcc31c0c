"""Refined gadgets by hand; their weights and floors; what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import gadgets, linear_program, refinement
from spiel_dl.tree.sequence_form import SequenceForm, Treeplex
from tests.solvers.test_gadgets import coin_subgame


def one_decision(cfvs: np.ndarray) -> SequenceForm:
    """Player 0 mixes once, and player 1's cfvs are `cfvs` [R, A] times the mixture."""
    num_roots, num_actions = cfvs.shape
    own = Treeplex(np.array([0]), np.array([1]), np.array([num_actions]), 1)
    none = np.zeros(0, np.int32)
    payoffs = scipy.sparse.csr_array(np.hstack([np.zeros((num_roots, 1)), -cfvs]).T)
    return SequenceForm((own, Treeplex(none, none, none, num_roots)), payoffs, 10.0)


def solved_by_lp(gadget: gadgets.Gadget, player: int = 0) -> tuple[float, np.ndarray]:
    """Player 0's value in a gadget, and a player's plan in the subgame."""
    found = linear_program.solve(gadget.sequence_form, gadget.root_ranges, inflows=gadget.inflows)
    return found.value, found.plans[player][gadget.new_sequences[player]]


def test_floors_of_the_resolving_gadget_by_hand():
    """Floors of 0.1: 0.9 * 3.5 from max(v, w), and 0.1 * (-1.5 x) from v; so x = 1."""
    given = np.array([2, 0.5, 1, 0.0])
    gadget = gadgets.resolving(coin_subgame(), 0, np.ones(1), given, np.full(4, 0.1))
    value, plan = solved_by_lp(gadget)
    assert value == pytest.approx(-(0.9 * 3.5 - 0.1 * 1.5), abs=1e-9)
    np.testing.assert_allclose(plan, [1, 1, 0], atol=1e-9)
    # Of different floors, each infoset counts by its own: 0.9 * (2 + 0.5 + 1) + 0 + 0.1 * 3.5 x.
    floors = np.array([0.1, 0.1, 0.1, 0.0])
    gadget = gadgets.resolving(coin_subgame(), 0, np.ones(1), given, floors)
    value, plan = solved_by_lp(gadget)
    assert value == pytest.approx(-0.9 * 3.5, abs=1e-9)
    np.testing.assert_allclose(plan, [1, 0, 1], atol=1e-9)


MARGINS = np.array([[1, 1, 1], [1, 0, 3], [0, 2, 0.0]])


@pytest.mark.parametrize("gifts", [None, np.array([0, 0.5, 0.0])])
def test_floors_of_the_margin_gadgets_by_hand(gifts):
    """Floors of 0.1, 0.3, 0.1: half of the smallest margin, 0, and 0.1, 0.3, 0.1 of the margins.

    Action b loses 1 - 1, 0 - 2, 2 - 2; a gift of 0.5 adds as much to the second margin.
    """
    form, given, floors = one_decision(MARGINS), np.array([1, 2, 2.0]), np.array([0.1, 0.3, 0.1])
    if gifts is None:
        gadget = gadgets.max_margin(form, 0, np.ones(1), given, floors)
    else:
        gadget = gadgets.reach_max_margin(form, 0, np.ones(1), given, gifts, floors)
    value, plan = solved_by_lp(gadget)
    assert value == pytest.approx(0.3 * (2.0 if gifts is None else 2.5), abs=1e-9)
    np.testing.assert_allclose(plan, [1, 0, 1, 0], atol=1e-9)


@pytest.mark.parametrize("floors", [None, np.array([0.1, 0.2, 0.0, 0.3])])
@pytest.mark.parametrize("build", [gadgets.resolving, gadgets.max_margin])
def test_swapped_players_swap_the_gadget(build, floors):
    form, given = coin_subgame(), np.arange(4.0)
    first = build(form, 0, np.ones(1), given, floors)
    second = build(form.swapped(), 1, np.ones(1), given, floors)
    assert solved_by_lp(first)[0] == pytest.approx(-solved_by_lp(second)[0], abs=1e-9)
    for player in (0, 1):
        np.testing.assert_array_equal(first.new_sequences[player], second.new_sequences[1 - player])


def test_weights_and_floors():
    prior = np.array([0.0, 0.02, 0.04])
    np.testing.assert_allclose(refinement.weights("ones", prior), [1, 1, 1])
    np.testing.assert_allclose(refinement.weights("prior", prior), [0, 1, 2])
    # 0 + 0.004, 0.02 + 0.004, 0.04 + 0.004, with a sum of 0.072 that becomes 3.
    mixed = refinement.weights("mixed", prior)
    np.testing.assert_allclose(mixed, np.array([4, 24, 44]) / 24)
    np.testing.assert_allclose(refinement.floors("prior", prior), [0, 0.01, 0.02])
    many = refinement.floors("ones", np.zeros(1000), margins=True)
    np.testing.assert_allclose(many, 1e-4)
    np.testing.assert_allclose(refinement.floors("ones", np.zeros(3), margins=True), 0.01)
    # The one that has nearly all of the reach: 10, not 99.
    np.testing.assert_allclose(
        refinement.weights("prior", np.array([9.9] + 99 * [0.001])), [10] + 99 * [0.01 / 9.9]
    )


def test_public_states_side_by_side_count_as_if_alone():
    groups, prior = np.array([0, 1, 0, 1, 1]), np.array([0.1, 0, 0.3, 5, 1])
    for name in refinement.WEIGHTS:
        together = refinement.weights(name, prior, groups)
        for group in (0, 1):
            alone = refinement.weights(name, prior[groups == group])
            np.testing.assert_allclose(together[groups == group], alone)


def test_where_a_prior_says_nothing_all_count_alike():
    groups, prior = np.array([0, 1, 0, 1, 2]), np.array([0.1, 0, 0.2, 0, 3])
    np.testing.assert_allclose(refinement.weights("prior", prior, groups), [2 / 3, 1, 4 / 3, 1, 1])
    np.testing.assert_allclose(refinement.weights("mixed", np.zeros(2)), [1, 1])


@pytest.mark.parametrize("build", [gadgets.resolving, gadgets.max_margin])
@pytest.mark.parametrize(
    ("floors", "message"),
    [
        (np.zeros(4), "floors are 0 in all root infosets, which refines nothing"),
        (np.ones(4), "floors must have a sum below 1"),
        (np.ones(3), "player 1's floors must be 4 finite numbers >= 0"),
        (-np.ones(4), "player 1's floors must be 4 finite numbers >= 0"),
    ],
)
def test_bad_floors_are_refused(build, floors, message):
    with pytest.raises(ValueError, match=message):
        build(coin_subgame(), 0, np.ones(1), np.zeros(4), floors)


def test_floors_of_margins_leave_something_to_choose():
    with pytest.raises(ValueError, match=r"the largest sum is 1\.2"):
        gadgets.max_margin(coin_subgame(), 0, np.ones(1), np.zeros(4), np.full(4, 0.3))


def test_other_errors():
    form, ones, given = coin_subgame(), np.ones(1), np.zeros(4)
    with pytest.raises(ValueError, match="refinement='max' must be one of"):
        refinement.weights("max", given)
    with pytest.raises(ValueError, match="the prior must be 4 finite numbers >= 0"):
        refinement.weights("ones", -np.ones(4))
    with pytest.raises(ValueError, match="groups must be 4 numbers from 0 on, in order"):
        gadgets.max_margin(form, 0, ones, given, groups=np.array([0, 1, 0, 1]))
