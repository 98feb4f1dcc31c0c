"""Opponents against OpenSpiel's CFR, and estimates against counts in dictionaries."""

from __future__ import annotations

import collections

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import cfr as openspiel_cfr

from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import ArrayPolicy
from spiel_dl.tree import DepthLimit, GameTree
from spiel_dl.tree.load import compile_game


def test_few_iterations_are_those_of_openspiel() -> None:
    iterations = 2
    game = pyspiel.load_game("leduc_poker")
    solver = openspiel_cfr.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    tree = GameTree.from_game(game)
    for found, expected in (
        (opponent_models.cfr_average(tree, iterations), solver.average_policy()),
        (opponent_models.cfr_last(tree, iterations), solver.current_policy()),
    ):
        reference = ArrayPolicy.from_policy(tree, expected)
        for player in (0, 1):
            np.testing.assert_allclose(
                found.strategies[player], reference.strategies[player], atol=1e-12
            )


def test_random_policies_are_uniform_on_the_simplex() -> None:
    """The probability of one of n actions has mean 1 / n and variance (n - 1) / (n^2 (n + 1))."""
    tree = compile_game("liars_dice(numdice=1,dice_sides=4)")
    policies = [opponent_models.random_policy(tree, seed) for seed in range(20)]
    treeplex = tree.treeplexes[0]
    for number in (2, 5):
        wanted = np.flatnonzero(treeplex.num_actions == number)
        first = treeplex.first_sequence[wanted]
        drawn = np.concatenate([policy.strategies[0][first] for policy in policies])
        assert len(drawn) > 100
        variance = (number - 1) / (number**2 * (number + 1))
        assert abs(drawn.mean() - 1 / number) < 4 * np.sqrt(variance / len(drawn))
        assert drawn.var() == pytest.approx(variance, rel=0.25)
    sums = treeplex.sum_per_infoset(policies[0].strategies[0])
    np.testing.assert_allclose(sums, 1.0, atol=1e-12)
    again = opponent_models.random_policy(tree, 0)
    np.testing.assert_array_equal(again.strategies[0], policies[0].strategies[0])
    assert (policies[0].strategies[0] != policies[1].strategies[0]).any()


def test_who_errs_late_plays_one_policy_above_the_limit_and_another_below() -> None:
    tree = compile_game("kuhn_poker")
    above, below = (opponent_models.random_policy(tree, seed) for seed in (0, 1))
    found = opponent_models.errs_beyond(tree, DepthLimit(moves=1), above, below)
    for player in (0, 1):
        for infoset in range(tree.num_infosets(player)):
            history = int(tree.first_history[player][infoset])
            moves = len(tree.state(history).history()) - 2
            expected = (below if moves >= 1 else above).strategies[player]
            own = tree.treeplexes[player].sequences(infoset)
            np.testing.assert_array_equal(found.strategies[player][own], expected[own])
    with pytest.raises(ValueError, match="rounds"):
        opponent_models.errs_beyond(tree, DepthLimit(rounds=1), above, below)


def play(game: pyspiel.Game, num_episodes: int, seed: int) -> list[pyspiel.State]:
    """Finished episodes of uniformly random play."""
    generator = np.random.default_rng(seed)
    finished = []
    for _ in range(num_episodes):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(generator.choice(state.legal_actions())))
        finished.append(state)
    return finished


@pytest.mark.parametrize("opponent", [0, 1])
def test_counts_and_posterior_means_by_dictionaries(opponent: int) -> None:
    game = pyspiel.load_game("leduc_poker")
    tree = GameTree.from_game(game)
    prior = opponent_models.random_policy(tree, 5)
    estimate = opponent_models.OpponentEstimate(tree, opponent, prior, prior_weight=2.5)
    counts: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for episode in play(game, 60, seed=1):
        estimate.observe_actions(episode.history())
        state = game.new_initial_state()
        for action in episode.history():
            if state.current_player() == opponent:
                counts[state.information_state_string()][action] += 1
            state.apply_action(action)
    policy, visits, trust = estimate.policy(), estimate.visits(), estimate.trust(0.9, 20)
    for infoset in range(tree.num_infosets(opponent)):
        seen = counts[tree.infoset_string(opponent, infoset)]
        own = tree.treeplexes[opponent].sequences(infoset)
        before = prior.strategies[opponent][own]
        actions = tree.legal_actions(opponent, infoset).tolist()
        expected = [
            (seen[action] + 2.5 * before[i]) / (seen.total() + 2.5)
            for i, action in enumerate(actions)
        ]
        np.testing.assert_allclose(policy.strategies[opponent][own], expected, atol=1e-12)
        assert visits[infoset] == seen.total()
        assert trust[infoset] == pytest.approx(0.9 * min(seen.total() / 20, 1.0))
    assert len(set(trust.tolist())) > 2
    np.testing.assert_array_equal(policy.strategies[1 - opponent], prior.strategies[1 - opponent])


def test_many_episodes_at_once_count_like_one_after_the_other() -> None:
    tree = compile_game("leduc_poker")
    generator = np.random.default_rng(0)
    terminals = generator.choice(np.flatnonzero(tree.is_terminal), 50)
    together, apart = (opponent_models.OpponentEstimate(tree, 1) for _ in range(2))
    together.observe(terminals)
    for terminal in terminals:
        apart.observe(np.array([terminal]))
    np.testing.assert_array_equal(together.counts, apart.counts)
    assert together.counts[0] == 50


def test_episodes_of_simultaneous_games() -> None:
    game = pyspiel.load_game("goofspiel(imp_info=true,num_cards=3,points_order=descending)")
    estimate = opponent_models.OpponentEstimate(game, 1)
    estimate.observe_actions([0, 2, 1, 1])
    assert estimate.visits().sum() == 2
    first = int(np.flatnonzero(estimate.visits())[0])
    own = estimate.tree.treeplexes[1].sequences(first)
    np.testing.assert_array_equal(estimate.counts[own], [0, 0, 1])


def test_wrong_input_is_refused() -> None:
    tree = compile_game("kuhn_poker")
    with pytest.raises(ValueError, match="player=2 must be 0 or 1"):
        opponent_models.OpponentEstimate(tree, 2)
    with pytest.raises(ValueError, match=r"prior_weight=0\.0 must be a positive number"):
        opponent_models.OpponentEstimate(tree, 0, prior_weight=0.0)
    estimate = opponent_models.OpponentEstimate(tree, 0)
    with pytest.raises(ValueError, match=r"\[0, 0\] is no history of kuhn_poker"):
        estimate.observe_actions([0, 0])
    with pytest.raises(ValueError, match=r"most=1\.5 must be between 0 and 1"):
        estimate.trust(1.5)
