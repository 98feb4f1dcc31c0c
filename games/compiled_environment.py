"""`CompiledEnvironment`: a small batch of games on a CPU, by the compiled form of the rules."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.compiled import NO_ACTION, Games
from spiel_dl.games.environments import events_per_step


class CompiledEnvironment:
    """The games of a `BatchedEnvironment` from the same random numbers, by compiled loops.

    A row whose game is over stays at its end, without legal actions, until `restart`.

    Attributes:
      rules: the game.
      generator: the source of all chance.
      roots: the arrays of the games at the root, before chance plays.
      games: the arrays of the games now.
      state: the B states; changed in place, as are the arrays.
    """

    def __init__(self, game_rules: rules.Rules, batch_size: int, seed: int = 0):
        """Starts all games.

        Args:
          game_rules: the game.
          batch_size: B.
          seed: seed of the chance events.

        Raises:
          ValueError: if `batch_size` is not positive, or the rules have no compiled form.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size} plays nothing; use 1 or more")
        compiled = game_rules.compiled()
        if compiled is None:
            raise ValueError(
                f"{type(game_rules).__name__} has no compiled form; play it by BatchedEnvironment"
            )
        self.rules, self._compiled = game_rules, compiled
        self.generator = torch.Generator().manual_seed(seed)
        self._num_events = events_per_step(game_rules)
        roots = game_rules.initial_state(batch_size)
        self.roots = games_of(game_rules, roots)
        self.games = Games(*(array.copy() for array in self.roots))
        self.state = roots.take(torch.arange(batch_size))
        self._arrays, self._root_arrays = self.state.arrays(), roots.arrays()
        self.restart()

    def restart(self) -> None:
        """Starts a new game in every row."""
        arrays, roots = (*self._arrays, *self.games[2:]), (*self._root_arrays, *self.roots[2:])
        for array, root in zip(arrays, roots, strict=True):
            np.copyto(array, root)
        self.move(self.roots.action, self.random_numbers(1)[0].numpy())

    def random_numbers(self, num_moves: int) -> torch.Tensor:
        """The random numbers of so many calls of `move`: float64 [num_moves, E, B]."""
        shape = (num_moves, self._num_events, self.state.batch_size)
        return torch.rand(shape, dtype=torch.float64, generator=self.generator)

    def move(self, action: np.ndarray, uniform: np.ndarray) -> None:
        """Makes one move in every game that goes on, and plays the chance events after it.

        Args:
          action: int64 [B], the movers' actions; ignored where the game is over.
          uniform: float64 [E, B], random numbers in [0, 1).
        """
        self.games = Games(action, uniform, *self.games[2:])
        self._compiled.advance(self._arrays, self.games)

    def write_features(self, observer: np.ndarray, rows: np.ndarray) -> None:
        """See `CompiledRules.write_features`, for the games now."""
        self._compiled.write_features(self._arrays, observer, rows)


def games_of(game_rules: rules.Rules, states: rules.StateBatch) -> Games:
    """The arrays of games in B states, before any action."""
    return Games(
        action=np.full(states.batch_size, NO_ACTION),
        uniform=np.zeros((0, states.batch_size)),
        player=game_rules.current_player(states).numpy(),
        legal=game_rules.legal_actions(states).numpy(),
        returns=game_rules.returns(states).numpy(),
    )
