"""`CompiledEnvironment`: a small batch of games on a CPU, by the compiled form of the rules."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.compiled import NO_ACTION, TERMINAL, Games
from spiel_dl.games.environments import BatchedEnvironment, EpisodeEnds


class CompiledEnvironment(BatchedEnvironment):
    """`BatchedEnvironment` by compiled loops: the same games, from the same random numbers.

    Two things differ. A row whose game is over waits at its end, with nothing legal, until
    `restart`. And `state`, like all that is asked of the environment, is changed in place by
    `step`.

    Attributes:
      roots: what players may do at the root, before chance plays, as arrays.
      games: the same of the rows as they are now.
    """

    games: Games

    def __init__(self, game_rules: rules.Rules, batch_size: int, seed: int = 0):
        """Starts all games.

        Args:
          game_rules: the game.
          batch_size: B.
          seed: of the chance events, and of `sample_random_actions`.

        Raises:
          ValueError: if `batch_size` is not positive, or the rules have no compiled form.
        """
        compiled = game_rules.compiled()
        if compiled is None:
            raise ValueError(
                f"{type(game_rules).__name__} has no compiled form; play it by BatchedEnvironment"
            )
        self._compiled = compiled
        roots = game_rules.initial_state(batch_size)
        self.roots = games_of(game_rules, roots)
        self.games = Games(*(array.copy() for array in self.roots))
        self.state = roots.take(torch.arange(batch_size))
        self._arrays, self._root_arrays = self.state.arrays(), roots.arrays()
        super().__init__(game_rules, batch_size, seed=seed)
        self._player = torch.from_numpy(self.games.player)
        self._legal_actions = torch.from_numpy(self.games.legal)

    def restart(self) -> None:
        """Starts a new game in every row, whatever the old one had come to."""
        arrays, roots = (*self._arrays, *self.games[2:]), (*self._root_arrays, *self.roots[2:])
        for array, root in zip(arrays, roots, strict=True):
            np.copyto(array, root)
        self.move(self.roots.action, self._uniform(self._num_events).numpy())

    def step(self, action: torch.Tensor) -> EpisodeEnds:
        """Makes one move in every game that goes on, and plays the chance events after it.

        Args:
          action: int64 [B], the moves of whoever moves; without effect where the game is over.

        Raises:
          ValueError: as `BatchedEnvironment.step`.
        """
        self._check(action)
        went_on = self.games.player != TERMINAL
        self.move(action.numpy(), self._uniform(self._num_events).numpy())
        finished = torch.from_numpy(went_on & (self.games.player == TERMINAL))
        return EpisodeEnds(finished, torch.from_numpy(self.games.returns) * finished)

    def random_numbers(self, num_moves: int) -> torch.Tensor:
        """What so many moves, made by `move`, will need: float64 [num_moves, E, B]."""
        return self._uniform(num_moves * self._num_events).unflatten(0, (num_moves, -1))

    def move(self, action: np.ndarray, uniform: np.ndarray) -> None:
        """As `step`, with random numbers drawn before (float64 [E, B]), but tells nothing."""
        self.games = Games(action, uniform, *self.games[2:])
        self._compiled.advance(self._arrays, self.games)

    def write_features(self, observer: np.ndarray, rows: np.ndarray) -> None:
        """As `CompiledRules.write_features`, of the games as they are now."""
        self._compiled.write_features(self._arrays, observer, rows)


def games_of(game_rules: rules.Rules, states: rules.StateBatch) -> Games:
    """What players may do in B states, before any action."""
    return Games(
        action=np.full(states.batch_size, NO_ACTION),
        uniform=np.zeros((0, states.batch_size)),
        player=game_rules.current_player(states).numpy(),
        legal=game_rules.legal_actions(states).numpy(),
        returns=game_rules.returns(states).numpy(),
    )
