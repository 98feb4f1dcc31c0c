"""Games played to the end by a network in compiled loops, a batch of them, from any states."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from spiel_dl.games.compiled import CHANCE, NO_ACTION, TERMINAL, Games
from spiel_dl.games.rules import Rules, StateBatch
from spiel_dl.learning import play_kernels
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.policies import perceptron_kernels
from spiel_dl.policies.listed_inputs import ListedInputs
from spiel_dl.policies.matrix_products import num_padded


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
        parameters, sizes = acting.parameters.numpy(), acting.network.sizes
        end = sizes[0] * sizes[1]
        self._weight = parameters[:end].reshape(sizes[0], sizes[1])
        self._bias = parameters[end : end + sizes[1]]
        self._packed = perceptron_kernels.packed_layers(parameters, sizes)
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
        games, moves = self._games(states, rows), _Moves(len(rows), self.acting)
        games = games._replace(action=actions.astype(np.int64))
        # The compiled form changes states in place: each game takes a copy of its own.
        arrays = states.take(torch.from_numpy(rows)).arrays()
        while True:
            games = self._advanced(arrays, games, generator)
            while (games.player == CHANCE).any():
                games = self._advanced(arrays, games._replace(action=moves.none), generator)
            if (games.player == TERMINAL).all():
                return games.returns
            games = games._replace(action=self._decided(games, moves, generator))

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

    def _decided(self, games: Games, moves: _Moves, generator: np.random.Generator) -> np.ndarray:
        """What the network does in all games: int64 [N]."""
        threshold = generator.random((1, len(games.player)))
        arguments: list[Any] = [0, games.player, games.legal, games.bits, games.num_bits]
        arguments += [*moves.record, self._weight, self._bias, moves.sums, moves.known, moves.units]
        arguments += [0, self._packed, threshold, moves.behaviour, moves.action]
        arguments.append(self.acting.exploration)
        play_kernels.decide(*arguments)
        action: np.ndarray = moves.action[0]
        return action


class _Moves:
    """Room for one move in every game, as `play_kernels.decide` writes it, and what it builds on.

    Attributes:
      none: int64 [N], no action in any game.
      record: who moves, what is legal, and which rows the network is asked.
      sums: float32 [2 N, H], the first layer of what players knew at their last move.
      known: int32 [2 N], how much that was.
      units: per layer, float32 [N, units], padded.
      behaviour: float32 [1, N, A].
      action: int64 [1, N].
    """

    def __init__(self, num_games: int, acting: ActingNetwork):
        network = acting.network
        shape = (1, num_games, network.num_actions)
        rows = np.zeros((3, num_games), np.int32)
        self.none = np.full(num_games, NO_ACTION)
        self.record = (
            np.zeros((1, num_games), np.int8),
            np.zeros(shape, np.bool_),
            np.zeros((1, num_games), np.int64),
            *rows,
        )
        self.sums = np.zeros((2 * num_games, network.sizes[1]), np.float32)
        self.known = np.zeros(2 * num_games, np.int32)
        # Columns that only pad a layer are never written, and must not spoil what is multiplied.
        self.units = tuple(
            np.zeros((num_games, num_padded(size)), np.float32) for size in network.sizes[1:]
        )
        self.behaviour = np.zeros(shape, np.float32)
        self.action = np.zeros((1, num_games), np.int64)


def can_play(rules: Rules, acting: ActingNetwork) -> bool:
    """Whether a network can act in compiled loops in a game."""
    return acting.parameters.device.type == "cpu" and rules.compiled() is not None
