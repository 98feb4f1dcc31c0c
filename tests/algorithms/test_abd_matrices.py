"""Matrices of leaves against values of whole policies."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.algorithms.abd import ByPortfolios
from spiel_dl.algorithms.exploitability import expected_value
from spiel_dl.policies import portfolios
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.opponent_models import errs_beyond, random_policy
from spiel_dl.search.spec import Root
from spiel_dl.solvers.best_response import expected_value as value_of_plans
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.tree import DepthLimit, GameTree, cut

LIMIT = DepthLimit(plies=2)


def made(player):
    tree = GameTree.from_game("leduc_poker")
    policies = [random_policy(tree, seed) for seed in range(4)]
    given = portfolios.by_hand(tree, player, policies[0], policies[1:3], policies[3:])
    return tree, policies, given, cut(tree, LIMIT)


@pytest.mark.parametrize("player", [0, 1])
def test_a_pair_of_choices_is_worth_what_two_policies_earn(player):
    """One policy above the leaves, the chosen ones below: judged as whole policies."""
    tree, policies, given, trunk = made(player)
    leaves, order = trunk.leaves, [player, 1 - player]
    matrices = ByPortfolios(given)(Root(trunk, player, (np.ones(1), np.ones(1))))
    assert matrices.shape == (len(leaves.histories), 2, 2)
    form = trunk.sequence_form if player == 0 else trunk.sequence_form.swapped()
    form = with_leaf_choices(
        form,
        (leaves.sequences[order[0]], leaves.sequences[order[1]]),
        leaves.infoset_of_history[order],
        matrices,
        leaves.chance_reach,
    )
    for j, k in ((0, 0), (1, 0), (0, 1), (1, 1)):
        own, other = (policies[1 + j], policies[0] if k == 0 else policies[3])
        seats = (own, other) if player == 0 else (other, own)
        below = ArrayPolicy(tree, (seats[0].strategies[0], seats[1].strategies[1]))
        expected = expected_value(tree, errs_beyond(tree, LIMIT, policies[0], below))
        plans = []
        for who, choice, treeplex in zip(order, (j, k), form.treeplexes, strict=True):
            strategy = np.zeros(treeplex.num_sequences)
            above = policies[0].strategies[who][trunk.sequences[who]]
            strategy[: len(above)] = above
            strategy[len(above) + choice :: 2] = 1.0
            plans.append(realization_plan(treeplex, strategy))
        found = value_of_plans(form, (plans[0], plans[1]))
        assert found == pytest.approx(expected if player == 0 else -expected, abs=1e-12)
