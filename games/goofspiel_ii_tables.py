"""The constants with which `GoofspielIIRules` steps batches of states on one device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER

DECK = 2  # the row of the point cards, after the two players' rows


class GoofspielTables(NamedTuple):
    """Tables by the number of steps so far, E at the end: tensors on one device.

    Attributes:
      player: int8 [E+1], the player to act.
      next_step: int32 [E+1], the following step; the last one is its own successor.
      round_index: int16 [E+1], the number of completed rounds.
      writes: bool [E+1, R T], the entry of `played` that the step fills.
      acts: bool [E+1, R N], the row of `remaining` from which the step takes a card.
      public_cards: int8 [E+1, T], the point cards seen so far, if their order is fixed; else 0.
      card: int8 [N], the card values 1..N.
      card_bits: float32 [N+1, N], one-hot of a card value; zeros for none, 0.
      winner_bits: float32 [4, 3], one-hot of 1 player 0 won, 2 draw, 3 player 1 won; zeros for 0.
      action: int64 [R N], the action that takes each entry of `remaining`.
    """

    player: torch.Tensor
    next_step: torch.Tensor
    round_index: torch.Tensor
    writes: torch.Tensor
    acts: torch.Tensor
    public_cards: torch.Tensor
    card: torch.Tensor
    card_bits: torch.Tensor
    winner_bits: torch.Tensor
    action: torch.Tensor


def goofspiel_tables(
    num_cards: int, num_turns: int, points_order: str, last_step: int
) -> TablesByDevice[GoofspielTables]:
    """Builds the tables.

    Args:
      num_cards: N.
      num_turns: T.
      points_order: see `GoofspielIIRules`.
      last_step: E.
    """
    is_random = points_order == "random"
    rows = 3 if is_random else 2
    cards, turns, last = num_cards, num_turns, last_step
    step = np.arange(last)
    row = np.array([DECK, 0, 1] if is_random else [0, 1])[step % rows]
    player = np.where(row == DECK, CHANCE_PLAYER, row)
    round_index = np.append(step // rows, turns)
    writes = np.zeros((last + 1, rows, turns), dtype=bool)
    writes[step, row, round_index[:-1]] = True
    acts = np.zeros((last + 1, rows, cards), dtype=bool)
    acts[step, row] = True
    points = np.arange(1, cards + 1)
    if points_order == "descending":
        points = points[::-1]
    is_seen = (np.arange(turns) <= round_index[:, None]) & (not is_random)
    return TablesByDevice(
        GoofspielTables,
        player=np.append(player, TERMINAL_PLAYER).astype(np.int8),
        next_step=np.minimum(np.arange(last + 1) + 1, last).astype(np.int32),
        round_index=round_index.astype(np.int16),
        writes=writes.reshape(last + 1, -1),
        acts=acts.reshape(last + 1, -1),
        public_cards=np.where(is_seen, points[:turns], 0).astype(np.int8),
        card=np.arange(1, cards + 1, dtype=np.int8),
        card_bits=np.eye(cards + 1, dtype=np.float32)[:, 1:],
        winner_bits=np.eye(4, dtype=np.float32)[:, 1:],
        action=np.tile(np.arange(cards), rows),
    )
