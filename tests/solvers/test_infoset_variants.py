"""Variants by whole infosets: against plain NumPy, and what their papers promise."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.algorithms.dl_cfr import DLCFRSolver
from spiel_dl.algorithms.exploitability import exploitability
from spiel_dl.solvers import infoset_kernels, infoset_variants
from spiel_dl.solvers.continuations import ContinuationChoices
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variant_names import VARIANTS
from spiel_dl.solvers.variants import Weighting
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.value_functions import ZeroValue
from tests.solvers.matrix_games import matrix_game

ROCK_PAPER_SCISSORS = [[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-2.0, 1.0, 0.0]]
PAYOFFS = np.array(ROCK_PAPER_SCISSORS)
PEER = json.loads((Path(__file__).parents[1] / "data" / "greedy_weights.json").read_text())["games"]


@pytest.mark.parametrize(
    ("point", "floor", "expected"),
    [
        ([0.5, 2.0, -1.0], 1.0, [0.5, 2.0, 0.0]),
        ([0.2, 0.4, -3.0], 1.0, [0.4, 0.6, 0.0]),
        ([-1.0, -1.0, -1.0], 1.0, [1 / 3] * 3),
        ([-1.0, -0.8, -5.0], 2.0, [0.9, 1.1, 0.0]),
    ],
)
def test_projections_by_hand(point, floor, expected):
    array = np.array([9.0, *point, 9.0])
    infoset_kernels.project(array, 1, 4, floor)
    np.testing.assert_allclose(array, [9.0, *expected, 9.0], atol=1e-12)


def project(point: np.ndarray) -> np.ndarray:
    """The nearest point with entries >= 0 and a sum >= 1, by bisection."""
    positive = np.maximum(point, 0.0)
    if positive.sum() >= 1:
        return positive
    low, high = point.min() - 1.0, point.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - low, 0.0)


def regrets(player: int, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    values = PAYOFFS @ other if player == 0 else -(PAYOFFS.T @ other)
    return values - own @ values


def normalized(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


@pytest.mark.parametrize("is_smooth", [True, False])
def test_smooth_and_stable_matching_in_plain_numpy(is_smooth):
    variant = (
        infoset_variants.smooth_predictive_cfr_plus()
        if is_smooth
        else infoset_variants.stable_predictive_cfr_plus()
    )
    minimizer = RegretMinimizer(matrix_game(ROCK_PAPER_SCISSORS), variant)
    kept = [np.full(3, 1 / 3 if is_smooth else 1.0) for _ in range(2)]
    strategies = [np.full(3, 1 / 3) for _ in range(2)]
    clip = project if is_smooth else lambda point: np.maximum(point, 0.0)
    for _ in range(40):
        minimizer.run(1)
        for player in (0, 1):
            newest = regrets(player, strategies[player], strategies[1 - player])
            kept[player] = clip(kept[player] + newest)
            assert is_smooth or (kept[player] > 1.0).any()
            strategies[player] = normalized(clip(kept[player] + newest))
        for player in (0, 1):
            learner = minimizer.learned[player]
            np.testing.assert_allclose(learner.regret[1:], kept[player], atol=1e-9)
            np.testing.assert_allclose(learner.strategy[1:], strategies[player], atol=1e-9)


def test_stable_matching_begins_anew_by_hand():
    match, now = infoset_kernels.match_regrets_stable, (1.0, 0.0)
    regret, strategy = np.array([1.2, 0.9, 0.0]), np.array([0.5, 0.5, 0.0])
    match(regret, strategy, 0, 3, np.array([-0.3, 0.0, 0.4]), 0.0, now, 1e-12)
    np.testing.assert_array_equal(regret, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(strategy, [1 / 3, 1 / 3, 1 / 3])
    match(regret, strategy, 0, 3, np.array([0.5, -0.5, 0.0]), 0.0, now, 1e-12)
    np.testing.assert_allclose(regret, [1.5, 0.5, 1.0])
    np.testing.assert_allclose(strategy, [2 / 3, 0.0, 1 / 3])


def test_extragradient_in_plain_numpy():
    variant = infoset_variants.extragradient_cfr_plus(stepsize=0.5)
    minimizer = RegretMinimizer(matrix_game(ROCK_PAPER_SCISSORS), variant)
    kept, total = [np.full(3, 1 / 3) for _ in range(2)], [np.zeros(3), np.zeros(3)]
    for iteration in range(1, 21):
        minimizer.run(1)
        now = [normalized(each) for each in kept]
        ahead = [
            normalized(project(kept[p] + 0.5 * regrets(p, now[p], now[1 - p]))) for p in (0, 1)
        ]
        kept = [project(kept[p] + 0.5 * regrets(p, ahead[p], ahead[1 - p])) for p in (0, 1)]
        for player in (0, 1):
            total[player] += iteration * ahead[player]
            learner = minimizer.learned[player]
            np.testing.assert_allclose(learner.regret[1:], kept[player], atol=1e-9)
            np.testing.assert_allclose(learner.average[1:], total[player], atol=1e-9)


def test_volatility_adaptive_cfr_in_plain_numpy():
    variant = infoset_variants.volatility_adaptive_cfr()
    minimizer = RegretMinimizer(matrix_game(ROCK_PAPER_SCISSORS), variant)
    strategies = [np.full(3, 1 / 3) for _ in range(2)]
    kept, ewma, total = np.zeros((2, 3)), np.zeros(2), np.zeros((2, 3))
    for k in range(510):
        minimizer.run(1)
        for player in (0, 1):
            newest = regrets(player, strategies[player], strategies[1 - player])
            size = np.abs(newest).max()
            ewma[player] = size if k == 0 else 0.1 * size + 0.9 * ewma[player]
            volatility = min(1.0, ewma[player] / 2)
            alpha = max(0.1, 1.5 - 0.5 * volatility)
            beta = min(alpha, -0.1 - 0.5 * volatility)
            factor = [(k + 1) ** x / ((k + 1) ** x + 1) for x in (beta, alpha)]
            boosted = np.where(newest > 0, 1.1 * newest, newest)
            discounted = kept[player] * np.where(kept[player] >= 0, factor[1], factor[0])
            kept[player] = np.maximum(discounted + boosted, -20)
            again = kept[player] * np.where(kept[player] >= 0, factor[1], factor[0])
            optimism = 1 / (1 + k / 100) * max(0.0, 1 - 0.5 * volatility)
            weights = np.maximum(again + optimism * boosted, 0) ** 1.5
            if k >= 500:
                gamma = min(4.0, 2 + 1.5 * min(1.0, size / 2))
                weight = (k + 1) ** gamma / (1 + size**1.5) * math.sqrt(1 + size / 2)
                total[player] += weight * strategies[player]
            strategies[player] = normalized(weights) if weights.sum() > 0 else np.full(3, 1 / 3)
    for player in (0, 1):
        learner = minimizer.learned[player]
        np.testing.assert_allclose(learner.regret[1:], kept[player], atol=1e-8)
        np.testing.assert_allclose(learner.average[1:], total[player], rtol=1e-7)
    with pytest.raises(ValueError, match="averages no realization plans"):
        minimizer.average_plan(0)


@pytest.mark.parametrize("name", PEER)
def test_greedy_weights_iteration_by_iteration_as_their_authors_have_them(name):
    peer = PEER[name]
    minimizer = RegretMinimizer(matrix_game(peer["payoffs"]), infoset_variants.greedy_weights())
    means = [0.0, 0.0]
    for share, played in zip(peer["shares"], peer["played"], strict=True):
        for player, strategy in enumerate(played):
            learner = minimizer.learned[player]
            np.testing.assert_allclose(learner.strategy[1:], strategy, atol=2e-6)
            means[player] += share * (np.array(strategy) - means[player])
        minimizer.run(1)
        for player in (0, 1):
            np.testing.assert_allclose(minimizer.average_plan(player)[1:], means[player], atol=2e-6)


def test_the_greedy_share_is_the_best_of_many():
    generator = np.random.default_rng(5)
    for size in (1, 2, 5, 40):
        minimizer = RegretMinimizer(
            matrix_game(np.ones((size, size)).tolist()), infoset_variants.greedy_weights()
        )
        for shift in (-2.0, -0.5, 0.0, 0.5):
            before, newest = generator.normal(size=(2, 2, size + 1)) + shift
            for player, learner in enumerate(minimizer.learned):
                learner.regret[:], learner.memory[:] = before[player], newest[player]
            found = infoset_kernels.greedy_share(*minimizer.learned)
            assert 0.0 <= found <= 1.0

            def potential(share, before=before, newest=newest):
                return (np.maximum(before + share * (newest - before), 0.0) ** 2).sum()

            least = min(potential(share) for share in np.linspace(0, 1, 2001))
            assert potential(found) <= least + 1e-9


def test_the_last_iterate_of_regularized_cfr_reaches_the_equilibrium():
    tree = GameTree.from_game("kuhn_poker")
    solver = CFRSolver(tree, variant="reg-cfr")
    found = []
    for _ in range(4):
        solver.run(10_000)
        found.append(exploitability(tree, solver.current_policy()))
    assert found[-1] < 1e-8 < 1e-6 < found[0]


@pytest.mark.parametrize("name", ["vad-cfr", "reg-cfr", "excfr+", "smooth-pcfr+", "greedy"])
def test_states_go_on_to_the_same_bits(name):
    whole, first, second = (CFRSolver("kuhn_poker", variant=name) for _ in range(3))
    whole.run(600)
    first.run(550)
    second.load_state(first.state())
    second.run(50)
    for one, other in zip(whole.minimizer.learned, second.minimizer.learned, strict=True):
        for array, expected in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, expected)


def test_vad_cfr_warns_of_an_average_that_has_not_begun():
    solver = CFRSolver("kuhn_poker", variant="vad-cfr")
    solver.run(500)
    with pytest.warns(RuntimeWarning, match="vad-cfr averages from iteration 501 on"):
        uniform = solver.average_policy()
    solver.run(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begun = solver.average_policy()
    assert (uniform.strategies[0] != begun.strategies[0]).any()


@pytest.mark.parametrize("name", [n for n, v in VARIANTS.items() if not isinstance(v, Weighting)])
def test_variants_by_whole_infosets_are_named_in_messages(name):
    assert str(VARIANTS[name]) == name


def test_what_these_variants_cannot_do_is_refused():
    large = "liars_dice(numdice=1,dice_sides=8)"
    for name in ("excfr+", "greedy"):
        with pytest.raises(ValueError, match=r"num_threads=2: .* by one thread; leave out"):
            CFRSolver("kuhn_poker", variant=name, num_threads=2)
        with pytest.raises(ValueError, match="too large to list its payoffs; take another variant"):
            CFRSolver(large, variant=name)
        solver = DLCFRSolver("kuhn_poker", ZeroValue(), DepthLimit(moves=1), variant=name)
        with pytest.raises(ValueError, match=r"asks for no values of leaves; take another"):
            solver.run(1)
    for name in ("vad-cfr", "reg-cfr", "excfr+", "greedy"):
        variant = CFRSolver("kuhn_poker", variant=name).variant
        with pytest.raises(ValueError, match="updates whole players at once"):
            ContinuationChoices(None, variant, 2.0)
    with pytest.raises(ValueError, match="floor=0 must be positive"):
        infoset_variants.smooth_predictive_cfr_plus(floor=0)
