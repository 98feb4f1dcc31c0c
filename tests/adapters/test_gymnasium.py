"""The vector view is the batched environment, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("gymnasium")

from spiel_dl.adapters.gymnasium import VectorEnvironment
from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.tree.load import turn_based_game

GAME = "python_goofspiel_ii(num_cards=3)"


def test_it_steps_as_the_batched_environment_does() -> None:
    view = VectorEnvironment(GAME, num_envs=8, seed=5)
    own = BatchedEnvironment(turn_based_game(GAME).rules, 8, seed=5)
    observation, info = view.reset(seed=5)
    ended = 0
    for step in range(20):
        assert view.observation_space.contains(observation)
        np.testing.assert_array_equal(observation, own.features().numpy())
        np.testing.assert_array_equal(info["player"], own.current_player().numpy())
        np.testing.assert_array_equal(info["action_mask"], own.legal_actions().numpy())
        mask = info["action_mask"]
        actions = np.array([np.flatnonzero(row)[step % row.sum()] for row in mask])
        observation, rewards, terminated, truncated, info = view.step(actions)
        finished, returns = own.step(torch.from_numpy(actions))
        np.testing.assert_array_equal(rewards, returns.numpy())
        np.testing.assert_array_equal(terminated, finished.numpy())
        assert not truncated.any()
        ended += terminated.sum()
    assert ended > 8


def test_what_was_known_at_the_end_is_told() -> None:
    """Without chance, OpenSpiel's states play the same games."""
    game = turn_based_game("python_goofspiel_ii(num_cards=3,points_order=descending)")
    view = VectorEnvironment(game, num_envs=3, seed=5)
    _, info = view.reset(seed=5)
    assert "final_obs" not in info
    states = [game.new_initial_state() for _ in range(3)]
    for _ in range(game.max_game_length() + 1):
        actions = np.array([np.flatnonzero(row)[0] for row in info["action_mask"]])
        movers = info["player"]
        for state, action in zip(states, actions.tolist(), strict=True):
            state.apply_action(action)
        _, _, terminated, _, info = view.step(actions)
        if terminated.any():
            break
    assert terminated.all()
    for state, mover, seen in zip(states, movers.tolist(), info["final_obs"], strict=True):
        assert state.is_terminal()
        np.testing.assert_array_equal(seen, game.rules.features(state.batch, mover)[0])
        assert view.single_observation_space.contains(seen)
    for name in ("_final_obs", "_final_info"):
        np.testing.assert_array_equal(info[name], terminated)
    final = info["final_info"]
    assert (final["player"] < 0).all()
    assert not final["action_mask"].any()
    assert (info["player"] >= 0).all()  # of the new games


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="has no Rules"):
        VectorEnvironment("kuhn_poker", num_envs=2)
    for count in (0, 2.5, True):
        with pytest.raises(ValueError, match=f"num_envs={count} must be"):
            VectorEnvironment(GAME, num_envs=count)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed=-1 must be"):
        VectorEnvironment(GAME, num_envs=2, seed=-1)
    with pytest.raises(ValueError, match="device='nowhere' cannot be used"):
        VectorEnvironment(GAME, num_envs=2, device="nowhere")
    view = VectorEnvironment(GAME, num_envs=2)
    with pytest.raises(ValueError, match="seed must be one number"):
        view.reset(seed=[1, 2])
    for seed in (-1, 1.5):
        with pytest.raises(ValueError, match=f"seed={seed} must be"):
            view.reset(seed=seed)  # type: ignore[arg-type]
    view.reset(seed=np.int64(3))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="action 9 is not legal"):
        view.step(np.array([9, 0]))
    for actions in ([0, 0.5], [0.0, 1.0], [True, False], ["0", "1"]):
        with pytest.raises(ValueError, match=r"actions=.* must be integers, not of the type"):
            view.step(np.array(actions))
