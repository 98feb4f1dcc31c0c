"""Leduc poker, as OpenSpiel's `leduc_poker` has it, and the larger variant of the DL-CFR paper.

Each player antes and gets one private card; a betting round, one public card, and a second betting
round follow. Player 0 opens both rounds. Whoever does not fold wins the pot; at a showdown a card
that pairs the public card beats every other one, then the higher rank wins, and equal hands split.

Betting. The first wager of a round is a *bet*, every further one a *raise*: it matches the
opponent's stake and adds one of the sizes. `max_raises` counts the raises after the bet, in a row
because a call ends the round. OpenSpiel calls the bet a raise too, so its limit of two raises a
round is `max_raises=1` here, the default. The paper's limit of two is `max_raises=2`: of the
readings we know, only this one, with both private ranks dealt by a single chance event, gives its
numbers, 61 336 histories and 3 960 infosets per player.

    python_leduc                                      # OpenSpiel's leduc_poker
    python_leduc(deal_ranks=true,bet_sizes=[2;4],raise_sizes=[2;4],max_raises=2)  # the paper's

Actions: Fold 0 (only when facing a wager), Call 1 (a check when not), 2 + i the wager of size
`bet_sizes[i]` or `raise_sizes[i]`, twice that in the second round.

Chance outcomes: cards, numbered rank * num_suits + suit, dealt to player 0, to player 1 and to the
table. With `deal_ranks` one outcome, rank 0 * num_ranks + rank 1, deals both private ranks, and the
public outcome is a rank; deals that differ in suits only are merged, with their summed weight.

Pieces of the tensors, with K = num_ranks * num_suits cards (`deal_ranks`: num_ranks),
A = num_actions, M = max_raises + 3 the longest betting round, D = 2 deals (`deal_ranks`: 1) and
U = max_utility:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | deals | D | thermometer of the private deals made |
| public | yes | first_round | M x A | its actions in order, one-hot, zero-padded |
| public | yes | public_card | K | the public card, one-hot; zeros before it is dealt |
| public | yes | second_round | M x A | as first_round |
| public | no | current_player | 2 | the player to move, one-hot; zeros if none is |
| public | no | public_card | K | as above |
| public | no | contributions | 2 x (U + 1) | chips each player has put into the pot, one-hot |
| private | both | private_card | K | the own card, one-hot; zeros before it is dealt |

The network's inputs show ranks only, of which there are R, as suits do not matter.

| piece | shape | meaning |
|---|---|---|
| player | 2 | the seat, one-hot |
| private_rank | R | rank of the own card, one-hot; zeros before it is dealt |
| public_rank | R | rank of the public card, one-hot; zeros before it is dealt |
| is_pair | 1 | whether they are equal |
| contributions | 2 | the player's and the opponent's chips in the pot, as shares of the most |
| betting | 2 x M x A | the actions of both rounds in order, one-hot, zero-padded |

Source: Southey et al., "Bayes' Bluff: Opponent Modelling in Poker" (2005); Kovařík et al., "Value
Functions for Depth-Limited Solving in Zero-Sum Imperfect-Information Games" (2023), Table 2.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import torch

from spiel_dl.games import openspiel, rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.holdem_betting import CALL, FIRST_WAGER, FOLD, MAX_SIZES
from spiel_dl.games.leduc_betting import (
    NUM_ROUNDS,
    SECOND_ROUND_FACTOR,
    betting_tables,
    longest_round,
)
from spiel_dl.games.piece_rules import PieceRules, Pieces

_MAX_CHIPS = 2**31 - 1  # states record chips as int32


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


class _Tables(NamedTuple):
    """Constants on one device."""

    private_deal: torch.Tensor  # float64 [C], probabilities of the joint deal of ranks
    slots: torch.Tensor  # int8 [2 * M], 0, 1, 2, ...


class LeducRules(PieceRules[LeducState]):
    """Rules of Leduc poker.

    Args:
      num_ranks: ranks in the deck, at least 2.
      num_suits: cards of each rank; the deck needs at least 3 cards.
      deal_ranks: deal ranks instead of cards, both private ones in a single chance event.
      bet_sizes: sizes of a round's first wager, increasing, in chips of the first round; a list
        written like "[2;4]".
      raise_sizes: sizes of the further wagers, in the same form.
      max_raises: the most raises after a bet.
      ante: chips each player pays before the deal, at least 1.

    Raises:
      ValueError: if a parameter is out of its range.
    """

    def __init__(
        self,
        num_ranks: int = 3,
        num_suits: int = 2,
        deal_ranks: bool = False,
        bet_sizes: str = "[2]",
        raise_sizes: str = "[2]",
        max_raises: int = 1,
        ante: int = 1,
    ) -> None:
        self.num_ranks, self.num_suits, self.deal_ranks = num_ranks, num_suits, deal_ranks
        self.bet_sizes = openspiel.parse_list(bet_sizes, "bet_sizes", int)
        self.raise_sizes = openspiel.parse_list(raise_sizes, "raise_sizes", int)
        self.max_raises, self.ante = max_raises, ante
        self._check_parameters()
        self._longest_round = longest_round(max_raises)
        self.num_kinds = num_ranks if deal_ranks else num_ranks * num_suits
        self.num_actions = FIRST_WAGER + max(len(self.bet_sizes), len(self.raise_sizes))
        self.num_chance_outcomes = num_ranks * num_ranks if deal_ranks else self.num_kinds
        self.max_game_length = NUM_ROUNDS * self._longest_round
        self.num_deals = 1 if deal_ranks else 2
        self.max_chance_nodes = self.num_deals + 1
        self.longest_chance_run = self.num_deals
        one_round = max(self.bet_sizes) + max_raises * max(self.raise_sizes, default=0)
        self.max_stake = ante + (1 + SECOND_ROUND_FACTOR) * one_round
        if 2 * self.max_stake > _MAX_CHIPS:
            raise ValueError(
                f"ante={ante} and the wagers make pots of up to {2 * self.max_stake} chips; use "
                f"smaller ones, for at most {_MAX_CHIPS}"
            )
        self.max_utility = float(self.max_stake)
        self.min_utility = -self.max_utility
        num_slots = NUM_ROUNDS * self._longest_round
        self.root = LeducState(
            node=torch.zeros(1, dtype=torch.int32),
            cards=torch.full((1, 3), -1, dtype=torch.int8),
            actions=torch.full((1, num_slots), -1, dtype=torch.int8),
            contributions=torch.full((1, 2), ante, dtype=torch.int32),
        )
        self._betting = betting_tables(self.bet_sizes, self.raise_sizes, max_raises, deal_ranks)
        self._tables = TablesByDevice(
            _Tables,
            private_deal=self._joint_deal(),
            slots=torch.arange(num_slots, dtype=torch.int8),
        )

    def _check_parameters(self) -> None:
        if self.num_ranks < 2:
            raise ValueError(f"num_ranks={self.num_ranks} leaves nothing to compare; use 2 or more")
        if self.num_suits < 1 or not 3 <= self.num_ranks * self.num_suits <= 127:
            raise ValueError(
                f"num_ranks={self.num_ranks} and num_suits={self.num_suits} make "
                f"{self.num_ranks * self.num_suits} cards; use a deck of 3 to 127 cards"
            )
        if not 0 <= self.max_raises <= 60:
            raise ValueError(f"max_raises={self.max_raises} is out of range; use 0 to 60")
        if not self.bet_sizes:
            raise ValueError("bet_sizes=[] allows no wager; name at least one size, as in [2]")
        if self.max_raises and not self.raise_sizes:
            raise ValueError(
                f"raise_sizes=[] allows no raise; use max_raises=0, not {self.max_raises}"
            )
        for name, sizes in (("bet_sizes", self.bet_sizes), ("raise_sizes", self.raise_sizes)):
            if len(sizes) > MAX_SIZES:
                raise ValueError(f"{name} has {len(sizes)} sizes; use at most {MAX_SIZES}")
            if any(size < 1 for size in sizes) or list(sizes) != sorted(set(sizes)):
                raise ValueError(f"{name}={list(sizes)} must be positive and strictly increasing")
        if self.ante < 1:
            raise ValueError(f"ante={self.ante} leaves nothing to fold for; use 1 or more")

    def current_player(self, state: LeducState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return self._betting(state.device).player.index_select(0, state.node)

    def legal_actions(self, state: LeducState) -> torch.Tensor:
        """Legal actions of the player to move: bool [B, A]."""
        return self._betting(state.device).legal.index_select(0, state.node)

    def chance_probabilities(self, state: LeducState) -> torch.Tensor:
        """Probabilities of the cards (or ranks) to deal: float64 [B, C]."""
        betting = self._betting(state.device)
        copies = self.num_suits if self.deal_ranks else 1
        unseen = copies - rules.one_hot(state.cards, self.num_kinds).double().sum(dim=1)
        # A deck of three is used up in the end, where chance does not act.
        probability = unseen / unseen.sum(dim=1, keepdim=True).clamp(min=1)
        if self.deal_ranks:
            missing = self.num_chance_outcomes - self.num_kinds
            probability = torch.nn.functional.pad(probability, (0, missing))
            is_root = (state.node == 0)[:, None]
            probability = torch.where(is_root, self._tables(state.device).private_deal, probability)
        return probability * betting.is_chance.index_select(0, state.node)[:, None]

    def apply(self, state: LeducState, action: torch.Tensor) -> LeducState:
        """The successors under `action` (int64 [B])."""
        betting, slots = self._betting(state.device), self._tables(state.device).slots
        # The node after a chance event does not depend on the outcome, which may exceed A.
        transition = action.clamp(max=self.num_actions - 1) + state.node * self.num_actions
        payer = betting.payer.index_select(0, transition)[:, None]
        stake = state.contributions.amax(dim=1) + betting.wager.index_select(0, transition)
        slot = betting.action_slot.index_select(0, state.node)[:, None]
        column = action.to(torch.int8)[:, None]
        card = column
        if self.deal_ranks:
            private = torch.stack([action // self.num_ranks, action % self.num_ranks, action], 1)
            card = torch.where((state.node == 0)[:, None], private.to(torch.int8), column)
        dealt = betting.card_slots.index_select(0, state.node)
        return LeducState(
            node=betting.successor.index_select(0, transition),
            cards=torch.where(dealt, card, state.cards),
            actions=torch.where(slots == slot, column, state.actions),
            contributions=torch.where(slots[:2] == payer, stake[:, None], state.contributions),
        )

    def returns(self, state: LeducState) -> torch.Tensor:
        """Player 0's utility: float64 [B], in chips."""
        suits = 1 if self.deal_ranks else self.num_suits
        ranks = torch.div(state.cards, suits, rounding_mode="floor").to(torch.int32)
        strength = ranks[:, :2] + (ranks[:, :2] == ranks[:, 2:]) * self.num_ranks
        # Stakes differ only after a fold, as the player who folds has not matched the last wager.
        stakes = state.contributions
        compared = torch.where(stakes[:, :1] == stakes[:, 1:], strength, stakes)
        won = (compared[:, 0] - compared[:, 1]).sign() * stakes.amin(dim=1)
        return won.double() * (self.current_player(state) == rules.TERMINAL_PLAYER)

    def round_index(self, state: LeducState) -> torch.Tensor:
        """The number of completed betting rounds: int16 [B]."""
        return self._betting(state.device).round.index_select(0, state.node)

    def public(self, state: LeducState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        public_card = {"public_card": rules.one_hot(state.cards[:, 2], self.num_kinds)}
        if not perfect_recall:
            return {
                "current_player": rules.one_hot(self.current_player(state), 2),
                **public_card,
                "contributions": rules.one_hot(state.contributions, self.max_stake + 1),
            }
        first, second = self._actions(state).unbind(dim=1)
        return {
            "deals": self._betting(state.device).deals.index_select(0, state.node),
            "first_round": first,
            **public_card,
            "second_round": second,
        }

    def private(self, state: LeducState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        return {"private_card": rules.one_hot(state.cards[:, player], self.num_kinds)}

    def inputs(self, state: LeducState, player: int) -> Pieces:
        """The pieces of a network's inputs; the module's second table explains them."""
        suits = 1 if self.deal_ranks else self.num_suits
        ranks = torch.div(state.cards, suits, rounding_mode="floor")
        private, public = ranks[:, player], ranks[:, 2]
        chips = torch.stack([state.contributions[:, side] for side in (player, 1 - player)], dim=1)
        return {
            "player": rules.seat(state, player),
            "private_rank": rules.one_hot(private, self.num_ranks),
            "public_rank": rules.one_hot(public, self.num_ranks),
            "is_pair": ((private == public) & (public >= 0))[:, None],
            "contributions": chips.float() * (1 / self.max_stake),
            "betting": self._actions(state),
        }

    def action_to_string(self, player: int, action: int) -> str:
        """The name of an action or of a deal; sizes are in chips of the first round."""
        if player == rules.CHANCE_PLAYER:
            return self._deal_to_string(action)
        if action in (FOLD, CALL):
            return ("Fold", "Call")[action]
        if self.num_actions == FIRST_WAGER + 1:
            return "Raise"
        index = action - FIRST_WAGER
        uses = [("Bet", self.bet_sizes), ("Raise", self.raise_sizes)]
        return "/".join(f"{verb} {sizes[index]}" for verb, sizes in uses if index < len(sizes))

    def describe(self, state: LeducState, row: int = 0) -> str:
        """The cards, chips and betting of one row, both private cards included."""
        cards = [self._card_to_string(card) for card in state.cards[row].tolist()]
        chips = state.contributions[row].tolist()
        actions = state.actions[row].view(NUM_ROUNDS, -1).tolist()
        betting = [
            " ".join(self.action_to_string(0, action) for action in line if action >= 0) or "-"
            for line in actions
        ]
        return (
            f"Player 0: {cards[0]}, {chips[0]} in the pot\n"
            f"Player 1: {cards[1]}, {chips[1]} in the pot\n"
            f"Public card: {cards[2]}\nFirst round: {betting[0]}\nSecond round: {betting[1]}"
        )

    def _actions(self, state: LeducState) -> torch.Tensor:
        """The actions of both rounds in order, one-hot: float32 [B, 2, M, A]."""
        return rules.one_hot(state.actions.unflatten(1, (NUM_ROUNDS, -1)), self.num_actions)

    def _joint_deal(self) -> torch.Tensor:
        """Probabilities of the two private ranks: float64 [num_ranks * num_ranks].

        A deck of n cards with s of each rank has n (n - 1) ordered deals; s * s of them show two
        given different ranks, s (s - 1) a given pair.
        """
        n, s = self.num_ranks * self.num_suits, self.num_suits
        ways = torch.full((self.num_ranks, self.num_ranks), s * s).fill_diagonal_(s * (s - 1))
        return ways.flatten().double() / (n * (n - 1))

    def _card_to_string(self, card: int) -> str:
        if card < 0:
            return "not dealt"
        if self.deal_ranks:
            return f"rank {card}"
        return f"rank {card // self.num_suits} suit {card % self.num_suits}"

    def _deal_to_string(self, outcome: int) -> str:
        # An outcome may be of either deal, so both are named.
        if self.deal_ranks:
            ranks = f"{outcome // self.num_ranks} and {outcome % self.num_ranks}"
            public = f" or public rank {outcome}" if outcome < self.num_ranks else ""
            return f"Deal ranks {ranks}{public}"
        return f"Deal {self._card_to_string(outcome)}"
