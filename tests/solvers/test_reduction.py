"""Reduced games against the games themselves."""

import numpy as np
import pytest
import scipy.sparse

from spiel_dl.algorithms.cfr import CFRSolver
from spiel_dl.factored.families import cut_any
from spiel_dl.solvers import reduction
from spiel_dl.solvers.reduction import reduce_form
from spiel_dl.solvers.regret_minimization import RegretMinimizer
from spiel_dl.tree import GameTree, SequenceForm, Treeplex
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.value_functions.exact import ExactValue
from tests.factored_checks import random_plan
from tests.reference import assert_same_policy
from tests.solvers.matrix_games import matrix_game

GAMES = [
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3)",
    "python_goofspiel_ii(num_cards=4,points_order=descending)",
    "python_goofspiel_ii(num_cards=3,points_order=random)",
    "python_battleships(board_height=2,board_width=2,ship_sizes=[1],num_shots=2)",
]


@pytest.fixture(autouse=True)
def every_game_is_reduced(monkeypatch):
    monkeypatch.setattr(reduction, "_LEAST_SIZE", 0)


def test_a_game_by_hand():
    # The second row pays 2 whatever player 1 does; the third column is as in the last game.
    form, sequences = reduce_form(matrix_game([[1, 0, 3], [2, 2, 2]]))
    np.testing.assert_array_equal(
        form.payoffs.toarray(), [[0, 0, 0, 0], [0, 1, 0, 3], [2, 0, 0, 0]]
    )
    np.testing.assert_array_equal(sequences[1], [0, 1, 2, 3])
    # Both players' choices make no difference.
    form, sequences = reduce_form(matrix_game([[4, 4], [4, 4]]))
    np.testing.assert_array_equal(form.payoffs.toarray(), [[4]])
    assert [each.tolist() for each in sequences] == [[0], [0]]


def test_payoffs_at_and_below_a_sequence_are_added():
    # Player 0's second infoset follows its first action, which is paid itself.
    own = Treeplex(
        np.array([0, 1], np.int32), np.array([1, 3], np.int32), np.array([2, 2], np.int32), 1
    )
    idle = Treeplex(*(np.zeros(0, np.int32) for _ in range(3)), 1)
    payoffs = scipy.sparse.csr_array(np.array([[0.0], [1], [3], [2], [2]]))
    form, sequences = reduce_form(SequenceForm((own, idle), payoffs, 3.0))
    np.testing.assert_array_equal(form.payoffs.toarray(), [[3]])
    assert sequences[0].tolist() == [0]
    constants = (np.array([0.0, 0, 0, 0, 5]), np.zeros(1))
    form, sequences = reduce_form(SequenceForm((own, idle), payoffs, 3.0, constants))
    assert form.payoffs.nnz == 1
    assert sequences[0].tolist() == [0, 1, 2, 3, 4]
    assert form.constants is not None
    np.testing.assert_array_equal(form.constants[0], constants[0])


@pytest.mark.parametrize("game", GAMES)
def test_utilities_are_equal(game):
    form = GameTree.from_game(game).sequence_form
    reduced, sequences = reduce_form(form)
    assert reduced.payoffs.nnz <= form.payoffs.nnz
    for seed in range(5):
        x, y = (random_plan(form, player, seed) for player in (0, 1))
        utility = x[sequences[0]] @ (reduced.payoffs @ y[sequences[1]])
        assert utility == pytest.approx(x @ (form.payoffs @ y), abs=1e-12)


@pytest.mark.parametrize("game", GAMES)
def test_regrets_and_averages_are_equal(game):
    form = GameTree.from_game(game).sequence_form
    reduced, sequences = reduce_form(form)
    whole, part = RegretMinimizer(form), RegretMinimizer(reduced)
    for _ in range(10):
        whole.run(1)
        part.run(1)
        for learned, of_part, kept in zip(whole.learned, part.learned, sequences, strict=True):
            np.testing.assert_allclose(of_part.regret, learned.regret[kept], atol=1e-10)
            np.testing.assert_allclose(of_part.average, learned.average[kept], atol=1e-10)
            dropped = np.setdiff1d(np.arange(len(learned.regret)), kept)
            np.testing.assert_allclose(learned.regret[dropped], 0.0, atol=1e-12)


def test_little_is_left_of_goofspiel():
    form = GameTree.from_game("goofspiel(imp_info=True,num_cards=5,points_order=descending)")
    reduced, _ = reduce_form(form.sequence_form)
    assert (form.sequence_form.payoffs.nnz, reduced.payoffs.nnz) == (13_120, 3_427)
    assert [treeplex.num_sequences for treeplex in reduced.treeplexes] == [1_030, 1_030]


@pytest.mark.parametrize("variant", ["cfr", "hs-pcfr+(30)"])
def test_solvers_of_reduced_games_have_the_same_policies(variant, monkeypatch):
    tree = GameTree.from_game(GAMES[2])
    reduced = CFRSolver(tree, variant=variant)
    monkeypatch.setattr(reduction, "_LEAST_SIZE", 10**6)
    whole = CFRSolver(tree, variant=variant)
    assert whole.minimizer.sequence_form is tree.sequence_form
    sizes = [each.minimizer.sequence_form.payoffs.nnz for each in (reduced, whole)]
    assert sizes[0] < sizes[1]
    for solver in (reduced, whole):
        solver.run(20)
    assert_same_policy(reduced.current_policy(), whole.current_policy(), atol=1e-9)
    assert_same_policy(reduced.average_policy(), whole.average_policy(), atol=1e-9)
    with pytest.raises(ValueError, match="saved for another game"):
        whole.load_state(reduced.state())


@pytest.mark.parametrize("game", GAMES[2:4])
def test_optimal_values_of_reduced_subgames(game, monkeypatch):
    leaves = cut_any(game, DepthLimit(rounds=1)).leaves
    reduced = ExactValue(tolerance=1e-7).bind(leaves)
    monkeypatch.setattr(reduction, "_LEAST_SIZE", 10**6)
    whole = ExactValue(tolerance=1e-7).bind(leaves)
    rng = np.random.default_rng(1)
    ranges = [rng.random(len(each)) for each in leaves.sequences]
    utility_range = leaves.subgames.utility_range
    for of_reduced, of_whole, own in zip(
        reduced.evaluate(*ranges), whole.evaluate(*ranges), ranges, strict=True
    ):
        # Values of infosets need not be unique; their sum over the range is.
        assert own @ of_reduced == pytest.approx(own @ of_whole, abs=1e-5 * utility_range)
