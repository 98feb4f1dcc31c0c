"""Two-player OpenSpiel games as PettingZoo environments (AEC).

Games need observation or information state tensors:

    environment = aec_environment("leduc_poker", seed=0)
    environment.reset()
    for agent in environment.agent_iter():
        observation, reward, termination, truncation, info = environment.last()
        mask = None if termination else observation["action_mask"]
        environment.step(None if termination else environment.action_space(agent).sample(mask))

Needs `pip install -c constraints.txt -e ".[adapters]"` in the repository.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from gymnasium import spaces
from pettingzoo import AECEnv

from spiel_dl.games.features import features, num_features
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.load import AnyGame, turn_based_game

_AGENTS = ("player_0", "player_1")


def aec_environment(game: AnyGame, seed: int | None = None) -> OpenSpielAEC:
    """The environment of a game.

    Args:
      game: the game; simultaneous moves become consecutive hidden ones.
      seed: of chance, until `reset` is given another.

    Raises:
      ValueError: if the game cannot be loaded, or has no tensors, see `games.features`.
    """
    return OpenSpielAEC(turn_based_game(game), seed)


class OpenSpielAEC(AECEnv):
    """A game of two players who move in turn; chance is played between their moves.

    An observation has `observation`, the agent's features (float32 [F], see `games.features`; zeros
    at the end), and `action_mask` (int8 [A]), all 0 for the agent who does not move. Rewards are
    given at the end of the game.

    Attributes:
      game: the turn-based game.
      openspiel_state: the current state.
    """

    def __init__(self, game: pyspiel.Game, seed: int | None = None):
        """Takes a turn-based game; `aec_environment` takes any."""
        super().__init__()
        self.game = game
        self.metadata = {"name": str(game), "is_parallelizable": False, "render_modes": ["ansi"]}
        self.render_mode = "ansi"
        self.possible_agents = list(_AGENTS)
        size, actions = num_features(game), game.num_distinct_actions()
        observation_space = spaces.Dict(
            {
                "observation": spaces.Box(-np.inf, np.inf, (size,), np.float32),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(_AGENTS, observation_space)
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in _AGENTS}
        self._generator = np.random.default_rng(seed)
        self.openspiel_state = game.new_initial_state()

    def observation_space(self, agent: str) -> spaces.Space:
        """See PettingZoo's `AECEnv`."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """See PettingZoo's `AECEnv`."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a new game."""
        del options
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        self.agents = list(_AGENTS)
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        self.openspiel_state = self.game.new_initial_state()
        self.agent_selection = _AGENTS[0]
        self._advance()
        self._accumulate_rewards()  # The game may be over.

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """An agent's features, see `games.features`, and its mask of legal actions."""
        player = _AGENTS.index(agent)
        mask = np.zeros(self.game.num_distinct_actions(), np.int8)
        if self.openspiel_state.is_terminal():
            tensor = np.zeros(num_features(self.game), np.float32)
        else:
            tensor = features(self.openspiel_state, player)
            if self.openspiel_state.current_player() == player:
                mask[self.openspiel_state.legal_actions()] = 1
        return {"observation": tensor, "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Makes the selected agent's move; once the game is over, removes the agent.

        Raises:
          ValueError: if the action is not legal.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        legal = self.openspiel_state.legal_actions()
        if action is None or action not in legal:
            raise ValueError(f"action {action} is not legal for {agent}; use one of {legal}")
        self.openspiel_state.apply_action(int(action))
        self._advance()
        self._accumulate_rewards()

    def render(self) -> str:
        """The state as OpenSpiel's string."""
        return str(self.openspiel_state)

    def close(self) -> None:
        """Does nothing: there are no resources to close."""

    def _advance(self) -> None:
        """Plays chance, and sets the selected agent, or the rewards if the game is over."""
        state = self.openspiel_state
        while state.is_chance_node():
            state.apply_action(draw(dict(state.chance_outcomes()), self._generator.random()))
        if state.is_terminal():
            self.rewards = dict(zip(_AGENTS, state.returns(), strict=True))
            self.terminations = dict.fromkeys(_AGENTS, True)
        else:
            self.agent_selection = _AGENTS[state.current_player()]
