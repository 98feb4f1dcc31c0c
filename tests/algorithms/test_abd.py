"""ABD: with all strategies behind the leaves, and with few of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from open_spiel.python.algorithms.expected_game_score import policy_value

from spiel_dl.algorithms import exploitability
from spiel_dl.algorithms.abd import ABDPolicy, ByPortfolios, abd_spec
from spiel_dl.algorithms.best_response import best_response_policy, best_response_value
from spiel_dl.algorithms.cdrnr import CDRNRPolicy
from spiel_dl.algorithms.rnr import RNRPolicy
from spiel_dl.algorithms.sequence_form_lp import solve_zero_sum_game
from spiel_dl.policies import opponent_models, portfolios
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.portfolios import Portfolios
from spiel_dl.search.respond_to import DEFAULT_EFFORT, ResponsePolicy, response_source
from spiel_dl.search.spec import Root
from spiel_dl.solvers.best_response import expected_value, realization_plan
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.leaf_choices import with_leaf_choices
from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.leaf_set import LeafSet
from spiel_dl.tree.pieces import SCHEMES
from spiel_dl.tree.sequence_form import Treeplex
from tests.algorithms import response_checks as checks
from tests.reference import state_after


def with_pure_continuations(
    tree: GameTree,
    player: int,
    model: ArrayPolicy,
    limit: DepthLimit,
    *,
    p: float,
    scheme: str,
    exact: bool = False,
    effort: Effort = DEFAULT_EFFORT,
) -> ResponsePolicy:
    """ABD with all pure strategies behind the leaves of a step; the opponent has the model, too."""

    def values(root: Root) -> np.ndarray:
        own, others = (_all_pure(root.trunk.leaves, each) for each in (player, 1 - player))
        others = np.concatenate([model.strategies[1 - player][None], others])
        return ByPortfolios(Portfolios(player, own, others))(root)

    source = response_source(tree, player, model, limit, scheme)
    return ResponsePolicy(source, abd_spec(values, p, exact=exact), effort)


def _all_pure(leaves: LeafSet[GameTree], player: int) -> np.ndarray:
    """For each number k, the k-th pure strategy behind every leaf infoset: float64 [K, S].

    Where an infoset has fewer, they are repeated.
    """
    treeplex = leaves.subgames.treeplexes[player]
    of_tree = leaves.subgame_sequences[player]
    following: list[list[int]] = [[] for _ in range(treeplex.num_sequences)]
    for infoset, parent in enumerate(treeplex.parent_sequence.tolist()):
        following[parent].append(infoset)
    plans = [list(_pure(treeplex, following, s)) for s in range(treeplex.num_root_sequences)]
    largest = max(map(len, plans), default=1)
    found = np.repeat(leaves.tree.treeplexes[player].uniform_strategy()[None], largest, axis=0)
    for own_plans in plans:
        for number in range(largest):
            for infoset, played in own_plans[number % len(own_plans)]:
                own = treeplex.sequences(infoset)
                found[number, of_tree[own]] = np.arange(own.start, own.stop) == played
    return found


def _pure(
    treeplex: Treeplex, following: list[list[int]], sequence: int
) -> Iterator[tuple[tuple[int, int], ...]]:
    """All pure strategies behind a sequence: their infosets, each with the sequence played."""
    choices = []
    for infoset in following[sequence]:
        own = treeplex.sequences(infoset)
        choices.append(
            [
                ((infoset, played), *plan)
                for played in range(own.start, own.stop)
                for plan in _pure(treeplex, following, played)
            ]
        )
    for combined in itertools.product(*choices):
        yield tuple(itertools.chain.from_iterable(combined))


@pytest.mark.parametrize(
    ("game", "limits"),
    [
        ("kuhn_poker", [DepthLimit(moves=1), DepthLimit(moves=2)]),
        (checks.GOOFSPIEL_3, [DepthLimit(rounds=1)]),
        ("random 0", [DepthLimit(plies=2)]),
    ],
)
def test_with_all_pure_continuations_it_is_rnr(game, limits):
    tree = checks.load(game)
    model = checks.random_model(tree, seed=4)
    for player, p in itertools.product((0, 1), (0.2, 0.6)):
        rnr = RNRPolicy(tree, player, model, p=p, exact=True)
        best = checks.objective(tree, rnr, model, player, p)
        for limit, scheme in itertools.product(limits, SCHEMES):
            response = with_pure_continuations(
                tree, player, model, limit, p=p, scheme=scheme, exact=True
            )
            found = checks.objective(tree, response, model, player, p)
            assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_model_that_is_always_right_is_exploited_in_full(scheme):
    """One strategy behind the leaves is enough, if it is the best response."""
    tree = GameTree.from_game(checks.GOOFSPIEL_3)
    model = checks.random_model(tree, seed=5)
    for player in (0, 1):
        best = best_response_policy(tree, model, player)
        given = portfolios.by_hand(tree, player, model, [best])
        response = ABDPolicy(
            tree, player, model, DepthLimit(rounds=1), p=1.0, scheme=scheme, portfolios=given
        ).to_array_policy()
        gain, _ = checks.gain_and_exploitability(tree, response, model, player)
        most = best_response_value(tree, model, player) - exploitability.game_value(tree, player)
        assert gain == pytest.approx(most, abs=1e-9)


def test_a_bad_portfolio_costs_what_it_must():
    """If the player can only continue uniformly, its first moves are the best before that."""
    tree = GameTree.from_game("kuhn_poker")
    uniform, model = ArrayPolicy.uniform(tree), checks.random_model(tree, seed=6)
    given = portfolios.by_hand(tree, 0, model, [uniform])
    response = ABDPolicy(
        tree, 0, model, DepthLimit(moves=1), p=1.0, scheme="block", portfolios=given
    )
    state = state_after(tree.game, (2, 0))
    found = response.action_probabilities(state)
    # By hand: with the king against this model, from each first move on uniformly.
    worth = {}
    for action in state.legal_actions():
        dealt = [state_after(tree.game, (2, other, action)) for other in (0, 1)]
        worth[action] = sum(0.5 * policy_value(each, [uniform, model])[0] for each in dealt)
    assert found[max(worth, key=worth.__getitem__)] == pytest.approx(1.0)


def test_leduc_against_an_opponent_who_errs_late():
    tree = GameTree.from_game("leduc_poker")
    limit, p, effort = DepthLimit(plies=3), 0.3, Effort(2000, 1e-5)
    equilibrium = solve_zero_sum_game(tree)[2]
    model = opponent_models.errs_beyond(tree, limit, equilibrium, ArrayPolicy.uniform(tree))
    gains = []
    for response in (
        ABDPolicy(tree, 0, model, limit, p=p, effort=effort),
        CDRNRPolicy(tree, 0, model, limit, p=p, scheme="sliding", effort=effort),
        RNRPolicy(tree, 0, model, p=p, effort=effort),
    ):
        found = response.to_array_policy()
        gain, exploitable = checks.gain_and_exploitability(tree, found, model)
        gains.append((gain, p * gain - (1 - p) * exploitable))
    (abd, abd_goal), (cdrnr, cdrnr_goal), (_, best) = gains
    assert abd > 2 * cdrnr
    assert cdrnr_goal < abd_goal <= best + 1e-4
    assert abd_goal > 0.95 * best


def test_portfolios_of_another_player_model_or_game_are_refused():
    """The restricted game takes the first of `others` for the model behind the depth limit."""
    tree = GameTree.from_game("kuhn_poker")
    model, limit = checks.random_model(tree, seed=4), DepthLimit(moves=1)
    uniform = ArrayPolicy.uniform(tree)
    right = portfolios.by_hand(tree, 0, model, [uniform], [uniform])
    ABDPolicy(tree, 0, model, limit, p=0.5, portfolios=right).to_array_policy()
    leduc = ArrayPolicy.uniform("leduc_poker")
    wrong = {
        r"others\[0\] is not the model, .*; make them by policies\.portfolios\.by_hand": (
            right._replace(others=right.others[::-1])
        ),
        "the portfolios are player 1's, but player 0 responds; make them by": (
            portfolios.by_hand(tree, 1, model, [uniform])
        ),
        r"own has shape \(1, 4\), .* player 0's 13 sequences in kuhn_poker": (
            right._replace(own=right.own[:, :4])
        ),
        r"own has shape \(0, 13\)": right._replace(own=right.own[:0]),
        r"others has shape \(13,\), .* player 1's 13 sequences": (
            right._replace(others=right.others[0])
        ),
        r"own has shape \(1, \d+\), .* in kuhn_poker": (
            portfolios.by_hand(leduc.tree, 0, leduc, [leduc])
        ),
    }
    with pytest.raises(ValueError, match="own is empty"):
        portfolios.by_hand(tree, 0, model, [])
    for message, given in wrong.items():
        with pytest.raises(ValueError, match=message):
            ABDPolicy(tree, 0, model, limit, p=0.5, portfolios=given)


@pytest.mark.parametrize("player", [0, 1])
def test_a_pair_of_choices_is_worth_what_two_policies_earn(player):
    """One policy above the leaves, the chosen ones below: judged as whole policies."""
    tree, limit = GameTree.from_game("leduc_poker"), DepthLimit(plies=2)
    policies = [opponent_models.random_policy(tree, seed) for seed in range(4)]
    given = portfolios.by_hand(tree, player, policies[0], policies[1:3], policies[3:])
    trunk = cut(tree, limit)
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
        expected = exploitability.expected_value(
            tree, opponent_models.errs_beyond(tree, limit, policies[0], below)
        )
        plans = []
        for who, choice, treeplex in zip(order, (j, k), form.treeplexes, strict=True):
            strategy = np.zeros(treeplex.num_sequences)
            above = policies[0].strategies[who][trunk.sequences[who]]
            strategy[: len(above)] = above
            strategy[len(above) + choice :: 2] = 1.0
            plans.append(realization_plan(treeplex, strategy))
        found = expected_value(form, (plans[0], plans[1]))
        assert found == pytest.approx(expected if player == 0 else -expected, abs=1e-12)
