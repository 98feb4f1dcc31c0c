"""Mixtures of policies: what is linear, what is bounded, and why nodes must not be mixed."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl import ArrayPolicy, GameTree, compile_game, mix_policies
from spiel_dl.algorithms import best_response, exploitability, sequence_form_lp
from spiel_dl.factored.families import factored_game
from spiel_dl.policies import opponent_models
from spiel_dl.policies.array_policy import read_plan
from spiel_dl.tree.factored_game import FactoredGame


@pytest.mark.parametrize("player", [0, 1])
def test_gain_is_linear_and_exploitability_bounded(player: int) -> None:
    tree = compile_game("kuhn_poker")
    model = opponent_models.random_policy(tree, 1)
    best = best_response.best_response_policy(tree, model, player)
    safe = sequence_form_lp.solve_zero_sum_game(tree)[2]
    gains = [exploitability.gain(tree, policy, model, player) for policy in (safe, best)]
    lost = [exploitability.player_exploitability(tree, policy, player) for policy in (safe, best)]
    assert gains[0] < gains[1]
    for p in (0.0, 0.3, 0.75, 1.0):
        mixed = mix_policies(tree, [safe, best], [1 - p, p])
        assert exploitability.gain(tree, mixed, model, player) == pytest.approx(
            (1 - p) * gains[0] + p * gains[1], abs=1e-12
        )
        assert (
            exploitability.player_exploitability(tree, mixed, player)
            <= (1 - p) * lost[0] + p * lost[1] + 1e-12
        )


def test_weights_of_matching_pennies_by_hand() -> None:
    """Player 0 keeps to what was drawn: after one third it has played the second part's action."""
    tree = GameTree.from_game("matrix_mp")
    heads, tails = (np.array([1.0, *row]) for row in ([1.0, 0.0], [0.0, 1.0]))
    policies = [ArrayPolicy(tree, (heads, tails)), ArrayPolicy(tree, (tails, tails))]
    mixed = mix_policies(tree, policies, [2 / 3, 1 / 3])
    np.testing.assert_allclose(mixed.strategies[0], [1, 2 / 3, 1 / 3], atol=1e-15)
    np.testing.assert_allclose(mixed.strategies[1], [1, 0, 1], atol=1e-15)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0]])
def test_weights_must_be_probabilities(weights: list[float]) -> None:
    policy = ArrayPolicy.uniform(compile_game("kuhn_poker"))
    with pytest.raises(ValueError, match="must be probabilities of the 2 policies"):
        mix_policies("kuhn_poker", [policy, policy], weights)


def test_games_too_large_to_list_are_mixed_in_their_factored_form() -> None:
    """Half of each part's plan, in a game whose list of histories would not end."""
    game = factored_game("liars_dice(numdice=1,dice_sides=3)")
    parts = [opponent_models.random_policy(game, seed) for seed in (0, 1)]
    mixed = mix_policies(game, parts, [0.5, 0.5])
    assert mixed.tree is game
    for player in (0, 1):
        first, second, both = (read_plan(game, each, player) for each in (*parts, mixed))
        np.testing.assert_allclose(both, (first + second) / 2, atol=1e-12)
    assert exploitability.expected_value(game, mixed) == pytest.approx(
        np.mean([exploitability.expected_value(game, one, two) for one in parts for two in parts])
    )
    large = "liars_dice(numdice=1,dice_sides=8)"
    uniform = ArrayPolicy.uniform(large)
    assert isinstance(mix_policies(large, [uniform, uniform], [0.5, 0.5]).tree, FactoredGame)
