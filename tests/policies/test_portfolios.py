"""Portfolios: CFR's iterates are what CFR plays."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, GameTree, best_response_value, random_policy
from spiel_dl.algorithms import exploitability
from spiel_dl.policies import portfolios


@pytest.mark.parametrize("player", [0, 1])
def test_cfr_iterates_go_from_the_response_to_the_average(player):
    tree = GameTree.from_game("kuhn_poker")
    model = random_policy(tree, 3)
    found = portfolios.of_cfr(tree, player, model, p=0.0, size=12)
    assert len(found.own) == len(found.others) == 12

    def policy(own, others):
        return ArrayPolicy(tree, (own, others) if player == 0 else (others, own))

    first = policy(found.own[0], found.others[0])
    np.testing.assert_array_equal(found.others[0], model.strategies[1 - player])
    earned = exploitability.expected_value(tree, first)
    most = best_response_value(tree, model, player)
    assert (earned if player == 0 else -earned) == pytest.approx(most)
    last = policy(found.own[-1], found.others[-1])
    assert exploitability.exploitability(tree, last) < 1e-2, "p = 0 is the game itself"
    with pytest.raises(ValueError, match="size=1 must be at least 2"):
        portfolios.of_cfr(tree, player, model, size=1)
