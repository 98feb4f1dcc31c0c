"""What a network sees of Leduc poker, and the states of which it is made.

Suits do not matter, so cards are seen by their ranks. Pieces, with R ranks, A actions and M, the
longest betting round:

| piece | shape | meaning |
|---|---|---|
| player | 2 | the seat, one-hot |
| private_rank | R | of the own card, one-hot; zeros before it is dealt |
| public_rank | R | of the public card, likewise |
| is_pair | 1 | whether they are equal |
| contributions | 2 | chips in the pot of the player and the opponent, as shares of the most |
| betting | 2 x M x A | the actions of both rounds in order, one-hot, zero-padded |
"""

from __future__ import annotations

import dataclasses

import torch

from spiel_dl.games import rules
from spiel_dl.games.leduc_betting import NUM_ROUNDS, longest_round


@dataclasses.dataclass(frozen=True)
class LeducState(rules.StateBatch):
    """A batch of Leduc states.

    Attributes:
      node: int32 [B], the node of the betting automaton; see `leduc_betting`.
      cards: int8 [B, 3], player 0's, player 1's and the public card (or rank); -1 before its deal.
      actions: int8 [B, 2 * M], the first round's actions from 0, the second's from M; -1 padded.
      contributions: int32 [B, 2], chips each player has put into the pot.
    """

    node: torch.Tensor
    cards: torch.Tensor
    actions: torch.Tensor
    contributions: torch.Tensor


class LeducFeatures(rules.Rules[LeducState]):
    """What features need of `LeducRules`.

    Attributes:
      num_ranks: ranks in the deck.
      num_suits: cards of each rank.
      deal_ranks: whether states hold ranks, not cards.
      max_raises: how many raises may follow a bet.
      max_stake: the most chips that a player can put into the pot.
    """

    num_ranks: int
    num_suits: int
    deal_ranks: bool
    max_raises: int
    max_stake: int

    def feature_pieces(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of what a network sees; the module's table explains them."""
        return {
            "player": (2,),
            "private_rank": (self.num_ranks,),
            "public_rank": (self.num_ranks,),
            "is_pair": (1,),
            "contributions": (2,),
            "betting": (NUM_ROUNDS, longest_round(self.max_raises), self.num_actions),
        }

    def features(self, state: LeducState, player: int) -> torch.Tensor:
        """What a network sees: float32 [B, F]."""
        suits = 1 if self.deal_ranks else self.num_suits
        ranks = torch.div(state.cards, suits, rounding_mode="floor")
        private, public = ranks[:, player], ranks[:, 2]
        chips = torch.stack([state.contributions[:, side] for side in (player, 1 - player)], dim=1)
        columns = [
            torch.zeros((state.batch_size, 2), device=state.device),
            rules.one_hot(private, self.num_ranks),
            rules.one_hot(public, self.num_ranks),
            ((private == public) & (public >= 0))[:, None],
            chips.float() * (1 / self.max_stake),
            rules.one_hot(state.actions, self.num_actions).flatten(1),
        ]
        seen = torch.cat([column.float() for column in columns], dim=1)
        seen[:, player] = 1.0
        return seen
