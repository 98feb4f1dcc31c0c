"""Outcomes of rounds of hidden bids, of which only the winners are announced."""

from __future__ import annotations

import torch


def round_outcomes(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The winners of rounds of hidden bids: 1 player 0, 2 nobody, 3 player 1; 0 if not over yet.

    Args:
      first: player 0's bids, positive; 0 for future ones.
      second: player 1's bids, of the same type and shape. Player 1 bids last.
    """
    return (2 - (first - second).sign()) * (second > 0)


def outcomes_for(player: int, outcomes: torch.Tensor) -> torch.Tensor:
    """`round_outcomes` from a player's side: 1 won, 2 tied, 3 lost; 0 if not over yet."""
    return outcomes if player == 0 else (4 - outcomes) * (outcomes > 0)
