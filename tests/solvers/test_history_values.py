"""Values of histories, where chance may do what has probability 0."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl import ArrayPolicy, GameTree, expected_value
from spiel_dl.solvers.history_values import history_values
from tests import tiny_games

NEVER = (
    tiny_games.ROOT
    + """p "" 1 1 "first" { "L" "R" } 0
c "" 1 "" { "x" 1.0 "y" 0.0 } 0
t "" 1 "" { 1, -1 }
c "" 2 "" { "a" 0.5 "b" 0.5 } 0
t "" 2 "" { 5, -5 }
p "" 2 1 "late" { "l" "r" } 0
t "" 3 "" { 7, -7 }
t "" 4 "" { 9, -9 }
t "" 5 "" { -1, 1 }
"""
)


def test_what_chance_never_does_counts_for_nothing():
    tree = GameTree.from_game(pyspiel.load_efg_game(NEVER))
    policy = ArrayPolicy.uniform(tree)
    first, second = policy.strategies
    values = history_values(tree, 0, first, second[None])
    assert np.isfinite(values).all()
    assert values[0, 0] == pytest.approx(expected_value(tree, policy)) == pytest.approx(0.0)
