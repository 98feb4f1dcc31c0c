"""Liar's dice for two players, as OpenSpiel's `liars_dice` has it.

Each player rolls its dice, unseen by the other. Then the players bid in turn, player 0 first: a bid
claims that both players' dice together show some face at least so many times, where the highest
face counts as every other one. Each bid is higher than the one before. Instead of bidding a player
may call the last bid. Then the bidder wins if the bid is true, and loses otherwise.

Actions: bid b, from 0 on, in ascending order, and `num_bids`, which calls. With d dice of s sides
there are 2 d s bids. `bidding_rule` is their order: "reset-face" by quantity, then by face,
"reset-quantity" by face, then by quantity.

Chance outcomes: a die's face minus 1. Player 0's dice are rolled first, one after the other.

Pieces of the tensors:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | rolls | 2 d | thermometer of the dice rolled so far |
| public | yes | bids | 2 d s | the bids made, whose order is known as they ascend |
| public | no | current_player | 2 | the player to move, one-hot; zeros if none is |
| public | no | last_bid | 2 d s | one-hot; zeros before the first one |
| public | both | called | 1 | whether a bid was called |
| private | both | dice | d x s | the own dice, ascending, one-hot; zeros until all are rolled |

The network's inputs:

| piece | shape | meaning |
|---|---|---|
| player | 2 | the seat, one-hot |
| dice | s | the share of own dice that show each face; zeros until all are rolled |
| quantity | 2 d | quantity of the last bid, one-hot; zeros before the first one |
| face | s | face of the last bid, one-hot; zeros before the first one |
| own_bids | 2 d s | the bids that the player has made |
| opponent_bids | 2 d s | the bids that the opponent has made |
| called | 1 | whether a bid was called |
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import torch

from spiel_dl.games import rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.compiled import CompiledRules
from spiel_dl.games.liars_dice_compiled import compiled_liars_dice
from spiel_dl.games.piece_rules import PieceRules, Pieces

BIDDING_RULES = ("reset-face", "reset-quantity")
_MOST_BIDS = 10_000  # a state records which bids were made


@dataclasses.dataclass(frozen=True)
class LiarsDiceState(rules.StateBatch):
    """A batch of states.

    Attributes:
      step: int16 [B], the number of dice rolled plus that of bids made.
      dice: int8 [B, 2 d], player 0's faces in the order of rolls, then player 1's; 0 if not rolled.
      was_bid: bool [B, 2 d s], whether a bid was made.
      called: bool [B], whether the last one was called, which ends the game.
    """

    step: torch.Tensor
    dice: torch.Tensor
    was_bid: torch.Tensor
    called: torch.Tensor


class _Tables(NamedTuple):
    """Constants on one device.

    Attributes:
      slots: int16 [2 d], 0, 1, 2, ...
      bids: int64 [2 d s + 1], 0, 1, 2, ...; the last one calls.
      faces: int8 [2 d s], the face of each bid.
      quantities: int16 [2 d s], the quantity of each bid.
    """

    slots: torch.Tensor
    bids: torch.Tensor
    faces: torch.Tensor
    quantities: torch.Tensor


class LiarsDiceRules(PieceRules[LiarsDiceState]):
    """Rules of liar's dice for two players.

    Args:
      numdice: d, the number of each player's dice, at least 1.
      dice_sides: s, a die's faces, from 2 to 127.
      bidding_rule: "reset-face" or "reset-quantity", see the module.

    Raises:
      ValueError: if a parameter is out of its range.
    """

    min_utility = -1.0
    max_utility = 1.0

    def __init__(
        self, numdice: int = 1, dice_sides: int = 6, bidding_rule: str = "reset-face"
    ) -> None:
        self.num_dice, self.num_sides, self.bidding_rule = numdice, dice_sides, bidding_rule
        if numdice < 1:
            raise ValueError(f"numdice={numdice} leaves nothing to bid on; use 1 or more")
        if not 2 <= dice_sides <= 127:
            raise ValueError(f"dice_sides={dice_sides} is out of range; use 2 to 127")
        if bidding_rule not in BIDDING_RULES:
            raise ValueError(
                f"bidding_rule={bidding_rule!r} is unknown; use one of {BIDDING_RULES}"
            )
        self.num_rolls = 2 * numdice
        self.num_bids = self.num_rolls * dice_sides
        if self.num_bids > _MOST_BIDS:
            raise ValueError(
                f"numdice={numdice} and dice_sides={dice_sides} make {self.num_bids} bids; use "
                f"parameters with 2 * numdice * dice_sides of at most {_MOST_BIDS}"
            )
        self.num_actions = self.num_bids + 1
        self.num_chance_outcomes = dice_sides
        self.max_game_length = self.num_bids + 1
        self.max_chance_nodes = self.longest_chance_run = self.num_rolls
        self.root = LiarsDiceState(
            step=torch.zeros(1, dtype=torch.int16),
            dice=torch.zeros((1, self.num_rolls), dtype=torch.int8),
            was_bid=torch.zeros((1, self.num_bids), dtype=torch.bool),
            called=torch.zeros(1, dtype=torch.bool),
        )
        bids = [self.bid(number) for number in range(self.num_bids)]
        self._tables = TablesByDevice(
            _Tables,
            slots=torch.arange(self.num_rolls, dtype=torch.int16),
            bids=torch.arange(self.num_bids + 1),
            faces=torch.tensor([face for _, face in bids], dtype=torch.int8),
            quantities=torch.tensor([quantity for quantity, _ in bids], dtype=torch.int16),
        )

    def bid(self, number: int) -> tuple[int, int]:
        """Quantity and face of a bid."""
        if self.bidding_rule == "reset-face":
            quantity, face = divmod(number, self.num_sides)
        else:
            face, quantity = divmod(number, self.num_rolls)
        return quantity + 1, face + 1

    def current_player(self, state: LiarsDiceState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        turn = state.step - self.num_rolls
        player = torch.where(turn < 0, rules.CHANCE_PLAYER, turn % 2)
        return torch.where(state.called, rules.TERMINAL_PLAYER, player).to(torch.int8)

    def legal_actions(self, state: LiarsDiceState) -> torch.Tensor:
        """All higher bids, and calling if there is a bid: bool [B, A]."""
        bids = self._tables(state.step.device).bids
        last = self._last_bid(state)[:, None]
        # Calling needs a bid before it.
        legal = (bids > last) & ((bids < self.num_bids) | (last >= 0))
        acts = (state.step >= self.num_rolls) & ~state.called
        return legal & acts[:, None]

    def chance_probabilities(self, state: LiarsDiceState) -> torch.Tensor:
        """Probabilities of the faces of the next die: float64 [B, s]."""
        rolls = (state.step < self.num_rolls).to(torch.float64)[:, None]
        return (rolls / self.num_sides).expand(-1, self.num_sides)

    def apply(self, state: LiarsDiceState, action: torch.Tensor) -> LiarsDiceState:
        """The successors under `action` (int64 [B])."""
        tables = self._tables(state.step.device)
        rolls = state.step < self.num_rolls
        moves = ~rolls & ~state.called
        calls = moves & (action == self.num_bids)
        face = (action + 1).to(torch.int8)[:, None]
        is_rolled = tables.slots == state.step[:, None]
        is_bid = (tables.bids[:-1] == action[:, None]) & moves[:, None]
        return LiarsDiceState(
            step=state.step + (rolls | (moves & ~calls)),
            dice=torch.where(is_rolled, face, state.dice),
            was_bid=state.was_bid | is_bid,
            called=state.called | calls,
        )

    def returns(self, state: LiarsDiceState) -> torch.Tensor:
        """Player 0's utility: float64 [B], 1 or -1 at the end."""
        tables = self._tables(state.step.device)
        last = self._last_bid(state).clamp(min=0)
        face = tables.faces.index_select(0, last)[:, None]
        num_matches = ((state.dice == face) | (state.dice == self.num_sides)).sum(dim=1)
        is_true = num_matches >= tables.quantities.index_select(0, last)
        # Player 0 made the last bid if the number of bids is odd.
        is_own = (state.step - self.num_rolls) % 2 == 1
        won = torch.where(is_true == is_own, 1.0, -1.0).to(torch.float64)
        return won * state.called

    def round_index(self, state: LiarsDiceState) -> torch.Tensor:
        """1 when the game is over, else 0: int16 [B]."""
        return state.called.to(torch.int16)

    def public(self, state: LiarsDiceState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        called = {"called": state.called[:, None]}
        if not perfect_recall:
            return {
                "current_player": rules.one_hot(self.current_player(state), 2),
                "last_bid": rules.one_hot(self._last_bid(state), self.num_bids),
                **called,
            }
        rolls = self._tables(state.step.device).slots < state.step[:, None]
        return {"rolls": rolls, "bids": state.was_bid, **called}

    def private(self, state: LiarsDiceState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        first = player * self.num_dice
        faces = state.dice[:, first : first + self.num_dice].sort(dim=1).values
        has_rolled = state.step >= first + self.num_dice
        return {"dice": rules.one_hot(faces * has_rolled[:, None] - 1, self.num_sides)}

    def inputs(self, state: LiarsDiceState, player: int) -> Pieces:
        """The pieces of a network's inputs; the module's second table explains them."""
        tables = self._tables(state.step.device)
        dice = self.private(state, player, perfect_recall=True)["dice"]
        last = self._last_bid(state)
        index, is_bid = last.clamp(min=0), last >= 0
        quantity = tables.quantities.index_select(0, index) * is_bid
        face = tables.faces.index_select(0, index) * is_bid
        # Bids ascend, and player 0 has made the first, third, ...
        is_first = state.was_bid.cumsum(dim=1) % 2 == 1
        bids = (state.was_bid & is_first, state.was_bid & ~is_first)
        return {
            "player": rules.seat(state, player),
            "dice": dice.sum(dim=1) * (1 / self.num_dice),
            "quantity": rules.one_hot(quantity - 1, self.num_rolls),
            "face": rules.one_hot(face - 1, self.num_sides),
            "own_bids": bids[player],
            "opponent_bids": bids[1 - player],
            "called": state.called[:, None],
        }

    def compiled(self) -> CompiledRules:
        """See `Rules.compiled`."""
        tables = self._tables(torch.device("cpu"))
        return compiled_liars_dice(
            self.num_dice, self.num_sides, tables.faces.numpy(), tables.quantities.numpy()
        )

    def action_to_string(self, player: int, action: int) -> str:
        """The name of a roll, or as in the twin of a bid (its quantity and face) or call (Liar)."""
        if player == rules.CHANCE_PLAYER:
            return f"Roll {action + 1}"
        if action == self.num_bids:
            return "Liar"
        quantity, face = self.bid(action)
        return f"{quantity}-{face}"

    def describe(self, state: LiarsDiceState, row: int = 0) -> str:
        """The dice of both players and all bids of one row, for people."""
        dice = state.dice[row].view(2, self.num_dice).tolist()
        bids = [
            self.action_to_string(0, bid) for bid in state.was_bid[row].nonzero()[:, 0].tolist()
        ]
        bids += ["Liar"] * bool(state.called[row])
        hands = [" ".join(str(face) for face in hand if face) or "-" for hand in dice]
        return f"P0 dice: {hands[0]}\nP1 dice: {hands[1]}\nBids: {' '.join(bids) or '-'}"

    def _last_bid(self, state: LiarsDiceState) -> torch.Tensor:
        """The highest bid so far: int64 [B]; -1 before the first one."""
        numbers = self._tables(state.step.device).bids[:-1] + 1
        return (state.was_bid * numbers).amax(dim=1) - 1
