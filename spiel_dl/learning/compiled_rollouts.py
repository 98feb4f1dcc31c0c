"""Rollouts in compiled loops: a batch of games played to the end by a network, from any states."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games.compiled import CHANCE, TERMINAL, Games
from spiel_dl.games.compiled_environment import games_of
from spiel_dl.games.environments import longest_chance_run, raise_too_long_run
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning import play_kernels
from spiel_dl.learning.play_kernels import ObservationTable
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.learning.sources import Moves


class CompiledRollouts:
    """Rollouts by one network, several times as fast as `rollouts.play_out`.

    Attributes:
      rules: the game, which has a compiled form.
      acting: the network, on a CPU, and how much it explores.
    """

    def __init__(self, rules: Rules, acting: ActingNetwork):
        """Plays nothing yet.

        Raises:
          ValueError: if `can_play` is false.
        """
        if not can_play(rules, acting):
            raise ValueError(
                f"{type(rules).__name__} with parameters on {acting.parameters.device} cannot be "
                "played in compiled loops; these need rules with a compiled form, and a CPU"
            )
        compiled = rules.compiled()
        assert compiled is not None
        self.rules = rules
        self.acting = acting
        self._compiled = compiled
        self._num_events = longest_chance_run(rules)

    def play_on(
        self,
        states: StateBatch,
        rows: np.ndarray,
        actions: np.ndarray,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Plays games to the end, as `rollouts.PlayOn` has it."""
        network, num_games = self.acting.network, len(rows)
        table = ObservationTable.empty(num_games, network.num_inputs, network.num_actions)
        moves = Moves.empty((1, num_games, network.num_actions)).arrays()
        threshold = np.zeros((1, num_games))
        # The compiled form changes states in place: each game takes a copy of its own.
        states = states.take(torch.from_numpy(rows))
        games = games_of(self.rules, states)._replace(action=actions.astype(np.int64))
        arrays = states.arrays()
        while True:
            games = self._advanced(arrays, games, generator)
            if (games.player == CHANCE).any():
                raise_too_long_run(self.rules)
            if (games.player == TERMINAL).all():
                return games.returns
            threshold[0] = generator.random(num_games)
            table.row_of_slot.fill(-1)
            self._compiled.write_features(arrays, games.player, table.rows)
            by_player = (table.rows, table.rows)
            count = play_kernels.list_observations(0, games, by_player, table, 0, moves)
            with torch.no_grad():
                policy = self.acting(*(torch.from_numpy(x[:count]) for x in table[:2]))
            play_kernels.sample_moves(0, policy.numpy(), threshold, moves)
            games = games._replace(action=moves.action[0])

    def _advanced(
        self, arrays: tuple[np.ndarray, ...], games: Games, generator: np.random.Generator
    ) -> Games:
        """The games after their actions and the chance events that follow."""
        uniform = generator.random((self._num_events, len(games.player)))
        games = games._replace(uniform=uniform)
        self._compiled.advance(arrays, games)
        return games


def can_play(rules: Rules, acting: ActingNetwork) -> bool:
    """Whether a network can act in compiled loops in a game."""
    return acting.parameters.device.type == "cpu" and rules.compiled() is not None
