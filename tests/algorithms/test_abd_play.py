"""ABD along the game that is played: against exact values of the compiled game."""

import numpy as np
import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.algorithms.abd_play import ABDPlayPolicy, PortfolioConfig
from spiel_dl.games.features import num_features
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.policies.late_policy import LatePolicy
from spiel_dl.policies.network_policy import NetworkPolicy
from spiel_dl.policies.policy_network import PolicyNetwork
from spiel_dl.policies.small_policies import UniformPolicy
from spiel_dl.search.policy_rows import rows_of
from spiel_dl.search.rollout_values import ByRollouts
from spiel_dl.search.spec import Root
from spiel_dl.solvers.effort import Effort
from spiel_dl.solvers.history_values import history_values
from spiel_dl.tree.depth_limit import DepthLimit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.particles import Particles
from spiel_dl.tree.sparse_tree import sparse_trunk

GAME = load_turn_based("python_goofspiel_ii(num_cards=4,points_order=descending)")
LIMIT = DepthLimit(moves=1)


def network(seed: int) -> NetworkPolicy:
    """An untrained one with large logits."""
    sizes = num_features(GAME), GAME.num_distinct_actions()
    made = PolicyNetwork(*sizes, (16,))
    return NetworkPolicy(GAME, made, 5 * made.initial_parameters(seed=seed))


OWN, ABOVE = network(1), network(2)
UNIFORM = UniformPolicy(GAME, [0, 1])
MODEL = LatePolicy(ABOVE, UNIFORM, 1)


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return GameTree.from_game(GAME)


def in_all_infosets(tree: GameTree, policy) -> ArrayPolicy:
    return ArrayPolicy.from_policy(tree, policy)


def test_a_late_policy_is_the_one_of_compiled_games(tree):
    first, second = (in_all_infosets(tree, each) for each in (ABOVE, UNIFORM))
    expected = opponent_models.errs_beyond(tree, DepthLimit(rounds=1), first, second)
    found = in_all_infosets(tree, MODEL)
    for player in (0, 1):
        np.testing.assert_allclose(found.strategies[player], expected.strategies[player], atol=1e-6)
    rows = rows_of(GAME.rules, MODEL)
    for history in tree.first_history[1][:40].tolist():
        state = tree.state(history)
        answer = MODEL.action_probabilities(state)
        assert rows(state.batch, 1)[0, list(answer)] == pytest.approx(
            list(answer.values()), abs=1e-6
        )


@pytest.mark.parametrize("player", [0, 1])
def test_sampled_matrices_are_exact_ones_on_average(tree, player):
    own, others = (OWN, UNIFORM), (MODEL, ABOVE)
    rows = [[rows_of(GAME.rules, each) for each in side] for side in (own, others)]
    trunk = sparse_trunk(Particles.of_public_state(GAME.new_initial_state()), LIMIT)
    leaves = trunk.leaves
    num_rollouts = 4 * len(leaves.histories) * 2500
    values = ByRollouts(GAME.rules, *rows, num_rollouts=num_rollouts, seed=3)
    found = values(Root(trunk, player, (np.ones(1), np.ones(1))))
    strategies = [
        [in_all_infosets(tree, each).strategies[who] for each in side]
        for who, side in ((player, own), (1 - player, others))
    ]
    actions = leaves.tree.action[leaves.histories]
    histories = [int(tree.first_child[0] + action) for action in actions]
    for j, each in enumerate(strategies[0]):
        exact = history_values(tree, player, each, np.stack(strategies[1]))[histories]
        # Utilities are differences of points, of which there are 10.
        np.testing.assert_allclose(found[:, j], exact, atol=5 * 10 / 2500**0.5)


def action_values(tree: GameTree, player: int, infoset: int) -> np.ndarray:
    """What actions are worth in an infoset if OWN goes on against MODEL: float64 [A]."""
    own, model = (in_all_infosets(tree, each) for each in (OWN, MODEL))
    values = history_values(
        tree, player, own.strategies[player], model.strategies[1 - player][None]
    )[:, 0]
    reach = np.ones(tree.num_histories)
    for history in range(1, tree.num_histories):
        parent = tree.parent[history]
        moved = tree.player[parent] == 1 - player
        step = model.strategies[1 - player][tree.sequence[1 - player, history]] if moved else 1.0
        reach[history] = reach[parent] * step
    reach *= tree.chance_reach
    here = np.flatnonzero((tree.infoset == infoset) & (tree.player == player))
    found = sum(
        reach[h] * values[tree.first_child[h] : tree.first_child[h] + tree.num_children[h]]
        for h in here
    )
    return found / reach[here].sum()


@pytest.mark.parametrize("player", [0, 1])
def test_who_follows_the_model_for_certain_is_responded_to_by_the_best_action(tree, player):
    """One move ahead of OWN, against the model alone: the action of the largest exact value."""
    seen = 0
    for infoset in range(1, tree.num_infosets(player), 7):
        values = np.sort(action_values(tree, player, infoset))
        if len(values) < 2 or values[-1] - values[-2] < 0.5:
            continue
        history = int(tree.first_history[player][infoset])
        # On the way nothing is searched, so that the player comes here.
        config = PortfolioConfig(
            p=1.0, num_rollouts=6000, budget=500, first_round=int(tree.rounds_over[history])
        )
        policy = ABDPlayPolicy(GAME, MODEL, [OWN], LIMIT, config=config)
        answer = policy.action_probabilities(tree.state(history))
        assert policy.answer_was_searched
        best = int(np.argmax(action_values(tree, player, infoset)))
        assert list(answer.values())[best] > 0.99
        seen += 1
        if seen == 4:
            break
    assert seen >= 2


def test_answers_depend_on_nothing_hidden_and_on_nothing_before(tree):
    config = PortfolioConfig(p=0.5, num_rollouts=300, budget=6)
    policies = [
        ABDPlayPolicy(GAME, MODEL, [OWN, UNIFORM], LIMIT, others=[ABOVE], config=config)
        for _ in range(2)
    ]
    sizes = np.bincount(tree.infoset[tree.player == 1])
    histories = np.flatnonzero((tree.player == 1) & (tree.infoset == int(np.argmax(sizes))))
    first, last = (tree.state(int(histories[i])) for i in (0, -1))
    policies[1].action_probabilities(tree.state(int(tree.first_history[1][0])))
    answers = [policies[0].action_probabilities(first), policies[1].action_probabilities(last)]
    assert answers[0] == answers[1]
    assert sum(answers[0].values()) == pytest.approx(1.0)


def test_searches_are_made_from_a_round_on(tree):
    config = PortfolioConfig(num_rollouts=50, budget=4, first_round=1)
    policy = ABDPlayPolicy(GAME, MODEL, [OWN], LIMIT, config=config)
    searched = {}
    for infoset in range(tree.num_infosets(0)):
        history = int(tree.first_history[0][infoset])
        now = int(tree.rounds_over[history])
        if tree.num_children[history] < 2 or now in searched:
            continue
        state = tree.state(history)
        answer = policy.action_probabilities(state)
        searched[now] = policy.answer_was_searched
        if not policy.answer_was_searched:
            expected = OWN.action_probabilities(state)
            assert list(answer.values()) == pytest.approx(list(expected.values()), abs=1e-6)
    assert searched == {0: False, 1: True, 2: True}


def test_searches_that_end_above_their_tolerance_are_counted():
    state, counts = GAME.new_initial_state(), []
    for effort in (Effort(2, tolerance=1e-9), Effort(2, tolerance=1e3), Effort(2)):
        config = PortfolioConfig(num_rollouts=50, budget=4, effort=effort)
        policy = ABDPlayPolicy(GAME, MODEL, [OWN, UNIFORM], LIMIT, others=[ABOVE], config=config)
        policy.action_probabilities(state)
        assert policy.num_searches == 1
        counts.append(policy.num_unfinished)
    assert counts == [1, 0, 0]


class Asked(openspiel_policy.Policy):
    """Answers one state at a time."""


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="max_kept=0 must be at least 1"):
        ABDPlayPolicy(GAME, MODEL, [OWN], LIMIT, max_kept=0)
    with pytest.raises(ValueError, match="portfolios of 0 and 1 strategies"):
        ABDPlayPolicy(GAME, MODEL, [], LIMIT)
    with pytest.raises(ValueError, match="Asked does not answer many states"):
        ABDPlayPolicy(GAME, Asked(GAME, [0, 1]), [OWN], LIMIT)
    with pytest.raises(ValueError, match="first of `own` must be"):
        ABDPlayPolicy(GAME, MODEL, [MODEL], LIMIT)
    with pytest.raises(ValueError, match="has no Rules"):
        ABDPlayPolicy("kuhn_poker", MODEL, [OWN], LIMIT)
    with pytest.raises(ValueError, match="num_rounds=-1"):
        LatePolicy(OWN, UNIFORM, -1)
    for wrong in ({"p": 1.5}, {"budget": 1}, {"num_rollouts": 0}, {"first_round": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            PortfolioConfig(**wrong)
