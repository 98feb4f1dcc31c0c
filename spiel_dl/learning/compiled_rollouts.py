"""Games played to the end by a network in compiled loops, a batch of them, from any states."""

from __future__ import annotations

import numpy as np
import torch

from spiel_dl.games.compiled import CHANCE, NO_ACTION, TERMINAL, Games
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning.deciding import Layers, Moves, Room, decide
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.networks.listed_inputs import ListedInputs


class CompiledRollouts:
    """As `rollouts.play_out` by one network, several times as fast.

    Attributes:
      rules: the game, which has a compiled form.
      acting: the network, on a CPU, and how much it explores.
    """

    def __init__(self, rules: Rules, acting: ActingNetwork):
        """Prepares the network's layers; its parameters must not change from then on.

        Raises:
          ValueError: if `can_play` says no.
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
        self._layers = Layers.of(acting)
        if not rules.max_chance_nodes:
            self._num_events = 0
        else:
            self._num_events = rules.longest_chance_run or 1

    def play_on(
        self,
        states: StateBatch,
        rows: np.ndarray,
        actions: np.ndarray,
        generator: np.random.Generator,
    ) -> np.ndarray:
        """Plays games to the end, as `rollouts.PlayOn` has it."""
        network, num_games = self.acting.network, len(rows)
        room = Room(network.sizes, num_games, num_games)
        moves = Moves.single(num_games, network.num_actions)
        nothing = np.full(num_games, NO_ACTION)
        games = self._games(states, rows)._replace(action=actions.astype(np.int64))
        # The compiled form changes states in place: each game takes a copy of its own.
        arrays = states.take(torch.from_numpy(rows)).arrays()
        while True:
            games = self._advanced(arrays, games, generator)
            while (games.player == CHANCE).any():
                games = self._advanced(arrays, games._replace(action=nothing), generator)
            if (games.player == TERMINAL).all():
                return games.returns
            moves.threshold[0] = generator.random(num_games)
            decide(0, games, self._layers, room, moves, self.acting.exploration)
            games = games._replace(action=moves.action[0])

    def _games(self, states: StateBatch, rows: np.ndarray) -> Games:
        """What players see and may do in states of some rows (int64 [N]), before any action."""
        rules, num_states = self.rules, states.batch_size
        bits = np.zeros((num_states, 2, self._compiled.max_bits), np.int32)
        num_bits = np.zeros((num_states, 2), np.int32)
        for player in (0, 1):
            lists = ListedInputs.of(rules.information_state_tensor(states, player))
            num_bits[:, player] = lists.length
            bits[:, player, : lists.column.shape[1]] = lists.column
        return Games(
            action=np.full(len(rows), NO_ACTION),
            uniform=np.zeros((0, len(rows))),
            player=rules.current_player(states).numpy()[rows],
            legal=rules.legal_actions(states).numpy()[rows],
            returns=rules.returns(states).numpy()[rows],
            bits=bits[rows],
            num_bits=num_bits[rows],
        )

    def _advanced(
        self, arrays: tuple[np.ndarray, ...], games: Games, generator: np.random.Generator
    ) -> Games:
        """The games after their actions, and after as many chance events as are drawn for."""
        uniform = generator.random((self._num_events, len(games.player)))
        games = games._replace(uniform=uniform)
        self._compiled.advance(arrays, games)
        return games


def can_play(rules: Rules, acting: ActingNetwork) -> bool:
    """Whether a network can act in compiled loops in a game."""
    return acting.parameters.device.type == "cpu" and rules.compiled() is not None
