"""One search of SePoT: its gap, and where it stops."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from spiel_dl.algorithms.sepot import SearchConfig, SePoTPolicy
from spiel_dl.learning.critics import Critic, ExactCritic
from spiel_dl.learning.transformations import transformations_by_name
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.search import sepot_search
from spiel_dl.search.sepot_search import Root, Searcher
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.variants import CFR_PLUS, PREDICTIVE_CFR_PLUS
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.trunk import cut
from spiel_dl.value_functions.random_strategies import random_strategy

GOOFSPIEL = "python_goofspiel_ii(num_cards=4,points_order=descending)"


@functools.cache
def made() -> tuple[GameTree, ArrayPolicy, ExactCritic]:
    tree, generator = GameTree.from_game(GOOFSPIEL), np.random.default_rng(3)
    first, second = (random_strategy(generator, t, 0.2, 0.2) for t in tree.treeplexes)
    blueprint = ArrayPolicy(tree, (first, second))
    transformations = transformations_by_name("paper", tree.game)
    return tree, blueprint, ExactCritic(tree, blueprint.strategies, transformations)


def searched(player: int, is_first: bool, effort: Effort) -> tuple[float, Searcher]:
    """What a search guarantees its player in the gadget game, and the searcher."""
    tree, _, critic = made()
    searcher = Searcher(critic, SearchConfig(effort=effort))
    state = None if is_first else int(tree.public_states.of_history[tree.num_histories // 50])
    trunk = cut(tree, DepthLimit(rounds=1), state)
    histories = np.zeros(1, np.int64) if state is None else tree.public_states.histories(state)
    root = Root(trunk, histories, np.full(len(histories), 1 / len(histories)), is_first)
    given = None if is_first else searcher.critic_cfvs(player, root)
    leaf_values = searcher.leaf_values(player, trunk.leaves)
    plan = searcher.solve(player, root, given, leaf_values)
    cfvs = sepot_search.opponent_cfvs(player, trunk, plan, leaf_values)
    return -float((cfvs if given is None else np.maximum(cfvs, given)).sum()), searcher


@pytest.mark.parametrize("variant", [CFR_PLUS, PREDICTIVE_CFR_PLUS], ids=["cfr+", "pcfr+"])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("player", [0, 1])
def test_the_gap_bounds_what_is_missing(player, is_first, variant):
    best, _ = searched(player, is_first, Effort(5000, variant=variant))
    for tolerance in (0.1, 0.01, 0.001):
        effort = Effort(5000, tolerance=tolerance, variant=variant)
        value, searcher = searched(player, is_first, effort)
        assert searcher.num_unfinished == 0
        assert searcher.gap <= tolerance
        assert best - value <= searcher.gap + 1e-6  # payoffs at leaves are of single precision


def test_searches_that_stop_too_early_are_counted():
    _, searcher = searched(0, False, Effort(1, tolerance=1e-6))
    assert searcher.num_unfinished == 1
    assert searcher.gap > 1e-6
    _, searcher = searched(0, False, Effort(1))
    assert searcher.num_unfinished == 0
    assert np.isnan(searcher.gap)


def test_policies_tell_how_many_searches_stopped_too_early():
    tree, blueprint, critic = made()
    counts = []
    for iterations in (1, 2000):
        config = SearchConfig(effort=Effort(iterations, tolerance=0.01))
        policy = SePoTPolicy(tree, blueprint, critic, DepthLimit(rounds=1), config=config)
        policy.to_array_policy()
        counts.append(policy.num_unfinished)
    assert counts[0] > counts[1] == 0


class _OwnCritic(Critic):
    """Says what it is made with, whatever it is asked."""

    def __init__(self, found):
        self._found = found

    def values(self, tree, histories, player):
        return self._found(len(histories))


def test_values_of_a_critic_have_a_shape_and_are_numbers():
    tree, _, _ = made()
    trunk = cut(tree, DepthLimit(rounds=1))
    size = len(trunk.leaves.histories)
    one_for_each = Searcher(_OwnCritic(np.zeros), SearchConfig())
    told = rf"_OwnCritic\.values returns the shape \[{size}\]; return \[{size}, K\]"
    with pytest.raises(ValueError, match=told):
        one_for_each.leaf_values(0, trunk.leaves)
    root = Root(trunk, np.zeros(1, np.int64), np.ones(1), is_first=True)
    with pytest.raises(ValueError, match=r"returns the shape \[1\]; return \[1, K\]"):
        one_for_each.critic_cfvs(0, root)

    def values(size: int) -> np.ndarray:
        found = np.zeros((size, 2))
        found[3, 1] = np.nan
        return found

    told = rf"values of 1 of {size} leaves are not finite, such as \[\[0\.0, nan\]\] of leaf 3"
    with pytest.raises(ValueError, match=told):
        Searcher(_OwnCritic(values), SearchConfig()).leaf_values(0, trunk.leaves)


def test_critics_need_not_know_pairs():
    tree, _, _ = made()
    searcher = Searcher(_OwnCritic(lambda size: np.zeros((size, 2))), SearchConfig(two_sided=True))
    with pytest.raises(ValueError, match=r"_OwnCritic values .* not pairs .* two_sided=False"):
        searcher.leaf_values(0, cut(tree, DepthLimit(rounds=1)).leaves)
