"""Matches whose outcome is known, the luck that their games share, and intervals."""

import numpy as np
import pyspiel
import pytest
import scipy.stats
from open_spiel.python import policy as openspiel_policy

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl import expected_value, load_policy, play_match
from spiel_dl.play.match_results import MatchResult
from spiel_dl.play.matches import parts_of, play_pairs
from spiel_dl.play.tally import Tally
from spiel_dl.policies import opponent_models
from spiel_dl.policies.small_policies import HighestActionPolicy
from tests import reference


def test_the_highest_card_against_itself_always_draws():
    game = pyspiel.load_game("python_goofspiel_ii(num_cards=4,points_order=descending)")
    greedy = HighestActionPolicy(game, [0, 1])
    result = play_match(greedy, greedy, 4, game=game)
    assert (result.num_games, result.mean_return, result.half_width) == (4, 0.0, 0.0)
    for effort in result.times:
        assert effort.num_moves == 12  # all cards but the last, in four games
        assert 0 < effort.seconds_per_move <= effort.slowest


def test_intervals_cover_the_expected_return_about_19_times_in_20():
    game = pyspiel.load_game("kuhn_poker")
    policies = tuple(opponent_models.random_policy("kuhn_poker", seed) for seed in (1, 2))
    swapped = -expected_value(game, *policies[::-1])
    expected = (expected_value(game, *policies) + swapped) / 2
    covered = 0
    for seed in range(50):
        result = MatchResult.of_pairs([play_pairs(game, policies, range(50), seed)])
        covered += abs(result.mean_return - expected) <= result.half_width
    # By the binomial distribution, outside of this with a probability below 1 in 1000.
    assert 41 <= covered <= 50


@pytest.mark.parametrize("game_string", ["leduc_poker", "python_goofspiel_ii(num_cards=4)"])
def test_whoever_plays_itself_draws_in_every_pair(game_string):
    game = pyspiel.load_game(game_string)
    uniform = openspiel_policy.UniformRandomPolicy(game)
    returns = play_pairs(game, (uniform, uniform), range(50), seed=4).returns
    assert (returns.sum(axis=1) == 0).all()
    assert (returns != 0).any()


def test_results_do_not_depend_on_how_pairs_are_shared_out():
    game = pyspiel.load_game("leduc_poker")
    policies = tuple(opponent_models.random_policy("leduc_poker", seed) for seed in (1, 2))
    whole = play_pairs(game, policies, range(30), seed=6).returns
    parts = [play_pairs(game, policies, pairs, seed=6).returns for pairs in parts_of(60, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert (play_pairs(game, policies, range(30), seed=7).returns != whole).any()


@pytest.mark.parametrize(
    ("game_string", "names"),
    [
        ("python_goofspiel_ii(num_cards=4)", ("highest", "uniform")),
        ("python_leduc", ("uniform", "highest")),
        (
            "python_battleships(board_width=3,board_height=3,ship_sizes=[2;2])",
            ("hunter", "uniform"),
        ),
    ],
)
def test_batches_of_states_play_the_same_games(game_string, names):
    """Made by hand, the same policies are asked state by state."""
    game = pyspiel.load_game(game_string)
    policies = tuple(load_policy(name, game) for name in names)
    batched = play_pairs(game, policies, range(3, 20), seed=5)
    states_by_hand = tuple(reference.ByHand(game, each.action_probabilities) for each in policies)
    alone = play_pairs(game, states_by_hand, range(3, 20), seed=5)
    np.testing.assert_array_equal(batched.returns, alone.returns)
    assert len(np.unique(batched.returns)) > 1
    for ours, theirs in zip(batched.times, alone.times, strict=True):
        assert ours.num_moves == theirs.num_moves


@pytest.mark.parametrize("number", [3, 500])
@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 2.0), (1e6, 1e-3), (1e8, 1.0)])
def test_intervals_are_those_of_students_distribution(mean, deviation, number):
    winnings = np.random.default_rng(0).normal(mean, deviation, number)
    tally = Tally.of(winnings)
    error = scipy.stats.sem(winnings)
    low, high = scipy.stats.t.interval(0.95, number - 1, winnings.mean(), error)
    assert tally.mean == pytest.approx(winnings.mean(), rel=1e-12)
    assert tally.half_width == pytest.approx((high - low) / 2, rel=1e-6)
    assert np.isnan(Tally.of(winnings[:1]).half_width)
    assert np.isnan(Tally.of(winnings[:0]).mean)
