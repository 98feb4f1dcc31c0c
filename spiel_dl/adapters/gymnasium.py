"""Batches of self-play games as a vector environment of Gymnasium.

    environment = VectorEnvironment("python_leduc", num_envs=64, seed=0)
    observation, info = environment.reset()
    observation, rewards, terminated, truncated, info = environment.step(actions)

One agent plays both seats: an observation is the mover's, `info["player"]` is the mover, and
`info["action_mask"]` the legal actions. A reward is player 0's return in the game that has ended in
this step; a row whose game ended goes on with a new one in the same step, and `info["final_obs"]`
has its last mover's observation at the end.
Needs `pip install -c constraints.txt -e ".[adapters]"` in the repository.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from spiel_dl.games.environments import BatchedEnvironment
from spiel_dl.games.rules import TERMINAL_PLAYER, StateBatch
from spiel_dl.networks.devices import check_device
from spiel_dl.tree.counts import checked_count
from spiel_dl.tree.load import AnyGame, turn_based_game
from spiel_dl.tree.particles import rules_of


class VectorEnvironment(VectorEnv):
    """A `BatchedEnvironment` with Gymnasium's interface.

    Attributes:
      environment: the games.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, game: AnyGame, num_envs: int, seed: int = 0, device: str = "cpu"):
        """Starts all games.

        Args:
          game: a game with `Rules`; `adapters.pettingzoo` takes others.
          num_envs: number of games that are played at once.
          seed: of chance, until `reset` is given another.
          device: torch device of the games.

        Raises:
          ValueError: if the game has no rules, `num_envs` is no positive integer, `seed` no
            integer or negative, or the device cannot be used.
        """
        self._rules = rules_of(turn_based_game(game))
        self._device = device
        self.num_envs = checked_count("num_envs", num_envs, 1)
        check_device(device)
        self.environment = self._begin(checked_count("seed", seed, 0))
        size = self._rules.num_features
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = spaces.Discrete(self._rules.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins new games in all rows.

        Raises:
          ValueError: if there is a seed for every row: all rows share one random generator; or if
            it is no integer, or negative.
        """
        del options
        if isinstance(seed, list):
            raise ValueError("seed must be one number: all rows have one source of chance")
        if seed is None:
            self.environment.restart()
        else:
            self.environment = self._begin(checked_count("seed", seed, 0))
        return self._observation(), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Makes one move in every game.

        Returns:
          As in Gymnasium, with `final_obs` and `final_info` of the games that ended, each with its
          mask. If chance ended a game, `final_obs` is the observation before that.

        Raises:
          ValueError: if an action is not legal or no integer, or there is not one for every row.
        """
        actions = np.asarray(actions)
        if actions.dtype.kind not in "iu":
            raise ValueError(f"actions={actions} must be integers, not of the type {actions.dtype}")
        moves = torch.as_tensor(actions, dtype=torch.int64, device=self._device)
        before, movers = self.environment.state, self.environment.current_player()
        finished, returns = self.environment.step(moves)
        ended = finished.cpu().numpy()
        info = self._info()
        if ended.any():
            after = self._rules.apply(before.take(finished), moves[finished])
            info |= self._final_info(ended, after, movers[finished])
        return self._observation(), returns.cpu().numpy(), ended, np.zeros_like(ended), info

    def _begin(self, seed: int) -> BatchedEnvironment:
        return BatchedEnvironment(
            self._rules, self.num_envs, self._device, seed, check_actions=True
        )

    def _final_info(
        self, ended: np.ndarray, states: StateBatch, movers: torch.Tensor
    ) -> dict[str, Any]:
        """The entries of SAME_STEP for games that ended (bool [B]), with their last movers."""
        first, second = (self._rules.features(states, player) for player in (0, 1))
        tensors = torch.where((movers == 1).unsqueeze(1), second, first).cpu().numpy()
        observation = np.full(self.num_envs, None, dtype=object)
        for row, tensor in zip(np.flatnonzero(ended), tensors, strict=True):
            observation[row] = tensor
        player = np.where(ended, TERMINAL_PLAYER, 0).astype(np.int8)
        return {
            "final_obs": observation,
            "_final_obs": ended.copy(),
            "final_info": {
                "player": player,
                "_player": ended.copy(),
                "action_mask": np.zeros((self.num_envs, self._rules.num_actions), np.int8),
                "_action_mask": ended.copy(),
            },
            "_final_info": ended.copy(),
        }

    def _observation(self) -> np.ndarray:
        features: np.ndarray = self.environment.features().cpu().numpy()
        return features

    def _info(self) -> dict[str, Any]:
        return {
            "player": self.environment.current_player().cpu().numpy(),
            "action_mask": self.environment.legal_actions().cpu().numpy().astype(np.int8),
        }
