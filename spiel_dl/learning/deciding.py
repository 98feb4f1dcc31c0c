"""What a network decides in compiled games, and room for it: `play_kernels.decide` by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import Games
from spiel_dl.learning import play_kernels
from spiel_dl.learning.self_play import ActingNetwork
from spiel_dl.networks import perceptron_kernels
from spiel_dl.networks.matrix_products import num_padded


class Layers(NamedTuple):
    """A network's layers.

    Attributes:
      weight: float32 [D, H], of the first one.
      bias: float32 [H], of the first one.
      packed: the others, as `perceptron_kernels.packed_layers` has them.
    """

    weight: np.ndarray
    bias: np.ndarray
    packed: np.ndarray

    @staticmethod
    def of(acting: ActingNetwork) -> Layers:
        """Those of a network on a CPU, as it is now."""
        parameters, sizes = acting.parameters.numpy(), acting.network.sizes
        end = sizes[0] * sizes[1]
        return Layers(
            parameters[:end].reshape(sizes[0], sizes[1]),
            parameters[end : end + sizes[1]],
            perceptron_kernels.packed_layers(parameters, sizes),
        )


class Room:
    """Room for what comes out of a network's layers.

    Attributes:
      units: per layer, float32 [R, units], padded; a row for each decision.
      sums: float32 [2 N, H], the first layer of what players knew at their last move.
      known: int32 [2 N], how much that was; 0 where they have not moved yet.
    """

    def __init__(self, sizes: tuple[int, ...], num_games: int, num_rows: int):
        """Room for so many decisions in so many games.

        Args:
          sizes: `PolicyNetwork.sizes`.
          num_games: N.
          num_rows: R, how many decisions at most.
        """
        # Columns that only pad a layer are never written, and must not spoil what is multiplied.
        self.units = tuple(
            np.zeros((num_rows, num_padded(width)), np.float32) for width in sizes[1:]
        )
        self.sums = np.zeros((2 * num_games, sizes[1]), np.float32)
        self.known = np.zeros(2 * num_games, np.int32)


class Moves(NamedTuple):
    """What is written of T moves in each of N games.

    Attributes:
      player: int8 [T, N], who moves.
      legal: bool [T, N, A].
      place: int64 [T, N], which row of `Room.units` is the decision's.
      sequence, begin, end: int32 [R], which of the 2 N lists of ones is that of a decision, and
        from where to where it was read.
      threshold: float64 [T, N], random numbers from 0 to 1; they are read.
      behaviour: float32 [T, N, A], the probabilities of all actions.
      action: int64 [T, N].
    """

    player: np.ndarray
    legal: np.ndarray
    place: np.ndarray
    sequence: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    threshold: np.ndarray
    behaviour: np.ndarray
    action: np.ndarray

    @staticmethod
    def single(num_games: int, num_actions: int) -> Moves:
        """Room for one move in each game."""
        shape = (1, num_games)
        return Moves(
            player=np.zeros(shape, np.int8),
            legal=np.zeros((*shape, num_actions), np.bool_),
            place=np.zeros(shape, np.int64),
            sequence=np.zeros(num_games, np.int32),
            begin=np.zeros(num_games, np.int32),
            end=np.zeros(num_games, np.int32),
            threshold=np.zeros(shape),
            behaviour=np.zeros((*shape, num_actions), np.float32),
            action=np.zeros(shape, np.int64),
        )


def decide(
    step: int,
    games: Games,
    layers: Layers,
    room: Room,
    moves: Moves,
    exploration: float,
    first_row: int = 0,
) -> int:
    """Decides on a move in every game.

    Args:
      step: which of the T moves.
      games: what players see and may do.
      layers: the network's.
      room: what is known of moves before, and rows from `first_row` on, are read and written.
      moves: written, but for `threshold`.
      exploration: `ActingNetwork.exploration`.
      first_row: how many rows of `room` are used.

    Returns:
      How many rows are used now.
    """
    num_rows: int = play_kernels.decide(
        step,
        games.player,
        games.legal,
        games.bits,
        games.num_bits,
        moves.player,
        moves.legal,
        moves.place,
        moves.sequence,
        moves.begin,
        moves.end,
        layers.weight,
        layers.bias,
        room.sums,
        room.known,
        room.units,
        first_row,
        layers.packed,
        moves.threshold,
        moves.behaviour,
        moves.action,
        exploration,
    )
    return num_rows
