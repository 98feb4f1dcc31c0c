"""SePoT with trust: between safe search and search without a gadget, or without choices."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.transformations import (
    IDENTITY,
    PolicyTransformations,
    pure_transformations,
)
from spiel_dl.solvers.best_response import best_response, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.tree import DepthLimit, cut
from tests.algorithms.test_sepot import compiled, random_policy


def test_trust_leads_from_safe_to_unsafe_search():
    """Of Leduc's second round, to the end, by the blueprint's ranges; each player by itself.

    Against who has come by the blueprint, the more trust the better, up to the subgame's value.
    """
    tree, blueprint = compiled("python_leduc"), random_policy("python_leduc", seed=2)
    earned = []
    for changes in ({}, {"trust": 0.5}, {"trust": 0.95}, {"gadget": "unsafe"}):
        config = SearchConfig(
            given_cfvs="best_response",
            first_level=1,
            own_range="blueprint",
            effort=Effort(iterations=1000),
            **changes,
        )
        policy = SePoTPolicy(tree, blueprint, None, DepthLimit(rounds=2), config=config)
        found = policy.to_array_policy()
        # What is left to an opponent that is the blueprint at first, and then plays best.
        trunk = cut(tree, DepthLimit(rounds=1))
        form, leaves = trunk.leaves.subgames, trunk.leaves
        worth = 0.0
        for player in (0, 1):
            own, other = (
                realization_plan(tree.treeplexes[p], blueprint.strategies[p])[trunk.sequences[p]][
                    leaves.sequences[p]
                ]
                for p in (player, 1 - player)
            )
            strategy = found.strategies[player][leaves.subgame_sequences[player]]
            plan = realization_plan(form.treeplexes[player], strategy, own)
            worth -= float(best_response(form, 1 - player, plan).cfv[: len(other)] @ other)
        earned.append(worth)
    assert earned[3] == pytest.approx(0.0, abs=2e-3)
    assert earned[0] < earned[1] - 0.01
    assert earned[1] < earned[2] + 1e-3
    assert earned[2] < earned[3] + 1e-3


def test_all_trust_behind_leaves_leaves_the_identity_alone():
    tree, blueprint = compiled("python_leduc"), random_policy("python_leduc", seed=2)
    transformations = pure_transformations(tree.game.num_distinct_actions())
    found = [
        SePoTPolicy(
            tree,
            blueprint,
            ExactCritic(tree, blueprint.strategies, known),
            DepthLimit(rounds=1),
            config=SearchConfig(leaf_trust=share, effort=Effort(iterations=100)),
        ).to_array_policy()
        for known, share in (
            (transformations, 1.0),
            (PolicyTransformations([IDENTITY]), 0.0),
            (transformations, 0.0),
        )
    ]
    for player in (0, 1):
        first, second, third = (policy.strategies[player] for policy in found)
        np.testing.assert_allclose(first, second, atol=1e-6)
        assert np.abs(first - third).max() > 0.1
