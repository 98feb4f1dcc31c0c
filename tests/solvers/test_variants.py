"""Variants of CFR: against the authors' own code, by hand, and as functions of a person's own."""

import dataclasses
import json
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.solvers import variants
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variant_names import VARIANTS
from spiel_dl.solvers.variants import Variant, Weighting
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions import ZeroValue
from tests.solvers.matrix_games import matrix_game

PEER = json.loads((Path(__file__).parents[1] / "data" / "pdcfr_plus.json").read_text())
CASES = [(game, name) for game, of_game in PEER["numbers"].items() for name in of_game]


def accumulate(regret, newest, now):
    return max(regret + newest, 0.0)


def derive(regret, newest, now):
    return regret + newest


def average(iteration, numbers):
    return iteration**2.0


OWN = Variant(accumulate, derive, average)
HALVES = Variant(
    lambda regret, newest, now: now[0] * regret + newest,
    lambda regret, newest, now: max(regret, 0.0) ** now[1],
    lambda iteration, numbers: 1.0 if iteration > numbers[1] else 0.0,
    numbers=(0.5, 2.0),
    first_averaged=3,
)


def fingerprint(solver: CFRSolver, strategies) -> float:
    """The peer's: probabilities, in order of infosets and actions, times cosines of 1, 2, ."""
    tree = solver.tree
    rows = {}
    for player in (0, 1):
        for i in range(tree.num_infosets(player)):
            key = f"{tree.infoset_string(player, i)}/{player}"
            rows[key] = strategies[player][tree.treeplexes[player].sequences(i)]
    probabilities = np.concatenate([rows[key] for key in sorted(rows)])
    return float(probabilities @ np.cos(np.arange(1, len(probabilities) + 1)))


@pytest.mark.parametrize(("game", "name"), CASES)
def test_equals_the_authors_code_in_every_iteration(game, name):
    solver = CFRSolver(game, variant=name)
    for expected in PEER["numbers"][game][name]:
        solver.run(1)
        current, mean = solver.current_policy(), solver.average_policy()
        found = [
            exploitability(solver.tree, mean),
            fingerprint(solver, current.strategies),
            fingerprint(solver, mean.strategies),
        ]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_the_peers_numbers_are_of_four_games_and_all_its_variants():
    assert len(PEER["numbers"]) == 4
    names = {"cfr", "cfr+", "lcfr", "dcfr", "dcfr+", "pcfr+", "pcfr+(5)", "pdcfr+"}
    assert all(of_game.keys() == names for of_game in PEER["numbers"].values())


@pytest.mark.parametrize("iterations", [1, 12])
def test_three_functions_are_a_variant(iterations):
    tree = GameTree.from_game("leduc_poker")
    own, built_in = (RegretMinimizer(tree.sequence_form, each) for each in (OWN, VARIANTS["pcfr+"]))
    for minimizer in (own, built_in):
        minimizer.run(iterations)
        minimizer.run(iterations)
    for mine, other in zip(own.learned, built_in.learned, strict=True):
        for array, expected in zip(mine, other, strict=True):
            np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(own.average_plan(1), built_in.average_plan(1))


def test_functions_and_numbers_by_hand():
    # One decision of the first player, between 3 and 1, against a player who has no choice.
    minimizer = RegretMinimizer(matrix_game([[3.0], [1.0]]), HALVES)
    strategy = minimizer.learned[0].strategy
    minimizer.run(1)
    # Regrets 1, -1: all weight on the first.
    np.testing.assert_allclose(minimizer.learned[0].regret[1:], [1.0, -1.0])
    np.testing.assert_allclose(strategy[1:], [1.0, 0.0])
    minimizer.run(1)
    # Halved, plus 0 and -2.
    np.testing.assert_allclose(minimizer.learned[0].regret[1:], [0.5, -2.5])
    assert not minimizer.learned[0].average.any()
    minimizer.run(2)
    np.testing.assert_allclose(minimizer.learned[0].average[1:], [2.0, 0.0])
    np.testing.assert_allclose(minimizer.average_plan(0)[1:], [1.0, 0.0])
    assert [HALVES.weight(t) for t in (2, 3)] == [0.0, 1.0]


def test_a_schedule_multiplies_the_average_as_in_its_paper():
    horizon = 20
    variant = variants.scheduled_discounted_cfr(horizon=horizon)
    expected = [1.0]
    for t in range(2, 40):
        gamma = 30 - 5 * min(t / horizon, 1.0)
        expected.append(expected[-1] * (t / (t - 1)) ** gamma)
    found = [variant.weight(t) for t in range(1, 40)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    # Exponents of regrets: 1 + 3 t / n and -1 - 2 t / n.
    for t in (1, 10, 20, 35):
        alpha, beta = 1 + 3 * min(t / 20, 1), -1 - 2 * min(t / 20, 1)
        now = variants.kernels.rates(float(t), variant.loop_numbers)
        np.testing.assert_allclose(now[:2], [t**x / (t**x + 1) for x in (alpha, beta)])


def test_a_schedule_without_changes_is_none():
    changes = {"horizon": 50.0}
    plain, with_horizon = VARIANTS["dcfr"], dataclasses.replace(VARIANTS["dcfr"], **changes)
    tree = GameTree.from_game("kuhn_poker")
    first, second = (RegretMinimizer(tree.sequence_form, each) for each in (plain, with_horizon))
    first.run(100)
    second.run(100)
    np.testing.assert_array_equal(first.learned[0].average, second.learned[0].average)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_solve_kuhn(name):
    solver = CFRSolver("kuhn_poker", variant=name)
    solver.run(10_000)
    policy = solver.current_policy() if name == "reg-cfr" else solver.average_policy()
    bound = 3e-3 if name in ("cfr", "greedy") else 1e-3
    assert exploitability(solver.tree, policy) < bound


def test_states_are_of_one_variant_and_of_the_same_functions():
    tree = GameTree.from_game("kuhn_poker")
    own = RegretMinimizer(tree.sequence_form, OWN)
    own.run(5)
    again = RegretMinimizer(tree.sequence_form, Variant(accumulate, derive, average))
    again.load_state(own.state())
    own.run(5)
    again.run(5)
    np.testing.assert_array_equal(own.learned[0].regret, again.learned[0].regret)
    other = Variant(accumulate, derive, lambda iteration, numbers: iteration)
    with pytest.raises(ValueError, match="another variant"):
        RegretMinimizer(tree.sequence_form, other).load_state(own.state())
    with pytest.raises(ValueError, match="another variant"):
        CFRSolver(tree, variant="cfr+").load_state(CFRSolver(tree, variant="pdcfr+").state())


def test_functions_that_call_others_are_others():
    tree = GameTree.from_game("kuhn_poker")
    larger = Variant(lambda total, new, now: max(total + new, 0.0), derive, average)
    smaller = Variant(lambda total, new, now: min(total + new, 0.0), derive, average)
    assert larger.identity == Variant(larger.accumulate, derive, average).identity
    with pytest.raises(ValueError, match="another variant"):
        RegretMinimizer(tree.sequence_form, smaller).load_state(
            RegretMinimizer(tree.sequence_form, larger).state()
        )


def test_minimizers_with_functions_can_be_pickled():
    tree = GameTree.from_game("kuhn_poker")
    own = RegretMinimizer(tree.sequence_form, OWN)
    own.run(5)
    copy = pickle.loads(pickle.dumps(own))
    own.run(10)
    copy.run(10)
    np.testing.assert_array_equal(own.learned[0].average, copy.learned[0].average)


BROKEN = {
    "nan regrets": (lambda r, newest, now: math.nan, derive, average, "cumulative regrets"),
    "infinite regrets": (
        lambda r, newest, now: r - math.inf,
        derive,
        average,
        "cumulative regrets",
    ),
    "infinite strategy": (accumulate, lambda r, newest, now: math.inf, average, "strategy is not"),
    "negative weights": (accumulate, derive, lambda t, numbers: -1.0, "average has entries"),
    "huge weights": (accumulate, derive, lambda t, numbers: 1e308 * t, "average has entries"),
    "nan weights": (accumulate, derive, lambda t, numbers: math.nan, "average has entries"),
    "no weights": (accumulate, derive, lambda t, numbers: 0.0, "average is 0 everywhere"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_numbers_that_are_none_are_told_with_the_variant(broken):
    *functions, message = broken
    variant = Variant(*functions)
    names = ", ".join(function.__name__ for function in functions)
    match = rf"Variant\({names}\), after 3 iterations: player 0's {message}"
    with pytest.raises(ValueError, match=match):
        CFRSolver("kuhn_poker", variant=variant).run(3)
    if message != "strategy is not":  # The value function refuses NaN ranges before.
        with pytest.raises(ValueError, match=match):
            DLCFRSolver("kuhn_poker", ZeroValue(), DepthLimit(moves=1), variant=variant).run(3)


def test_an_average_that_begins_later_is_warned_of_until_then():
    minimizer = RegretMinimizer(GameTree.from_game("kuhn_poker").sequence_form, HALVES)
    minimizer.run(2)
    with pytest.warns(RuntimeWarning, match=r"Variant\(.*\) averages from iteration 3 on"):
        uniform = minimizer.average_strategy(0)
    np.testing.assert_array_equal(uniform, minimizer.sequence_form.treeplexes[0].uniform_strategy())
    minimizer.run(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (minimizer.average_strategy(0) != uniform).any()


def test_bad_variants_are_refused():
    with pytest.raises(ValueError, match=r"variant='pcfr' must be one of cfr, cfr\+"):
        CFRSolver("kuhn_poker", variant="pcfr")
    with pytest.raises(ValueError, match="derive must take 3 arguments; accumulate takes 2"):
        Variant(accumulate, lambda_of_two(), average)
    with pytest.raises(ValueError, match="accumulate=3 must be a function"):
        Variant(3, derive, average)
    with pytest.raises(ValueError, match="must not be NaN"):
        Variant(accumulate, derive, average, numbers=(math.nan,))
    with pytest.raises(ValueError, match=r"offset=0\.0 must be positive"):
        Weighting(offset=0.0)
    with pytest.raises(ValueError, match="horizon=inf must be at least 1, and finite if"):
        Weighting(gamma_change=-5.0)
    with pytest.raises(ValueError, match=r"horizon=0\.5 must be at least 1"):
        Weighting(horizon=0.5)


def lambda_of_two():
    def accumulate(regret, newest):
        return regret + newest

    return accumulate


@pytest.mark.parametrize(
    ("functions", "numbers", "told"),
    [
        (
            {"accumulate": lambda regret, newest, now: regret + undefined_name},  # noqa: F821
            (),
            r"accumulate \(<lambda>\) cannot be compiled: .*'undefined_name' is not defined; use",
        ),
        (
            {"derive": lambda regret, newest, now: regret + "a"},
            (),
            r"derive \(<lambda>\) cannot be compiled: .*add.* found for signature: .*; use numbers",
        ),
        (
            {"average": lambda iteration, numbers: numbers[1]},
            (0.5,),
            r"average \(<lambda>\) cannot be compiled: tuple index out of range; .* numbers=",
        ),
        (
            {"rates": lambda iteration, numbers: numbers[2]},
            (0.5, 1.0),
            "rates .* tuple index out of range",
        ),
        ({"derive": lambda regret, newest, now: "a"}, (), r"derive .* returns .*; return a number"),
    ],
)
def test_functions_that_numba_cannot_compile_are_named(functions, numbers, told):
    given = {"accumulate": accumulate, "derive": derive, "average": average, **functions}
    with pytest.raises(ValueError, match=told) as raised:
        Variant(**given, numbers=numbers)
    assert len(str(raised.value)) < 400
