"""A player's observations as arrays: its private pieces and the public ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.pieces import split_row


@dataclasses.dataclass(frozen=True)
class Sight:
    """The pieces that a player observes, each bool in its shape; made by `see`.

    Attributes:
      player: the player.
      past: the pieces with perfect recall.
      now: the pieces without perfect recall.
    """

    player: int
    past: Mapping[str, np.ndarray]
    now: Mapping[str, np.ndarray]

    def name(self, player: int) -> str:
        """The name of a player in texts for this one: "you" or "opponent"."""
        return "you" if player == self.player else "opponent"


def see(game_rules: rules.Rules, state: rules.StateBatch, player: int, row: int = 0) -> Sight:
    """The pieces that a player observes in one row of a batch of states.

    Args:
      game_rules: the game.
      state: the states.
      player: 0 or 1.
      row: the row of the state.

    Raises:
      ValueError: if `player` is neither 0 nor 1.
    """
    if player not in (0, 1):
        raise ValueError(f"player={player} sees nothing; use player 0 or 1")
    one = state.take(torch.tensor([row], device=state.device))
    past, now = (_pieces(game_rules, one, player, recall) for recall in (True, False))
    return Sight(player, past, now)


def index_of(one_hot: np.ndarray) -> int:
    """The index of the only true entry, or -1 if there is none."""
    return int(one_hot.argmax()) if one_hot.any() else -1


def indices_of(one_hots: np.ndarray) -> list[int]:
    """The index of the only true entry of each row; -1 where there is none."""
    return [index_of(one_hot) for one_hot in one_hots]


def _pieces(
    game_rules: rules.Rules, state: rules.StateBatch, player: int, recall: bool
) -> dict[str, np.ndarray]:
    tensors = [
        (game_rules.public_pieces(recall), game_rules.public_tensor(state, recall)),
        (game_rules.private_pieces(recall), game_rules.private_tensor(state, player, recall)),
    ]
    public, private = (split_row(shapes, rows[0].cpu().numpy() > 0) for shapes, rows in tensors)
    return public | private
