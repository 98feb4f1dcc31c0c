"""CDRNR: what each gadget guarantees, its definition step by step as linear programs, numbers."""

from __future__ import annotations

import itertools

import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, ExactValue, GameTree
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.cdrnr import GADGETS, CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.policies.opponent_models import cfr_average
from spiel_dl.tree.pieces import SCHEMES
from tests import reference
from tests.algorithms import response_checks as checks

PROBABILITIES = [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("gadget", "gain", "exploitable"),
    [("full", 0.3, 0.9), ("full_trunk", 0.205263157895, 0.0), ("joint", 0.205263157895, 0.0)],
)
def test_siblings_that_spend_one_slack(gadget, gain, exploitable, exact, scheme):
    """At a and at b, E earns 3 from the model and -0.9 from others, S earns 1; Out pays 0.

    The model enters with 0.1. E in both gains 0.1 * 3 and loses 0.9; the bound allows 0.3. One
    public state alone may play E, if the other one compensates by S.
    """
    tree = GameTree.from_game(reference.efg_game("slack_twice"))
    model = checks.named_model(tree, {"In": 0.1, "Out": 0.9, "weak": 1.0, "strong": 0.0})
    response = CDRNRPolicy(
        tree, 0, model, DepthLimit(moves=2), p=0.5, scheme=scheme, gadget=gadget, exact=exact
    )
    found = checks.gain_and_exploitability(tree, response.to_array_policy(), model)
    assert found == pytest.approx((gain, exploitable), abs=1e-9 if exact else 1e-4)


@pytest.mark.parametrize(("plies", "expected"), [(2, (1.29, 0.23)), (4, (1.58, 0.54))])
@pytest.mark.parametrize("exact", [True, False])
def test_leduc_against_the_uniform_policy(plies, expected, exact):
    tree = GameTree.from_game("leduc_poker")
    model, limit = ArrayPolicy.uniform(tree), DepthLimit(plies=plies)
    response = CDRNRPolicy(
        tree, 0, model, limit, p=0.5, scheme="sliding", exact=exact, effort=Effort(3000, 1e-5)
    ).to_array_policy()
    found = checks.gain_and_exploitability(tree, response, model)
    assert found == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(
    ("p", "utility", "exploitable"), [(0.0, 1 / 18, 0.0), (0.5, 1 / 2, 4 / 9), (1.0, 1 / 2, 5 / 18)]
)
def test_kuhn_poker_beside_the_authors_log(p, utility, exploitable):
    """Theirs: milecdav/open_spiel_w_papers, log of 2026-04-18; two moves, the uniform model.

    At p = 0 the same. At p = 0.5 theirs responds as at p = 1, and what both maximise is less; that
    was by linear programs, and by CFR their program finds our response.
    """
    tree = GameTree.from_game("kuhn_poker")
    model = ArrayPolicy.uniform(tree)
    response = CDRNRPolicy(
        tree, 0, model, DepthLimit(moves=2), p=p, gadget="resolving", exact=True
    ).to_array_policy()
    gain, lost = checks.gain_and_exploitability(tree, response, model)
    theirs = utility + 1 / 18  # above the game's value
    if p in (0.0, 1.0):
        assert gain == pytest.approx(theirs)
    if p == 0.0:
        assert lost == pytest.approx(exploitable, abs=1e-9)
    assert p * gain - (1 - p) * lost >= p * theirs - (1 - p) * exploitable - 1e-9


@pytest.mark.parametrize("game", checks.GAMES)
def test_joint_steps_are_optimal_and_safe(game):
    tree = checks.load(game)
    model, limit = checks.random_model(tree, seed=0), DepthLimit(plies=2)
    cases = list(itertools.product((0, 1), SCHEMES, PROBABILITIES))
    if tree.num_histories > 1000:
        # Players, schemes and p in turn.
        cases = cases[::7]
    for player, scheme, p in cases:
        response = CDRNRPolicy(
            tree, player, model, limit, p=p, scheme=scheme, exact=True
        ).to_array_policy()
        regret = checks.largest_step_regret(tree, response, model, player, p, limit, scheme)
        assert regret < 1e-6
        assert checks.objective(tree, response, model, player, p) > -1e-6


@pytest.mark.parametrize("game", checks.GAMES)
def test_full_gadget_with_all_solved_siblings_is_safe(game):
    """The optimum never falls from one public state to the next, so the last one is safe."""
    tree = checks.load(game)
    model, limit = checks.random_model(tree, seed=0), DepthLimit(plies=2)
    cases = [(1, "sliding", 0.1), (0, "block", 0.1), (1, "block", 0.5)]
    for player, scheme, p in cases[: 1 if tree.num_histories > 5000 else 3]:

        def respond(player=player, scheme=scheme, p=p):
            gadget = "full_trunk"
            return CDRNRPolicy(
                tree, player, model, limit, p=p, scheme=scheme, gadget=gadget, exact=True
            )

        policy = respond().to_array_policy()
        assert checks.objective(tree, policy, model, player, p) > -1e-6
        if tree.num_histories > 5000:
            continue
        # In play it solves the same public states, in the same order.
        last = tree.state(int(tree.first_history[player][-1]))
        expected = policy.action_probabilities(last, player)
        assert respond().action_probabilities(last, player) == pytest.approx(expected)


@pytest.mark.parametrize("gadget", ["joint", "resolving"])
@pytest.mark.parametrize("game", ["kuhn_poker", checks.LIARS_DICE, checks.GOOFSPIEL.format(4)])
def test_safe_gadgets_against_a_good_model(game, gadget):
    """Little can be gained from CFR+ after five iterations, so little exploitability is allowed."""
    tree = GameTree.from_game(game)
    model = cfr_average(tree, 5, "cfr+")
    for player, p, scheme in ((0, 0.3, "block"), (1, 0.7, "sliding"), (0, 0.9, "block")):
        response = CDRNRPolicy(
            tree, player, model, DepthLimit(plies=3), p=p, scheme=scheme, gadget=gadget, exact=True
        )
        assert checks.objective(tree, response, model, player, p) > -1e-6


@pytest.mark.parametrize("gadget", GADGETS)
@pytest.mark.parametrize("game", ["kuhn_poker", checks.GOOFSPIEL.format(3)])
def test_the_ends_of_the_scale(game, gadget):
    """p = 0 is an equilibrium strategy (full: maybe not), p = 1 a CDBR, step by step."""
    tree = GameTree.from_game(game)
    model, limit = checks.random_model(tree, seed=1), DepthLimit(plies=1)
    for player, scheme in itertools.product((0, 1), SCHEMES):
        best = CDRNRPolicy(
            tree, player, model, limit, p=1.0, scheme=scheme, gadget=gadget, exact=True
        )
        response = best.to_array_policy()
        regret = checks.largest_step_regret(tree, response, model, player, 1.0, limit, scheme)
        assert regret < 1e-6
        if gadget != "full":
            safe = CDRNRPolicy(
                tree, player, model, limit, p=0.0, scheme=scheme, gadget=gadget, exact=True
            )
            exploitable = exploitability.player_exploitability(tree, safe.to_array_policy(), player)
            assert exploitable == pytest.approx(0.0, abs=1e-6)


def test_a_model_that_is_always_followed_is_responded_to_as_by_cdbr():
    tree, limit = GameTree.from_game("leduc_poker"), DepthLimit(plies=2)
    model = checks.random_model(tree, seed=0)

    def gain(response):
        return exploitability.gain(tree, response.to_array_policy(), model, player=0)

    expected = gain(CDBRPolicy(tree, 0, model, limit))
    assert gain(CDRNRPolicy(tree, 0, model, limit, p=1.0)) == pytest.approx(expected, abs=1e-4)
    in_blocks = CDRNRPolicy(tree, 0, model, limit, p=1.0, scheme="block")
    assert gain(in_blocks) < expected - 0.1, "sliding looks further"


@pytest.mark.parametrize("gadget", GADGETS)
def test_one_step_over_the_whole_game_is_rnr(gadget):
    tree = GameTree.from_game(checks.LIARS_DICE)
    model = checks.random_model(tree, seed=2)
    response = CDRNRPolicy(
        tree, 1, model, DepthLimit(moves=99), p=0.4, scheme="block", gadget=gadget, exact=True
    )
    best = checks.objective(tree, RNRPolicy(tree, 1, model, p=0.4, exact=True), model, 1, 0.4)
    assert checks.objective(tree, response, model, 1, 0.4) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("gadget", GADGETS)
def test_value_function_at_the_leaves(gadget):
    """The optimal value function from outside keeps what the gadget guarantees, nearly."""
    tree = GameTree.from_game(checks.GOOFSPIEL_3)
    model = checks.random_model(tree, seed=3)
    response = CDRNRPolicy(
        tree,
        0,
        model,
        DepthLimit(rounds=1),
        p=0.5,
        scheme="block",
        gadget=gadget,
        value_function=ExactValue(tolerance=1e-3, max_iterations=1000),
        effort=Effort(iterations=60),
    ).to_array_policy()
    gain, exploitable = checks.gain_and_exploitability(tree, response, model)
    best, _ = checks.gain_and_exploitability(
        tree, RNRPolicy(tree, 0, model, p=0.5, exact=True).to_array_policy(), model
    )
    assert 0.5 * best < gain
    assert exploitable < gain + 0.05
