"""Policies in all infosets: one strategy, however they are asked."""

import numpy as np
import pyspiel
import pytest
import torch
from open_spiel.python import policy as openspiel_policy

import spiel_dl as dl
from spiel_dl import GameTree, random_policy
from spiel_dl.factored.families import factored_game
from spiel_dl.policies.array_policy import read_strategy
from spiel_dl.tree.factored_game import FactoredGame
from tests.reference import ByHand
from tests.untrained_blueprints import network_policy

GAME = "dark_hex(num_rows=2,num_cols=2)"


@pytest.fixture(scope="module")
def game() -> FactoredGame:
    return factored_game(GAME)


def by_state(policy: openspiel_policy.Policy) -> openspiel_policy.Policy:
    """Another policy, without its other methods."""
    return ByHand(policy.game, policy.action_probabilities)


@pytest.mark.parametrize("name", ["leduc_poker", "python_liars_dice(dice_sides=2)", GAME])
def test_networks_are_asked_in_batches_and_say_the_same(name: str) -> None:
    tree = factored_game(name) if name == GAME else GameTree.from_game(name)
    policy = network_policy(tree.game)
    for player in (0, 1):
        at_once = read_strategy(tree, policy, player)
        one_by_one = read_strategy(tree, by_state(policy), player)
        np.testing.assert_allclose(at_once, one_by_one, atol=1e-5)
        assert at_once.std() > 0.1  # Not uniform, which would hide an order of infosets.


def test_a_policy_is_read_state_by_state(game: FactoredGame) -> None:
    policy = random_policy(game, 0)
    for player in (0, 1):
        found = read_strategy(game, by_state(policy), player)
        np.testing.assert_array_equal(found, policy.strategies[player])


def test_a_policy_that_counts_the_opponents_failures_is_refused(game: FactoredGame) -> None:
    """It plays by the length of the history, which dark hex's strings tell."""

    def answer(state: pyspiel.State, _: int | None) -> dict[int, float]:
        actions = state.legal_actions()
        chosen = actions[len(state.history()) % len(actions)]
        return {action: float(action == chosen) for action in actions}

    with pytest.raises(
        ValueError, match=r"ByHand plays .*which player \d cannot tell apart in dark_hex"
    ):
        dl.exploitability(game, ByHand(game.game, answer))


class Answers(openspiel_policy.Policy):
    """Answers batches with a constant."""

    def __init__(self, game: pyspiel.Game, answer: torch.Tensor):
        super().__init__(game, [0, 1])
        self._answer = answer

    def act(self, tensors: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        del tensors
        return self._answer.expand(len(legal), -1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1 / 4] * 4, "is not a distribution over the legal actions"),
        ([1.0] * 5, r"for .* infosets and actions of dark_hex.* with an array of shape"),
    ],
)
def test_answers_that_are_no_policy_are_refused(
    game: FactoredGame, answer: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_strategy(game, Answers(game.game, torch.tensor(answer)), 0)


def test_what_needs_a_list_of_histories_says_so(game: FactoredGame) -> None:
    with pytest.raises(ValueError, match="too many to list, which is needed here"):
        dl.compile_game(game)
    with pytest.raises(ValueError, match="OpenSpiel's tables would list all its histories"):
        random_policy(game, 0).to_tabular()
