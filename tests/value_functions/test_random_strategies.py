"""Random strategies: valid ones, of the shares asked for, from their own generator."""

import numpy as np
import pytest

from spiel_dl.tree import GameTree
from spiel_dl.value_functions.random_strategies import random_strategy

TREEPLEX = GameTree.from_game("leduc_poker").treeplexes[0]


def strategies(pure, near_pure, count=20):
    generator = np.random.default_rng(0)
    return [random_strategy(generator, TREEPLEX, pure, near_pure) for _ in range(count)]


def largest(strategy):
    """The probability of the likeliest action of every infoset."""
    return np.maximum.reduceat(strategy, TREEPLEX.first_sequence)


@pytest.mark.parametrize(("pure", "near_pure"), [(0, 0), (0.2, 0.2), (1, 0), (0, 1)])
def test_they_are_strategies(pure, near_pure):
    for strategy in strategies(pure, near_pure):
        assert strategy.shape == (TREEPLEX.num_sequences,)
        assert (strategy >= 0).all()
        np.testing.assert_allclose(TREEPLEX.sum_per_infoset(strategy), 1)
        np.testing.assert_array_equal(strategy[: TREEPLEX.num_root_sequences], 1)


def test_shares_are_those_asked_for():
    everything = np.concatenate([largest(s) for s in strategies(0.3, 0.2)])
    assert (everything == 1).mean() == pytest.approx(0.3, abs=0.03)
    pure = np.concatenate([largest(s) for s in strategies(1, 0)])
    assert (pure == 1).all()
    # What is added to a pure action has a weight of 0.001 to 0.1.
    near_pure = np.concatenate([largest(s) for s in strategies(0, 1)])
    assert (near_pure >= 0.9).all()
    assert (near_pure < 1).mean() > 0.9
    mixed = np.concatenate([largest(s) for s in strategies(0, 0)])
    assert (mixed < 0.9).mean() > 0.4
