"""`StateEnvironment`: a batch of OpenSpiel states, for games without `Rules` too large to compile.

Every move of every row goes through Python, on one core and on the CPU.
"""

from __future__ import annotations

import numpy as np
import pyspiel
import torch

from spiel_dl.games.environments import EpisodeEnds
from spiel_dl.games.features import features, num_features
from spiel_dl.learning import history_features
from spiel_dl.tree.drawing import draw
from spiel_dl.tree.walk import zero_sum_utility


class StateEnvironment:
    """B games of a turn-based OpenSpiel game.

    A row whose game is over waits at its end, with nothing legal, until `restart`.

    Attributes:
      game: the game.
      generator: draws everything that is random, on the device of the tensors.
    """

    def __init__(
        self,
        game: pyspiel.Game,
        batch_size: int,
        device: torch.device | str = "cpu",
        seed: int = 0,
    ):
        """Starts all games.

        Args:
          game: a turn-based two-player game.
          batch_size: B.
          device: the device of the tensors.
          seed: the seed of the chance events.

        Raises:
          ValueError: if `batch_size` is not positive, or the game has no features.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} plays nothing; use 1 or more")
        num_features(game)  # Raises for games without features.
        self.game = game
        self.generator = torch.Generator(device).manual_seed(seed)
        self._batch_size = batch_size
        self._states: list[pyspiel.State] = []
        self.restart()

    def restart(self) -> None:
        """Starts a new game in every row."""
        self._states = [self.game.new_initial_state() for _ in range(self._batch_size)]
        self._play_chance(self._states)

    def current_player(self) -> torch.Tensor:
        """Who moves: int8 [B]; -4 where the game is over."""
        return self._tensor(np.array([state.current_player() for state in self._states], np.int8))

    def legal_actions(self) -> torch.Tensor:
        """Legal actions of whoever moves: bool [B, A]."""
        legal = np.zeros((self._batch_size, self.game.num_distinct_actions()), bool)
        for row, state in enumerate(self._states):
            legal[row, state.legal_actions()] = True
        return self._tensor(legal)

    def features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The mover's features: float32 [B, F]; zeros where the game is over.

        Args:
          out: where to write; None: a new tensor.
        """
        rows = np.zeros((self._batch_size, num_features(self.game)), np.float32)
        for row, state in zip(rows, self._states, strict=True):
            if not state.is_terminal():
                row[:] = features(state, state.current_player())
        return self._tensor(rows) if out is None else out.copy_(torch.from_numpy(rows))

    def history_features(self, out: torch.Tensor | None = None) -> torch.Tensor:
        """The features of the whole history: float32 [B, E]; zeros where the game is over.

        Args:
          out: where to write; None: a new tensor.
        """
        rows = np.zeros((self._batch_size, history_features.size(self.game)), np.float32)
        for row, state in zip(rows, self._states, strict=True):
            if not state.is_terminal():
                row[:] = history_features.of_state(state)
        return self._tensor(rows) if out is None else out.copy_(torch.from_numpy(rows))

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move in every game, and plays the chance events after it.

        Args:
          action: int64 [B], legal where a player moves; without effect where the game is over.

        Raises:
          ValueError: if a game ends and is not zero-sum.
        """
        finished = np.zeros(self._batch_size, bool)
        returns = np.zeros(self._batch_size)
        running = [row for row, state in enumerate(self._states) if not state.is_terminal()]
        actions = action.tolist()
        for row in running:
            self._states[row].apply_action(actions[row])
        self._play_chance([self._states[row] for row in running])
        for row in running:
            if self._states[row].is_terminal():
                finished[row] = True
                returns[row] = zero_sum_utility(self.game, self._states[row])
        return EpisodeEnds(self._tensor(finished), self._tensor(returns))

    def _play_chance(self, states: list[pyspiel.State]) -> None:
        waiting = [state for state in states if state.is_chance_node()]
        while waiting:
            uniform = torch.rand(
                len(waiting), dtype=torch.float64, generator=self.generator,
                device=self.generator.device,
            ).tolist()  # fmt: skip
            for state, number in zip(waiting, uniform, strict=True):
                state.apply_action(draw(dict(state.chance_outcomes()), number))
            waiting = [state for state in waiting if state.is_chance_node()]

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.generator.device)
