"""Compiled loops against the same in torch, which other devices use; chance against frequencies."""

import numpy as np
import pytest
import torch

from spiel_dl.learning import kernels
from spiel_dl.learning.self_play import sampled
from spiel_dl.learning.tree_environment import TreeEnvironment, play_chance
from spiel_dl.tree import GameTree


def test_chance_is_played_alike_on_all_devices() -> None:
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=3,points_order=random)")
    environment = TreeEnvironment(tree, 1)
    history = torch.arange(tree.num_histories).repeat(20)
    uniform = torch.rand((len(history), 2), dtype=torch.float64, generator=torch.manual_seed(0))
    found = play_chance(history, uniform, *environment.chance)
    arrays = (x.numpy() for x in (history, uniform, *environment.chance))
    assert torch.equal(found, torch.from_numpy(kernels.play_chance(*arrays)))
    is_chance = environment.chance[0][history] > 0
    assert found[~is_chance].equal(history[~is_chance])
    assert (found != history)[is_chance].all()


def test_chance_events_have_their_probabilities() -> None:
    """The two deals of Kuhn poker: six hands, equally likely."""
    tree = GameTree.from_game("kuhn_poker")
    environment = TreeEnvironment(tree, 1)
    uniform = np.random.default_rng(0).random((12_000, 2))
    chance = [table.numpy() for table in environment.chance]
    after = kernels.play_chance(np.zeros(len(uniform), np.int64), uniform, *chance)
    hands, counts = np.unique(after, return_counts=True)
    assert (tree.player[hands] == 0).all()
    assert len(hands) == 6
    np.testing.assert_allclose(counts / len(uniform), 1 / 6, atol=0.015)


def test_a_move_goes_to_the_first_action_whose_sum_exceeds_the_threshold() -> None:
    """By hand: of probabilities 0.2 and 0.8, a threshold of 0.1 takes the first, 0.3 the second."""
    behaviour = np.array([[[0.2, 0.8], [0.2, 0.8], [0.0, 1.0]]], np.float32)
    threshold = np.array([[0.1, 0.3, 0.0]])
    action = np.zeros((1, 3), np.int64)
    history, infoset = np.zeros((2, 3), np.int64), np.zeros((2, 3), np.int64)
    history[0] = [0, 1, 2]
    successor = np.array([3, 4, 5, 6, 7, 8])
    infoset_row = 10 + np.arange(9)
    no_chance = np.zeros(9, np.int64), np.full((1, 1), 2.0), np.zeros((1, 1), np.int64)
    uniform = np.zeros((1, 3, 1))
    kernels.play_move(
        0,
        behaviour,
        threshold,
        uniform,
        action,
        history,
        infoset,
        np.ones((1, 2), np.bool_),
        successor,
        infoset_row,
        *no_chance,
    )
    assert action[0].tolist() == [0, 1, 1]
    assert history[1].tolist() == [3, 6, 8]
    assert infoset[1].tolist() == [13, 16, 18]


def test_actions_are_sampled_alike_on_all_devices() -> None:
    generator = torch.manual_seed(0)
    probabilities = torch.rand((1, 5000, 6), generator=generator)
    probabilities *= torch.rand(probabilities.shape, generator=generator) < 0.5
    probabilities[..., 3] += 0.1
    threshold = torch.rand((1, 5000), dtype=torch.float64, generator=generator)
    threshold[0, :2] = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    legal = torch.ones((1, 6), dtype=torch.bool)
    found = sampled(probabilities[0], legal, threshold[0])
    assert (probabilities[0, torch.arange(5000), found] > 0).all()
    check_moves(probabilities, legal, threshold, found)


def test_where_probabilities_are_no_numbers_the_first_legal_action_is_made() -> None:
    probabilities = torch.full((1, 4, 6), 0.2)
    probabilities[0, :2, 4] = torch.nan
    probabilities[0, 2, :] = torch.nan
    probabilities[0, 3, 0] = torch.inf
    threshold = torch.tensor([[0.0, 0.9, 0.5, 0.0]], dtype=torch.float64)
    legal = torch.tensor([[False, False, True, False, True, True]])
    found = sampled(probabilities[0], legal, threshold[0])
    assert found.tolist() == [2, 2, 2, 2]
    check_moves(probabilities, legal, threshold, found)


def check_moves(
    probabilities: torch.Tensor,
    legal: torch.Tensor,
    threshold: torch.Tensor,
    expected: torch.Tensor,
) -> None:
    """`play_move` chooses as expected, from one infoset in all games."""
    size = len(expected)
    action, history = torch.zeros((1, size), dtype=torch.int64), torch.zeros((2, size)).long()
    tables = [torch.zeros(size, dtype=torch.int64) for size in (6, 1, 1)]
    arrays = (
        probabilities, threshold, torch.zeros((1, size, 0)), action, history, history, legal,
        *tables, torch.full((1, 1), 2.0), torch.zeros((1, 1)).long(),
    )  # fmt: skip
    kernels.play_move(0, *(x.numpy() for x in arrays))
    assert torch.equal(action[0], expected)


def test_actions_have_their_probabilities() -> None:
    probabilities = torch.tensor([0.5, 0.0, 0.2, 0.3])
    threshold = torch.rand(40_000, dtype=torch.float64, generator=torch.manual_seed(0))
    shape = (len(threshold), -1)
    found = sampled(probabilities.expand(shape), (probabilities > 0).expand(shape), threshold)
    frequencies = found.bincount(minlength=4) / len(threshold)
    torch.testing.assert_close(frequencies, probabilities, atol=0.01, rtol=0)


@pytest.mark.parametrize("c_bar", [0.0, 1.0])
def test_with_one_mover_targets_are_those_of_td_lambda(c_bar: float) -> None:
    """On policy, player 0 alone: c_bar is lambda, and rewards come at every move."""
    generator = np.random.default_rng(3)
    value, reward = generator.random((4, 5)), generator.random((4, 5))
    ones, zeros = np.ones((4, 5)), np.zeros((4, 5))
    target, _ = kernels.go_back(
        value, ones, zeros, reward, np.zeros((4, 5), np.int8), ones.astype(bool), c_bar, np.inf
    )
    expected, after, next_value = np.zeros((4, 5)), np.zeros(5), np.zeros(5)
    for t in reversed(range(4)):
        expected[t] = reward[t] + next_value + c_bar * (after - next_value)
        after, next_value = expected[t], value[t]
    np.testing.assert_allclose(target, expected)
