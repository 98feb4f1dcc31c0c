"""v-trace of histories in expectation over all games, against exact values."""

from __future__ import annotations

import functools
import itertools
from typing import NamedTuple

import numpy as np
import pytest
import torch

from spiel_dl.learning.critics import ExactCritic
from spiel_dl.learning.history_vtrace import history_v_trace, transformation_ratios
from spiel_dl.learning.transformations import (
    PolicyTransformations,
    action_values,
    paper_transformations,
)
from spiel_dl.tree import GameTree
from tests.learning.learner_checks import games_of
from tests.untrained_blueprints import random_table

GAMES = ["kuhn_poker", "python_goofspiel_ii(num_cards=3,points_order=random)"]


class AllGames(NamedTuple):
    """Every terminal history of a game as a trajectory (column), with its probability.

    Attributes:
      history: int64 [T, B], before each move; 0 behind the last.
      reach: float64 [B], by chance and the behaviour policy.
      ratio: float64 [T, B, 2, K].
      valid, reward: as in `history_v_trace`.
    """

    history: np.ndarray
    reach: np.ndarray
    ratio: torch.Tensor
    valid: torch.Tensor
    reward: torch.Tensor


def all_games(tree: GameTree, blueprint, behaviour, transformations) -> AllGames:
    ends = np.flatnonzero(tree.is_terminal)
    num_steps, num_actions = int(tree.move_number.max()), tree.game.num_distinct_actions()
    history = np.zeros((num_steps, len(ends)), np.int64)
    policy = np.zeros((num_steps, len(ends), num_actions))
    acting, legal = policy.copy(), np.zeros(policy.shape, bool)
    action, player = np.zeros(history.shape, np.int64), np.zeros(history.shape, np.int8)
    reward, valid = np.zeros(history.shape), np.zeros(history.shape, bool)
    reach = tree.chance_reach[ends].copy()
    legal[:], policy[:], acting[:] = True, 1 / num_actions, 1 / num_actions
    for column, end in enumerate(ends.tolist()):
        path = [end]
        while path[-1] > 0:
            path.append(int(tree.parent[path[-1]]))
        path = path[::-1]
        step = 0
        for before, after in itertools.pairwise(path):
            mover = int(tree.player[before])
            if mover < 0:
                continue
            own = tree.treeplexes[mover].sequences(int(tree.infoset[before]))
            actions = tree.legal_actions(mover, int(tree.infoset[before]))
            here = (step, column)
            for array, strategies in ((policy, blueprint), (acting, behaviour)):
                array[here] = 0.0
                array[here][actions] = strategies[mover][own]
            legal[here] = False
            legal[here][actions] = True
            history[here], action[here], player[here] = before, tree.action[after], mover
            valid[here] = True
            reach[column] *= acting[here][tree.action[after]]
            step += 1
        reward[step - 1, column] = tree.utility[end]
    rows = (torch.from_numpy(array).flatten(0, 1) for array in (policy, legal))
    transformed = transformations.apply(*rows)
    games = games_of(
        behaviour=torch.from_numpy(acting),
        action=torch.from_numpy(action),
        player=torch.from_numpy(player),
        valid=torch.from_numpy(valid),
    )
    ratio = transformation_ratios(transformed, games)
    return AllGames(history, reach, ratio, torch.from_numpy(valid), torch.from_numpy(reward))


def expected_targets(tree: GameTree, games: AllGames, values: np.ndarray, **bounds) -> np.ndarray:
    """The mean target of every history (values: float64 [H, 2, K])."""
    targets = history_v_trace(
        value=torch.from_numpy(values[games.history]),
        ratio=games.ratio,
        valid=games.valid,
        reward=games.reward,
        **bounds,
    ).numpy()
    valid = games.valid.numpy()
    weight = np.broadcast_to(games.reach, valid.shape)[valid]
    rows = games.history[valid]
    total = np.zeros_like(values)
    np.add.at(total, rows, weight[:, None, None] * targets[valid])
    mass = np.bincount(rows, weight, minlength=len(values))
    seen = mass > 0
    assert seen.sum() == (tree.player >= 0).sum()
    return np.where(seen[:, None, None], total / np.where(seen, mass, 1.0)[:, None, None], 0.0)


@functools.cache
def setting(game: str) -> tuple[GameTree, PolicyTransformations, np.ndarray, AllGames]:
    tree = GameTree.from_game(game)
    blueprint, behaviour = (
        random_table(tree, seed, 0.0, 0.0, uniform_share=0.2).strategies for seed in (1, 2)
    )
    transformations = paper_transformations(action_values(tree.game))
    critic = ExactCritic(tree, blueprint, transformations)
    everything = np.arange(tree.num_histories)
    exact = np.stack([critic.values(tree, everything, player) for player in (0, 1)], axis=1)
    exact[tree.player < 0] = 0.0
    return tree, transformations, exact, all_games(tree, blueprint, behaviour, transformations)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("c_bar", [0.3, 1.0, np.inf])
def test_exact_values_are_a_fixed_point(game, c_bar):
    tree, _, exact, games = setting(game)
    found = expected_targets(tree, games, exact, c_bar=c_bar)
    np.testing.assert_allclose(found, exact, atol=1e-12)


@pytest.mark.parametrize("game", GAMES)
def test_repeated_from_nothing_it_finds_the_exact_values(game):
    """The behaviour policy is neither the blueprint nor one of its transformations."""
    tree, _, exact, games = setting(game)
    values = np.zeros_like(exact)
    for _ in range(tree.move_number.max() + 1):
        values = expected_targets(tree, games, values)
    np.testing.assert_allclose(values, exact, atol=1e-12)


def test_what_follows_a_game_is_ignored():
    generator = torch.Generator().manual_seed(3)
    value = torch.rand((4, 1, 2, 3), generator=generator)
    ratio = torch.rand((4, 1, 2, 3), generator=generator)
    valid = torch.tensor([[True], [True], [False], [False]])
    reward = torch.tensor([[0.0], [2.0], [0.0], [0.0]])
    found = history_v_trace(value=value, ratio=ratio, valid=valid, reward=reward)
    short = history_v_trace(value=value[:2], ratio=ratio[:2], valid=valid[:2], reward=reward[:2])
    torch.testing.assert_close(found[:2], short, rtol=1e-6, atol=1e-6)
    # By hand, for the last move: v + rho (r - v).
    sign = torch.tensor([1.0, -1.0])[:, None]
    last = value[1, 0] + ratio[1, 0] * (2 * sign - value[1, 0])
    torch.testing.assert_close(short[1, 0], last)
