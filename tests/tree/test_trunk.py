"""Depth limits, trunks, leaves and subgames against hand counts and the whole game."""

import numpy as np
import pyspiel
import pytest

from spiel_dl.policies.opponent_models import random_policy
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.tree import DepthLimit, GameTree, cut
from tests import tiny_games

LEDUC = "leduc_poker"
CASES = [
    ("kuhn_poker", DepthLimit(moves=1)),
    (LEDUC, DepthLimit(plies=3)),
    ("python_leduc", DepthLimit(rounds=1)),
    ("python_goofspiel_ii(num_cards=4,points_order=random)", DepthLimit(rounds=2)),
    ("goofspiel(imp_info=True,num_cards=4,points_order=descending)", DepthLimit(rounds=2)),
]


def random_plans(tree, seed):
    """Random strategies, and their realization plans in the whole game."""
    strategies = random_policy(tree, seed).strategies
    plans = [realization_plan(t, s) for t, s in zip(tree.treeplexes, strategies, strict=True)]
    return strategies, plans


def value_with_subgames(trunk, strategies, plans):
    """The value of strategies in a trunk and its subgames, given the plans in the trunk."""
    tree, leaves, below = trunk.tree, trunk.leaves, []
    follow, _ = tree.following(trunk.extent.leaves)
    for player, treeplex in enumerate(leaves.subgames.treeplexes):
        # A range is the realization of the sequence a leaf infoset hangs from.
        ranges = plans[player][leaves.sequences[player]]
        # Forced moves are left out of subgames, so read behaviour by what follows a sequence.
        free = np.unique(tree.infoset[follow[tree.player[follow] == player]])
        free = free[tree.treeplexes[player].num_actions[free] > 1]
        rows = [strategies[player][tree.treeplexes[player].sequences(i)] for i in free]
        strategy = np.concatenate([np.ones(len(ranges)), *rows])
        below.append(realization_plan(treeplex, strategy, ranges))
    above = plans[0] @ trunk.sequence_form.payoffs @ plans[1]
    return above + below[0] @ leaves.subgames.payoffs @ below[1]


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_trunk_and_subgames_together_are_the_game(game, limit):
    """The expected utility of random strategies is that of the trunk plus that of the subgames."""
    tree = GameTree.from_game(game)
    trunk = cut(tree, limit)
    strategies, whole = random_plans(tree, seed=1)
    value = value_with_subgames(trunk, strategies, [whole[p][trunk.sequences[p]] for p in (0, 1)])
    expected = whole[0] @ tree.sequence_form.payoffs @ whole[1]
    assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_leaves_are_ordered_by_public_state(game, limit):
    tree = GameTree.from_game(game)
    leaves = cut(tree, limit).leaves
    partition = tree.public_states
    for position, public_state in enumerate(leaves.public_states):
        here = slice(*leaves.history_offsets[position : position + 2])
        np.testing.assert_array_equal(
            np.sort(leaves.histories[here]), partition.histories(public_state)
        )
        for player in (0, 1):
            infosets = slice(*leaves.infoset_offsets[player][position : position + 2])
            ids = leaves.infosets[player][infosets]
            of_history = leaves.infosets[player][leaves.infoset_of_history[player, here]]
            expected = partition.augmented_infoset[player, leaves.histories[here]]
            np.testing.assert_array_equal(np.sort(ids), np.unique(expected))
            np.testing.assert_array_equal(of_history, expected)


def test_leduc_after_the_first_betting_round():
    """5 ways to end it without a fold (cc, crc, crrc, rc, rrc), times 6 public cards."""
    trunk = cut(GameTree.from_game("python_leduc"), DepthLimit(rounds=1))
    assert trunk.leaves.num_public_states == 5 * 6
    # Each with the 5 other cards of a player, and 5 * 4 deals.
    assert trunk.leaves.num_infosets(0) == 5 * 6 * 5
    assert len(trunk.leaves.histories) == 5 * 6 * 5 * 4


def test_limit_beyond_the_game_leaves_no_leaf():
    tree = GameTree.from_game("kuhn_poker")
    trunk = cut(tree, DepthLimit(moves=9))
    assert trunk.leaves.num_public_states == 0
    np.testing.assert_array_equal(trunk.sequences[0], np.arange(13))
    difference = trunk.sequence_form.payoffs - tree.sequence_form.payoffs
    assert abs(difference).sum() == 0


BEYOND = DepthLimit(moves=99)
TWO_LEVELS = [
    ("leduc_poker", DepthLimit(plies=3), DepthLimit(plies=2)),
    ("python_leduc", DepthLimit(rounds=1), DepthLimit(moves=1)),
    ("python_goofspiel_ii(num_cards=4,points_order=random)", DepthLimit(rounds=1), None),
    ("goofspiel(imp_info=True,num_cards=4,points_order=descending)", DepthLimit(rounds=1), None),
]


@pytest.mark.parametrize(("game", "limit"), CASES)
def test_subgames_of_single_public_states_are_the_subgames(game, limit):
    """Cut one by one, they have the leaf infosets as roots and together the same payoffs."""
    trunk = cut(GameTree.from_game(game), limit)
    num_payoffs = 0
    for position, public_state in enumerate(trunk.leaves.public_states.tolist()):
        subgame = cut(trunk.tree, BEYOND, public_state)
        assert subgame.leaves.num_public_states == 0
        num_payoffs += subgame.sequence_form.payoffs.nnz
        for player in (0, 1):
            here = slice(*trunk.leaves.infoset_offsets[player][position : position + 2])
            expected = trunk.leaves.infosets[player][here]
            np.testing.assert_array_equal(subgame.root_infosets[player], expected)
            treeplex = subgame.sequence_form.treeplexes[player]
            assert treeplex.num_root_sequences == len(expected)
    whole = trunk.sequence_form.payoffs.nnz + num_payoffs
    assert whole == trunk.tree.sequence_form.payoffs.nnz


@pytest.mark.parametrize(("game", "limit", "next_limit"), TWO_LEVELS)
def test_two_levels_of_trunks_and_subgames_are_the_game(game, limit, next_limit):
    """The expected utility of random strategies, from three layers."""
    tree = GameTree.from_game(game)
    strategies, whole = random_plans(tree, seed=4)
    trunk = cut(tree, limit)
    above = [whole[p][trunk.sequences[p]] for p in (0, 1)]
    value = above[0] @ trunk.sequence_form.payoffs @ above[1]
    num_leaves = 0
    for position, public_state in enumerate(trunk.leaves.public_states.tolist()):
        middle = cut(tree, next_limit or limit, public_state)
        plans = []
        for player in (0, 1):
            here = slice(*trunk.leaves.infoset_offsets[player][position : position + 2])
            plans.append(whole[player][middle.sequences[player]])
            roots = above[player][trunk.leaves.sequences[player][here]]
            plans[player][: len(roots)] = roots
        num_leaves += middle.leaves.num_public_states
        value += value_with_subgames(middle, strategies, plans)
    assert num_leaves > 0
    expected = whole[0] @ tree.sequence_form.payoffs @ whole[1]
    assert value == pytest.approx(expected, abs=1e-12)


def test_public_states_where_no_subgame_starts_are_refused():
    tree = GameTree.from_game("kuhn_poker")
    for public_state in (-1, tree.num_public_states):
        with pytest.raises(ValueError, match=f"public_state={public_state} must be one of"):
            cut(tree, BEYOND, public_state)
    # Player 1's infoset "late" lies at two depths, so the root's public state holds 0 and 2.
    tree = GameTree.from_game(pyspiel.load_efg_game(tiny_games.NO_CLOCK))
    with pytest.raises(ValueError, match="follow one another"):
        cut(tree, BEYOND, int(tree.public_states.of_history[0]))
