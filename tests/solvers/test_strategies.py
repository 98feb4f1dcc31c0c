"""Behaviour strategies from plans, and held to their definition."""

import numpy as np
import pytest

from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy, check_strategy
from spiel_dl.tree import GameTree, Treeplex


def two_decisions() -> Treeplex:
    """Two actions; after the second one, three more. Sequences: root, a, b; c, d, e behind b."""
    arrays = (np.array([0, 2]), np.array([1, 3]), np.array([2, 3]))
    return Treeplex(*(array.astype(np.int32) for array in arrays), 1)


def test_strategy_of_a_plan_by_hand():
    strategy = behaviour_strategy(two_decisions(), np.array([2, 0.5, 1.5, 0.3, 0.0, 1.2]))
    np.testing.assert_allclose(strategy, [1, 0.25, 0.75, 0.2, 0, 0.8], rtol=1e-15)


def test_strategy_is_uniform_where_a_plan_never_comes():
    strategy = behaviour_strategy(two_decisions(), np.array([1.0, 1, 0, 0, 0, 0]))
    np.testing.assert_array_equal(strategy, [1, 1, 0, 1 / 3, 1 / 3, 1 / 3])


def test_strategy_of_a_plan_of_a_strategy_is_the_strategy():
    treeplex = GameTree.from_game("leduc_poker").treeplexes[0]
    weights = np.random.default_rng(0).random(treeplex.num_sequences) + 0.01
    strategy = behaviour_strategy(treeplex, weights)
    check_strategy(treeplex, strategy, np.ones(treeplex.num_infosets, np.bool_))
    plan = realization_plan(treeplex, strategy)
    np.testing.assert_allclose(behaviour_strategy(treeplex, 3 * plan), strategy, rtol=1e-12)


@pytest.mark.parametrize(
    "wrong", [[0.5, 0.5, 0.1], [0.5, 0.6, -0.1], [np.nan, 0.5, 0.5], [np.inf, 0, 0], [0, 0, 0]]
)
def test_what_is_no_distribution_is_refused_where_it_counts(wrong):
    treeplex = two_decisions()
    strategy = np.array([1, 0.5, 0.5, *wrong])
    with pytest.raises(ValueError, match=r"infoset 1, .* not a distribution"):
        check_strategy(treeplex, strategy, np.ones(2, np.bool_))
    check_strategy(treeplex, strategy, np.array([True, False]))


def test_a_strategy_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"one number per sequence, 6; got the shape \(5,\)"):
        check_strategy(two_decisions(), np.ones(5), np.ones(2, np.bool_))
