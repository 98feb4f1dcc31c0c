"""Arranged iterations: results equal to the last bit."""

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.solvers import arrangement as arrangement_module
from spiel_dl.solvers import kernels, minimizer_state
from spiel_dl.solvers.arrangement import arrange_game
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.solvers.variants import VARIANTS, Weighting
from spiel_dl.tree import GameTree, SequenceForm, Treeplex


@pytest.fixture
def groups_of_any_size(monkeypatch):
    """Random treeplexes have small groups, which are not arranged otherwise."""
    monkeypatch.setattr(arrangement_module, "_MIN_GROUP_SIZE", 0)


def random_treeplex(rng: np.random.Generator, num_roots: int, num_infosets: int) -> Treeplex:
    """Infosets below any earlier sequences, with 1 to 4 actions, level after level or mixed."""
    num_actions = rng.integers(1, 5, num_infosets)
    first = num_roots + np.cumsum(num_actions) - num_actions
    # Parents far above make large levels; those just above, small ones.
    depth = rng.random(num_infosets) ** 2 * rng.choice([1.0, 0.05])
    parent = np.minimum((first * depth).astype(int), first - 1)
    arrays = (parent, first, num_actions)
    return Treeplex(*(array.astype(np.int32) for array in arrays), num_roots)


def random_form(seed: int) -> SequenceForm:
    rng = np.random.default_rng(seed)
    first, second = random_treeplex(rng, 3, 300), random_treeplex(rng, 1, 2500)
    shape = (first.num_sequences, second.num_sequences)
    dense = rng.standard_normal(shape) * (rng.random(shape) < 0.003)
    constants = (rng.standard_normal(shape[0]), rng.standard_normal(shape[1]))
    return SequenceForm((first, second), scipy.sparse.csr_array(dense), 4.0, constants)


@pytest.mark.usefixtures("groups_of_any_size")
@pytest.mark.parametrize("variant", ["cfr", "cfr+", "lcfr", "dcfr", "pcfr+"])
@pytest.mark.parametrize("alternating", [True, False])
def test_many_iterations_at_once_equal_single_ones_to_the_last_bit(variant, alternating):
    chosen, sizes = VARIANTS[variant], set()
    for seed in (0, 2):
        form = random_form(seed)
        at_once, one_by_one, on_threads = (
            RegretMinimizer(form, chosen, alternating_updates=alternating, num_threads=threads)
            for threads in (1, 1, 2)
        )
        game = at_once._arranged_game
        sizes.update(game.arrangements[1].groups[:, 3].tolist())
        for minimizer in (at_once, one_by_one, on_threads):
            minimizer.set_range(0, np.array([0.5, 0.0, 2.0]))
        for num_iterations in (8, 30):
            at_once.run(num_iterations)
            on_threads.run(num_iterations)
            for _ in range(num_iterations):
                one_by_one.run(1)
            for player in (0, 1):
                learned = (each.learned[player] for each in (at_once, on_threads, one_by_one))
                for mine, threaded, expected in zip(*learned, strict=True):
                    assert mine.tobytes() == threaded.tobytes() == expected.tobytes()
    # There were groups of less than a tile and of more.
    assert min(sizes) < 8 < 128 < max(sizes)


@pytest.mark.usefixtures("groups_of_any_size")
@pytest.mark.parametrize("is_fixed", [True, False])
def test_fixed_infosets_and_inflow_are_kept_in_many_iterations(is_fixed):
    form = random_form(0)
    at_once, one_by_one = RegretMinimizer(form), RegretMinimizer(form)
    treeplex = form.treeplexes[0]
    fixed = is_fixed & (np.arange(treeplex.num_infosets) % 3 == 0)
    for minimizer in (at_once, one_by_one):
        minimizer.hold_fixed(0, fixed, treeplex.uniform_strategy())
        minimizer.set_inflow(1, np.linspace(0, 1, form.treeplexes[1].num_infosets))
    at_once.run(20)
    for _ in range(20):
        one_by_one.run(1)
    for mine, other in zip(at_once.learned, one_by_one.learned, strict=True):
        np.testing.assert_array_equal(mine.average, other.average)
        np.testing.assert_array_equal(mine.regret, other.regret)
    assert (at_once.learned[0].strategy == treeplex.uniform_strategy())[
        treeplex.sequences_of(fixed)
    ].all()


def test_leduc_is_arranged_and_kuhn_poker_is_too_small():
    for game_name, is_arranged in (("leduc_poker", True), ("kuhn_poker", False)):
        form = GameTree.from_game(game_name).sequence_form
        _, payoffs, constants = minimizer_state.game_arrays(form)
        assert (arrange_game(form.treeplexes, payoffs, constants) is not None) == is_arranged


def test_large_games_have_another_order_and_the_same_bits(monkeypatch):
    game = "python_goofspiel_ii(num_cards=5,points_order=descending)"
    form = GameTree.from_game(game).sequence_form
    small = RegretMinimizer(form)
    for module in (kernels, arrangement_module):
        monkeypatch.setattr(module, "LARGE", 1)
    monkeypatch.setattr(kernels, "_WINDOW", 64)
    large = RegretMinimizer(form)
    places = [each._arranged_game.arrangements[1].place for each in (small, large)]
    assert not np.array_equal(*places)
    np.testing.assert_array_equal(*(np.sort(place) for place in places))
    # Payoffs of 1 and -1 need 4 bytes.
    payoffs = [each._game[1][0].values.dtype for each in (small, large)]
    assert payoffs == [np.float64, np.float32]
    for num_iterations in (20, 1):  # in the arranged order, and in the other one
        small.run(num_iterations)
        large.run(num_iterations)
        for mine, other in zip(small.learned, large.learned, strict=True):
            assert mine.regret.tobytes() == other.regret.tobytes()
            assert mine.average.tobytes() == other.average.tobytes()


@pytest.mark.usefixtures("groups_of_any_size")
def test_a_player_without_infosets():
    nothing = np.zeros(0, np.int32)
    rng = np.random.default_rng(1)
    idle, busy = Treeplex(nothing, nothing, nothing, 1), random_treeplex(rng, 1, 400)
    payoffs = scipy.sparse.csr_array(rng.standard_normal((1, busy.num_sequences)))
    minimizer = RegretMinimizer(SequenceForm((idle, busy), payoffs, 2.0), Weighting())
    one_by_one = RegretMinimizer(SequenceForm((idle, busy), payoffs, 2.0), Weighting())
    assert minimizer._arranged_game is not None
    minimizer.run(10)
    for _ in range(10):
        one_by_one.run(1)
    np.testing.assert_array_equal(minimizer.learned[1].average, one_by_one.learned[1].average)
    np.testing.assert_array_equal(minimizer.learned[0].average, [10.0])
