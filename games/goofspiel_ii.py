"""Goofspiel with imperfect information, for two players.

Each player holds the bid cards 1..N; a deck holds the point cards 1..N. In every round one point
card is turned up and both players commit one bid card, player 0 first, which player 1 cannot see.
The higher bid wins the points; on a draw nobody does. Bids are never revealed: only the winner of
the round is announced. The twin is OpenSpiel's `goofspiel(imp_info=True,...)`, whose action ids,
chance outcomes and returns are used here: action and outcome c stand for the card c + 1.

With num_turns = N - 1 the twin plays the omitted last round and never ends; here the game ends
after num_turns rounds.

Pieces of the tensors, with T turns; card c is bit c - 1, and S = N (N + 1) / 2:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | point_cards | T x N | the point card of every round begun so far |
| public | yes | player_0_has_bid | T | whether player 0 has bid in the round |
| public | both | round_winners | T x 3 | one-hot of player 0 won, draw, player 1 won; the twin's \
observation shows it, too |
| public | no | current_point_card | N | the point card turned up last |
| public | no | remaining_point_cards | N | the point cards not yet turned up |
| public | no | point_totals | 2 x (S + 1) | one-hot of each player's points |
| public | no | player_0_has_bid | 1 | whether player 0 has bid in the current round |
| private | yes | bids | T x N | the own bid of every round |
| private | no | hand | N | the own bid cards left |

The network's inputs do not depend on the seat, because bids are simultaneous: at its decision a
player's inputs are those that its opponent would have in its place.

| piece | shape | meaning |
|---|---|---|
| hand | N | the own bid cards left |
| point_card | N | the point card of this round, one-hot; zeros between rounds and at the end |
| point_cards_left | N | the point cards not yet turned up |
| points | 3 | own points, the opponent's, and their difference, as shares of S |
| bids | T x N | the own bid of every round, one-hot; zeros before |
| outcomes | T x 3 | one-hot of a round that was won, tied, lost; zeros before its end |
| point_cards | T x N | the point card of every round begun; only if their order is random |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.compiled import CompiledRules
from spiel_dl.games.goofspiel_ii_compiled import compiled_goofspiel
from spiel_dl.games.goofspiel_ii_tables import DECK, goofspiel_tables
from spiel_dl.games.hidden_bids import outcomes_for, round_outcomes
from spiel_dl.games.piece_rules import PieceRules, Pieces

POINTS_ORDERS = ("random", "descending", "ascending")
RETURNS_TYPES = ("win_loss", "point_difference")
_MAX_CARDS = 127  # card values are stored as int8


@dataclasses.dataclass(frozen=True)
class GoofspielIIState(rules.StateBatch):
    """A batch of states. R is 2, or 3 with random order: player 0, player 1, and the point cards.

    Attributes:
      step: int32 [B], the number of moves and deals so far.
      played: int8 [B, R T], each row's cards (1..N) in the order of rounds; 0 for future ones.
      remaining: bool [B, R N], each row's cards that are still to be played.
    """

    step: torch.Tensor
    played: torch.Tensor
    remaining: torch.Tensor


class GoofspielIIRules(PieceRules[GoofspielIIState]):
    """Rules of two-player Goofspiel with hidden bids.

    Args:
      num_cards: N, from 2 to 127.
      points_order: "descending", "ascending", or "random" (chance turns the point cards up).
      returns_type: "win_loss" (1 for more points, -1 for fewer, 0 for as many) or
        "point_difference" (half the difference, as in the twin: each player's points above the mean
        of both).
      num_turns: T, the number of rounds; -1 for all N.
      forced_last_round: whether the last of N rounds, in which both have one card left, is played
        out as moves (and, with random order, as a deal). If not, it is played automatically,
        together with player 1's bid of the round before, as in the twin. True gives the tree of the
        DL-CFR paper (Kovařík et al. 2021, Table 2). Without effect when T < N, where no round is
        forced.

    Raises:
      ValueError: if a parameter is out of its range.
    """

    def __init__(
        self,
        num_cards: int = 13,
        points_order: str = "random",
        returns_type: str = "win_loss",
        num_turns: int = -1,
        forced_last_round: bool = False,
    ):
        self.num_cards = num_cards
        self.num_turns = num_cards if num_turns == -1 else num_turns
        self.points_order = points_order
        self.returns_type = returns_type
        self._check_parameters()
        self.forced_last_round = forced_last_round
        self._random = points_order == "random"
        self._plays_last_round = self.num_turns == num_cards and not forced_last_round
        self._num_rows = 3 if self._random else 2
        rounds_of_steps = self.num_turns - int(self._plays_last_round)
        self._last_step = self._num_rows * rounds_of_steps
        self.root = GoofspielIIState(
            step=torch.zeros(1, dtype=torch.int32),
            played=torch.zeros((1, self._num_rows * self.num_turns), dtype=torch.int8),
            remaining=torch.ones((1, self._num_rows * num_cards), dtype=torch.bool),
        )
        self._tables = goofspiel_tables(num_cards, self.num_turns, points_order, self._last_step)
        self.num_actions = num_cards
        self.num_chance_outcomes = num_cards if self._random else 0
        self.max_game_length = 2 * rounds_of_steps
        self.max_chance_nodes = rounds_of_steps if self._random else 0
        self.longest_chance_run = int(self._random)
        self.max_utility = self._largest_return()
        self.min_utility = -self.max_utility

    def _check_parameters(self) -> None:
        if not 2 <= self.num_cards <= _MAX_CARDS:
            raise ValueError(f"num_cards={self.num_cards} is out of range; use 2 to {_MAX_CARDS}")
        for name, value, options in (
            ("points_order", self.points_order, POINTS_ORDERS),
            ("returns_type", self.returns_type, RETURNS_TYPES),
        ):
            if value not in options:
                raise ValueError(f"{name}={value!r} is unknown; use one of {options}")
        if not 1 <= self.num_turns <= self.num_cards:
            raise ValueError(
                f"num_turns={self.num_turns} is out of range; use 1 to num_cards="
                f"{self.num_cards}, or -1 for all"
            )

    def current_player(self, state: GoofspielIIState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return self._tables(state.step.device).player.index_select(0, state.step)

    def legal_actions(self, state: GoofspielIIState) -> torch.Tensor:
        """The cards in the hand of the player to move: bool [B, N]."""
        available = self._available(state)
        return available[:, : self.num_cards] | available[:, self.num_cards : 2 * self.num_cards]

    def chance_probabilities(self, state: GoofspielIIState) -> torch.Tensor:
        """Uniform over the point cards left, where chance acts: float64 [B, C]."""
        if not self._random:
            return super().chance_probabilities(state)
        cards = self._available(state)[:, DECK * self.num_cards :].to(torch.float64)
        return cards / cards.sum(dim=1, keepdim=True).clamp(min=1.0)

    def apply(self, state: GoofspielIIState, action: torch.Tensor) -> GoofspielIIState:
        """The successors under `action` (int64 [B]): the acting row plays card action + 1."""
        tables = self._tables(state.step.device)
        column = action.unsqueeze(1)
        taken = tables.acts.index_select(0, state.step) & (tables.action == column)
        written = tables.writes.index_select(0, state.step)
        step = tables.next_step.index_select(0, state.step)
        played = torch.where(written, (column + 1).to(torch.int8), state.played)
        remaining = state.remaining & ~taken
        if self._plays_last_round:
            played, remaining = self._play_last_round(step, played, remaining)
        return GoofspielIIState(step, played, remaining)

    def returns(self, state: GoofspielIIState) -> torch.Tensor:
        """Player 0's utility: float64 [B]."""
        first, second = self._bids(state)
        points = self._point_cards(state).to(torch.int16)
        difference = ((first > second) * points - (first < second) * points).sum(dim=1)
        difference = difference * (state.step == self._last_step)
        if self.returns_type == "win_loss":
            return difference.sign().to(torch.float64)
        return difference.to(torch.float64) / 2

    def round_index(self, state: GoofspielIIState) -> torch.Tensor:
        """The number of completed rounds: int16 [B]."""
        return self._tables(state.step.device).round_index.index_select(0, state.step)

    def public(self, state: GoofspielIIState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        tables = self._tables(state.step.device)
        first, second = self._bids(state)
        points = self._point_cards(state)
        outcome = round_outcomes(first, second)
        winners = rules.look_up(tables.winner_bits, outcome)
        card_bits = rules.look_up(tables.card_bits, points)
        has_bid = first > 0
        if perfect_recall:
            return {"point_cards": card_bits, "player_0_has_bid": has_bid, "round_winners": winners}
        last = (points > 0).sum(dim=1, keepdim=True) - 1
        current = points.gather(1, last.clamp(min=0))
        totals = [self._point_totals(points * (outcome == winner)) for winner in (1, 3)]
        return {
            "current_point_card": rules.look_up(tables.card_bits, current)[:, 0],
            "remaining_point_cards": 1 - card_bits.sum(dim=1),
            "point_totals": torch.stack(totals, dim=1),
            "player_0_has_bid": (has_bid & (second == 0)).any(dim=1, keepdim=True),
            "round_winners": winners,
        }

    def private(self, state: GoofspielIIState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        if perfect_recall:
            bits = self._tables(state.step.device).card_bits
            return {"bids": rules.look_up(bits, self._bids(state)[player])}
        start = player * self.num_cards
        return {"hand": state.remaining[:, start : start + self.num_cards]}

    def public_code(self, state: GoofspielIIState) -> torch.Tensor:
        """The point cards, whether player 0 has bid, and who has won each round: int8 [B, 3 T]."""
        first, second = self._bids(state)
        outcome = round_outcomes(first, second)
        return torch.cat([self._point_cards(state), (first > 0).to(torch.int8), outcome], dim=1)

    def private_code(self, state: GoofspielIIState, player: int) -> torch.Tensor:
        """The player's bids: int8 [B, T]."""
        return self._bids(state)[player]

    def inputs(self, state: GoofspielIIState, player: int) -> Pieces:
        """The pieces of a network's inputs; the module's second table explains them."""
        tables = self._tables(state.step.device)
        bids, points = self._bids(state), self._point_cards(state)
        outcomes = outcomes_for(player, round_outcomes(*bids))
        won, lost = ((points * (outcomes == each)).sum(dim=1, keepdim=True) for each in (1, 3))
        card_bits = rules.look_up(tables.card_bits, points)
        rounds = torch.arange(self.num_turns, device=state.device)
        is_now = rounds == self.round_index(state)[:, None]
        now = rules.look_up(tables.card_bits, (points * is_now).sum(dim=1, keepdim=True))
        share = 2 / (self.num_cards * (self.num_cards + 1))
        return {
            **self.private(state, player, perfect_recall=False),
            "point_card": now[:, 0],
            "point_cards_left": 1 - card_bits.sum(dim=1),
            "points": torch.cat([won, lost, won - lost], dim=1).float() * share,
            "bids": rules.look_up(tables.card_bits, bids[player]),
            "outcomes": rules.look_up(tables.winner_bits, outcomes),
            "point_cards": card_bits if self._random else card_bits[:, :0],
        }

    def compiled(self) -> CompiledRules:
        """See `Rules.compiled`."""
        tables = self._tables(torch.device("cpu"))
        return compiled_goofspiel(
            player=tables.player.numpy(),
            point_cards=tables.public_cards[-1].numpy(),
            num_cards=self.num_cards,
            plays_last_round=self._plays_last_round,
            is_win_loss=self.returns_type == "win_loss",
        )

    def action_to_string(self, player: int, action: int) -> str:
        """The name of an action or deal, as in the twin."""
        if player == rules.CHANCE_PLAYER:
            return f"Deal {action + 1}"
        return f"[P{player}]Bid: {action + 1}"

    def describe(self, state: GoofspielIIState, row: int = 0) -> str:
        """The hands, bids, point cards and points of one row, for people."""
        batch = state.take(torch.tensor([row], device=state.device))
        hands = batch.remaining.reshape(self._num_rows, self.num_cards).cpu().numpy()
        bids = [bid[0].cpu().numpy() for bid in self._bids(batch)]
        points = self._point_cards(batch)[0].cpu().numpy()
        over = bids[1] > 0
        totals = [points[over & (bids[p] > bids[1 - p])].astype(int).sum() for p in (0, 1)]
        lines: dict[str, Iterable[int]] = {
            "P0 hand": np.flatnonzero(hands[0]) + 1,
            "P1 hand": np.flatnonzero(hands[1]) + 1,
            "P0 bids": bids[0][bids[0] > 0],
            "P1 bids": bids[1][bids[1] > 0],
            "Point cards": points[points > 0],
            "Points": totals,
        }
        return "\n".join(f"{name}: {' '.join(map(str, cards))}" for name, cards in lines.items())

    def _bids(self, state: GoofspielIIState) -> tuple[torch.Tensor, torch.Tensor]:
        """Both players' bids, 1..N, or 0 for future ones: int8 [B, T] each."""
        turns = self.num_turns
        return state.played[:, :turns], state.played[:, turns : 2 * turns]

    def _point_cards(self, state: GoofspielIIState) -> torch.Tensor:
        """The point cards turned up so far, 1..N or 0: int8 [B, T]."""
        if self._random:
            return state.played[:, DECK * self.num_turns :]
        return self._tables(state.step.device).public_cards.index_select(0, state.step)

    def _point_totals(self, points_won: torch.Tensor) -> torch.Tensor:
        """One-hot of the sum of the points won in each round (int8 [B, T]): float32 [B, S+1]."""
        max_points = self.num_cards * (self.num_cards + 1) // 2
        return rules.one_hot(points_won.sum(dim=1), max_points + 1)

    def _available(self, state: GoofspielIIState) -> torch.Tensor:
        """The cards that the acting row may play, False in all other rows: bool [B, R N]."""
        return state.remaining & self._tables(state.step.device).acts.index_select(0, state.step)

    def _play_last_round(
        self, step: torch.Tensor, played: torch.Tensor, remaining: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the game is over, moves every row's last card to the last round."""
        over = (step == self._last_step).unsqueeze(1)
        hands = remaining.unflatten(1, (self._num_rows, self.num_cards))
        card = self._tables(step.device).card
        last_cards = (hands * card).sum(dim=2, dtype=torch.int8) * over
        # Both tensors are new. Games that were over before have no cards left, so nothing is added.
        played.unflatten(1, (self._num_rows, self.num_turns))[:, :, -1] += last_cards
        return played, remaining & ~over

    def _largest_return(self) -> float:
        """The largest return of any history."""
        if self.returns_type == "win_loss":
            return 1.0
        lowest = 1 if self.points_order == "ascending" else self.num_cards - self.num_turns + 1
        dealt = sum(range(lowest, lowest + self.num_turns))
        # Bidding one higher than the opponent wins every round, but if all cards are played, its
        # highest must be lost to the lowest bid: best on the point card 1.
        lost = 1 if self.num_turns == self.num_cards else 0
        return (dealt - 2 * lost) / 2
