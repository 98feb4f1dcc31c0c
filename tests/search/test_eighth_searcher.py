"""A searcher of a person's own: a spec, which serves compiled and played games."""

from __future__ import annotations

import pytest

from spiel_dl import ArrayPolicy, DepthLimit, Effort, GameTree, random_policy
from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.search.compiled import CompiledSource
from spiel_dl.search.played import BlueprintSource
from spiel_dl.search.policy import SearchPolicy
from spiel_dl.search.policy_rows import TensorPolicy
from spiel_dl.search.samples import WholePublicState
from spiel_dl.search.spec import Spec
from spiel_dl.tree.pieces import Pieces
from tests.reference import state_after
from tests.untrained_blueprints import acting_of

TREE = GameTree.from_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
MODEL = random_policy(TREE, seed=1)

# The searcher: its opponent follows the model with probability p, and is else free.
TRUSTING = Spec(p=0.5)
TO_THE_END, EFFORT = DepthLimit(rounds=4), Effort(2000, tolerance=1e-4)


def compiled() -> SearchPolicy:
    pieces = Pieces(TREE, TO_THE_END, "block")
    return SearchPolicy(CompiledSource(pieces, MODEL), TRUSTING, EFFORT)


def played() -> SearchPolicy:
    rows = TensorPolicy(TREE.game.rules, acting_of(MODEL))
    source = BlueprintSource(TREE.game, rows, TO_THE_END, WholePublicState(10_000))
    return SearchPolicy(source, TRUSTING, EFFORT)


def worth(policy: ArrayPolicy, player: int) -> float:
    """The objective of a response: gain minus possible loss, with equal weights."""
    gain = exploitability.gain(TREE, policy, MODEL, player)
    return 0.5 * gain - 0.5 * exploitability.player_exploitability(TREE, policy, player)


def test_a_search_that_ends_before_the_game_needs_values():
    rows = TensorPolicy(TREE.game.rules, acting_of(MODEL))
    source = BlueprintSource(TREE.game, rows, DepthLimit(rounds=1), WholePublicState(10_000))
    policy = SearchPolicy(source, Spec(), Effort(500))
    with pytest.raises(ValueError, match=r"goes on in .* pass values="):
        policy.action_probabilities(TREE.game.new_initial_state())


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_where_the_model_never_comes_the_free_opponent_is_met(p):
    """The jack folds to a bet, which the model never makes."""
    tree = GameTree.from_game("kuhn_poker")
    passing = ArrayPolicy.uniform(tree)
    passing.strategies[0][1::2], passing.strategies[0][2::2] = 1.0, 0.0
    source = CompiledSource(Pieces(tree, DepthLimit(moves=1), "block"), passing, (1,))
    policy = SearchPolicy(source, Spec(p=p), Effort(100))
    bet = state_after(tree.game, (1, 0, 1))
    assert policy.action_probabilities(bet) == pytest.approx({0: 1.0, 1: 0.0}, abs=1e-3)
    assert policy.answer_was_searched


@pytest.mark.parametrize("make", [compiled, played])
def test_it_is_as_good_as_the_linear_program(make):
    policy, gaps = make(), []
    policy.watch = lambda solution: gaps.append(solution.gap)
    found = policy.to_array_policy()
    for player in (0, 1):
        best = RNRPolicy(TREE, player, MODEL, p=0.5, exact=True).to_array_policy()
        assert worth(found, player) == pytest.approx(worth(best, player), abs=1e-3)
        assert worth(found, player) > worth(MODEL, player) + 0.1
    assert policy.num_searches == 2
    assert len(gaps) == 2
    assert max(gaps) <= EFFORT.allowed_gap(TREE.sequence_form.utility_range)
