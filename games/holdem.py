"""Hold'em poker for two players, any deck, as OpenSpiel's `universal_poker` has it, and endgames.

Each player gets one or two hole cards. Rounds of betting follow, each after cards dealt to the
board. If a player folds, the other one wins the pot; at a showdown the better hand wins it, made of
up to five of a player's hole cards and the board's. Utilities are chips won or lost, counted from
before the blinds.

An *endgame* begins with cards on the board, chips in the pot (`blinds`, half of the pot for each
player) and a range for each player. Chance deals pairs of hands that have no card in common, in
proportion to the product of their weights.

    python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[100;100],blinds=[10;10],min_wager=0.0)

Actions: fold 0 (only when facing a wager), call or check 1, and 2 + i the wager of the round's size
number i in `bets`. So with the default, pot and all-in, actions are those of OpenSpiel's fcpa.
Sizes and the rules of wagers: see `holdem_betting`. Ranges: see `holdem_cards`; in game strings,
their items are separated by semicolons, and a range that would be read as a number ends with one
("77;", "77+;").

Chance outcomes: cards, numbered rank * num_suits + suit. Player 0's own cards are dealt first.

With `potSize`, OpenSpiel 2.0.2's `universal_poker` pays half that pot for a first fold, but the
blinds for checks to a showdown; here both pay the pot.

Pieces of the tensors, with C cards in the deck, D dealt, R rounds, M actions in the longest one:

| tensor | perfect recall | piece | shape | meaning |
|---|---|---|---|---|
| public | yes | deals | D | thermometer of all cards dealt |
| public | yes | board | R x C | the cards dealt before each round, once all of them are |
| public | yes | betting | R x M x A | actions of each round in order, one-hot, zero-padded |
| public | no | current_player | 2 | the player to move, one-hot; zeros if none is |
| public | no | board | C | all cards dealt to the board |
| public | no | contributions | 2 x U | each player's chips in the pot, one-hot among all amounts |
| private | both | private_cards | C | the hole cards, once all of them are dealt |
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import NamedTuple

import numpy as np
import torch

from spiel_dl.games import rules
from spiel_dl.games.batches import TablesByDevice
from spiel_dl.games.holdem_betting import betting_tree, parse_betting
from spiel_dl.games.holdem_cards import (
    RANKS,
    SUITS,
    card_text,
    hand_strengths,
    parse_cards,
    parse_range,
)
from spiel_dl.games.piece_rules import PieceRules, Pieces

_MOST_CARDS = 7  # hole cards and board, when hands are compared


@dataclasses.dataclass(frozen=True)
class HoldemState(rules.StateBatch):
    """A batch of states.

    Attributes:
      node: int32 [B], the node of the betting tree; see `holdem_betting`.
      cards: int8 [B, D], cards in the order of deals; -1 before.
      actions: int8 [B, R * M], actions round by round; -1 padded.
    """

    node: torch.Tensor
    cards: torch.Tensor
    actions: torch.Tensor


class _Tables(NamedTuple):
    """Constants on one device, see `BettingTree`; successors as N * A.

    Attributes:
      amount: int64 [N, 2], the number of an amount among all that occur.
      first_card: float64 [C], unnormalised probabilities of player 0's first card.
      second_card: float64 [C, C], those of its second one, by the first one.
      weights: float64 [C] or [C, C], player 1's range.
      is_left: bool [C], whether a card is not on the board at the start.
      board: int8 [b], the cards on the board at the start.
    """

    player: torch.Tensor
    legal: torch.Tensor
    successor: torch.Tensor
    round: torch.Tensor
    card_slot: torch.Tensor
    action_slot: torch.Tensor
    spent: torch.Tensor
    folded: torch.Tensor
    amount: torch.Tensor
    first_card: torch.Tensor
    second_card: torch.Tensor
    weights: torch.Tensor
    is_left: torch.Tensor
    board: torch.Tensor


class HoldemRules(PieceRules[HoldemState]):
    """Rules of hold'em for two players.

    Args:
      num_ranks: ranks in the deck, from two up, 1 to 13.
      num_suits: suits in the deck, 1 to 4.
      num_hole_cards: hole cards of each player, 1 or 2.
      board: the cards on the board at the start, such as "QsJh2h".
      board_cards: the number of cards dealt to the board before each round of betting.
      stacks: each player's chips, including its blind.
      blinds: each player's chips in the pot at the start; in an endgame half of the pot.
      bets: sizes of wagers, see `holdem_betting`.
      max_wagers: the most wagers of each round; an empty list: any number.
      min_wager: the least that a wager adds; -1: the larger blind.
      first_players: the first player of each round; the last one holds for all later rounds.
      range_0: player 0's range, see `holdem_cards`; empty: all hands.
      range_1: player 1's.

    Raises:
      ValueError: if a parameter is out of its range.
    """

    def __init__(
        self,
        num_ranks: int = 13,
        num_suits: int = 4,
        num_hole_cards: int = 2,
        board: str = "",
        board_cards: str = "[0;3;1;1]",
        stacks: str = "[20.0;20.0]",
        blinds: str = "[1.0;2.0]",
        bets: str = "pot allin",
        max_wagers: str = "[]",
        min_wager: float = -1.0,
        first_players: str = "[0]",
        range_0: str = "",
        range_1: str = "",
    ) -> None:
        if not 1 <= num_ranks <= len(RANKS) or not 1 <= num_suits <= len(SUITS):
            raise ValueError(
                f"num_ranks={num_ranks} and num_suits={num_suits} are out of range; use up to "
                f"{len(RANKS)} ranks and {len(SUITS)} suits"
            )
        if num_hole_cards not in (1, 2):
            raise ValueError(f"num_hole_cards={num_hole_cards} is out of range; use 1 or 2")
        self.num_ranks, self.num_suits, self.num_hole = num_ranks, num_suits, num_hole_cards
        self.num_cards = num_ranks * num_suits
        self.board = parse_cards(board, num_ranks, num_suits)
        self.betting = parse_betting(
            2 * self.num_hole,
            board_cards=board_cards,
            stacks=stacks,
            blinds=blinds,
            bets=bets,
            max_wagers=max_wagers,
            min_wager=min_wager,
            first_players=first_players,
        )
        num_shown = self.num_hole + len(self.board) + sum(self.betting.board_cards)
        if num_shown > _MOST_CARDS or num_shown + self.num_hole > self.num_cards:
            raise ValueError(
                f"board={board!r} and board_cards={board_cards} make hands of {num_shown} cards, "
                f"{num_shown + self.num_hole} in play; at most {_MOST_CARDS} and {self.num_cards} "
                "are possible"
            )
        self.ranges = (self._range("range_0", range_0), self._range("range_1", range_1))
        marginal = self._marginal_of_first()  # before the tree, which takes longer
        self.tree = betting_tree(self.betting)
        self._amounts = np.unique(self.tree.spent)
        self.num_rounds = len(self.betting.board_cards)
        self.num_dealt = self.betting.num_private + sum(self.betting.board_cards)
        self.num_actions = self.betting.num_actions
        self.num_chance_outcomes = self.num_cards
        # The bounds of each round's cards among all; rounds without cards have none.
        slots = itertools.accumulate(self.betting.board_cards, initial=self.betting.num_private)
        self._board_slots = list(itertools.pairwise(slots))
        self.max_game_length = self.tree.longest
        self.max_chance_nodes = self.longest_chance_run = self.num_dealt
        at_end = self.tree.spent[self.tree.player == rules.TERMINAL_PLAYER].min(axis=1)
        self.max_utility = float(at_end.max())
        self.min_utility = -self.max_utility
        num_slots = self.num_rounds * self.tree.longest_round
        self.root = HoldemState(
            node=torch.zeros(1, dtype=torch.int32),
            cards=torch.full((1, self.num_dealt), -1, dtype=torch.int8),
            actions=torch.full((1, num_slots), -1, dtype=torch.int8),
        )
        self._tables = self._make_tables(marginal)

    def _range(self, name: str, text: str) -> np.ndarray:
        """The weights of a player's hands that have no card of the board."""
        weights = parse_range(text, self.num_hole, self.num_ranks, self.num_suits)
        for axis in range(weights.ndim):
            np.moveaxis(weights, axis, 0)[list(self.board)] = 0.0
        if not weights.any():
            raise ValueError(
                f"{name}={text!r} is empty: no hand of it has a positive weight and no card of the "
                f"board {card_list(self.board, self.num_suits)!r}"
            )
        return weights

    def _marginal_of_first(self) -> np.ndarray:
        """Unnormalised probabilities of player 0's hands, if player 1's has no common card."""
        own, other = self.ranges
        by_card = other.sum(axis=-1) if self.num_hole == 2 else other
        count = (other > 0).astype(np.float64)
        count = count.sum(axis=-1) if self.num_hole == 2 else count
        if self.num_hole == 1:
            compatible_weight, has_compatible = other.sum() - by_card, count.sum() - count > 0
        else:
            compatible_weight = other.sum() / 2 - by_card[:, None] - by_card + other
            has_compatible = count.sum() / 2 - count[:, None] - count + (other > 0) > 0
        marginal: np.ndarray = own * compatible_weight * has_compatible
        if not (marginal > 0).any():
            raise ValueError(
                "range_0 and range_1 leave no pair of hands without a card in common; give wider "
                "ranges"
            )
        return marginal

    def current_player(self, state: HoldemState) -> torch.Tensor:
        """The player to act: int8 [B]."""
        return self._tables(state.device).player.index_select(0, state.node)

    def legal_actions(self, state: HoldemState) -> torch.Tensor:
        """Legal actions of the player to move: bool [B, A]."""
        return self._tables(state.device).legal.index_select(0, state.node)

    def chance_probabilities(self, state: HoldemState) -> torch.Tensor:
        """Probabilities of the next card: float64 [B, C]."""
        tables, hole = self._tables(state.device), self.num_hole
        cards = state.cards.to(torch.int64)
        deck = torch.arange(self.num_cards, device=state.device)
        is_used = (cards[:, :, None] == deck).any(dim=1)
        dealt = cards.clamp(min=0)
        weights = [tables.first_card.expand(len(dealt), -1)]
        if hole == 1:
            weights.append(tables.weights.expand(len(dealt), -1))
        else:
            weights += [
                tables.second_card.index_select(0, dealt[:, 0]),
                # Weights of all hands with a given first card, and no dealt card.
                (~is_used).double() @ tables.weights,
                tables.weights.index_select(0, dealt[:, 2]),
            ]
        slot = tables.card_slot.index_select(0, state.node)[:, None]
        probabilities = torch.ones_like(weights[0])
        for number, row in enumerate(weights):
            probabilities = torch.where(slot == number, row, probabilities)
        probabilities = probabilities * tables.is_left * ~is_used * (slot >= 0)
        return probabilities / probabilities.sum(dim=1, keepdim=True).clamp(min=1e-300)

    def apply(self, state: HoldemState, action: torch.Tensor) -> HoldemState:
        """The successors under `action` (int64 [B])."""
        tables = self._tables(state.device)
        player = self.current_player(state)
        is_chance = player == rules.CHANCE_PLAYER
        column = torch.where(is_chance, 0, action).clamp(max=self.num_actions - 1)
        value = action.to(torch.int8)[:, None]

        def written(array: torch.Tensor, slot: torch.Tensor) -> torch.Tensor:
            slots = torch.arange(array.shape[1], device=array.device)
            return torch.where(slots == slot.index_select(0, state.node)[:, None], value, array)

        return HoldemState(
            node=tables.successor.index_select(0, state.node * self.num_actions + column),
            cards=written(state.cards, tables.card_slot),
            actions=written(state.actions, tables.action_slot),
        )

    def returns(self, state: HoldemState) -> torch.Tensor:
        """Player 0's utility: float64 [B], in chips."""
        tables = self._tables(state.device)
        spent = tables.spent.index_select(0, state.node)
        folded = tables.folded.index_select(0, state.node)
        first, second = (self._strengths(state, player) for player in (0, 1))
        won = torch.where(folded >= 0, 2 * folded.to(torch.int64) - 1, (first - second).sign())
        is_over = self.current_player(state) == rules.TERMINAL_PLAYER
        return won.double() * spent.amin(dim=1) * is_over

    def _strengths(self, state: HoldemState, player: int) -> torch.Tensor:
        """The strength of a player's hand: int64 [B]; meaningless where cards are missing."""
        hole = self.num_hole
        start_board = self._tables(state.device).board.expand(state.batch_size, -1)
        hole_cards = state.cards[:, player * hole : (player + 1) * hole]
        cards = torch.cat([hole_cards, state.cards[:, 2 * hole :], start_board], dim=1)
        return hand_strengths(cards.clamp(min=0), self.num_suits)

    def round_index(self, state: HoldemState) -> torch.Tensor:
        """The number of completed rounds of betting: int16 [B]."""
        return self._tables(state.device).round.index_select(0, state.node)

    def public(self, state: HoldemState, perfect_recall: bool) -> Pieces:
        """The public pieces; the module's table explains them."""
        tables, private = self._tables(state.device), 2 * self.num_hole
        dealt = rules.one_hot(state.cards, self.num_cards)
        if not perfect_recall:
            board = dealt[:, private:].sum(dim=1)
            start_board = rules.one_hot(tables.board, self.num_cards).sum(dim=0)
            amount = tables.amount.index_select(0, state.node)
            return {
                "current_player": rules.one_hot(self.current_player(state), 2),
                "board": board + start_board,
                "contributions": rules.one_hot(amount, len(self._amounts)),
            }
        deals = (state.cards >= 0).float()
        boards = [dealt[:, a:b].sum(dim=1) * deals[:, b - 1 : b] for a, b in self._board_slots]
        actions = state.actions.unflatten(1, (self.num_rounds, -1))
        return {
            "deals": deals,
            "board": torch.stack(boards, dim=1),
            "betting": rules.one_hot(actions, self.num_actions),
        }

    def private(self, state: HoldemState, player: int, perfect_recall: bool) -> Pieces:
        """A player's private pieces; the module's table explains them."""
        first = player * self.num_hole
        hole_cards = state.cards[:, first : first + self.num_hole]
        cards = rules.one_hot(hole_cards, self.num_cards).sum(dim=1)
        return {"private_cards": cards * (hole_cards[:, -1:] >= 0)}

    def public_code(self, state: HoldemState) -> torch.Tensor:
        """See `Rules.public_code`: deals, all actions, each round's cards in ascending order."""
        deals = (state.cards >= 0).to(torch.int8)
        boards = [
            state.cards[:, a:b].sort(dim=1).values * deals[:, b - 1 : b]
            for a, b in self._board_slots
        ]
        return torch.cat([deals, state.actions, *boards], dim=1)

    def private_code(self, state: HoldemState, player: int) -> torch.Tensor:
        """See `Rules.private_code`: the hole cards in ascending order."""
        hole_cards = state.cards[:, player * self.num_hole : (player + 1) * self.num_hole]
        return hole_cards.sort(dim=1).values * (hole_cards[:, -1:] >= 0)

    def action_to_string(self, player: int, action: int) -> str:
        """The name of an action or of a card."""
        if player == rules.CHANCE_PLAYER:
            return f"Deal {card_text(action, self.num_suits)}"
        return self.betting.action_text(action)

    def describe(self, state: HoldemState, row: int = 0) -> str:
        """The cards, chips and betting of one row, both players' hole cards included."""
        private, hole = 2 * self.num_hole, self.num_hole
        cards = state.cards[row].tolist()
        spent = self.tree.spent[int(state.node[row])].tolist()
        own = [card_list(cards[p * hole : (p + 1) * hole], self.num_suits) for p in (0, 1)]
        lines = [f"Player {p}: {own[p] or '-'}, {spent[p]:g} in the pot" for p in (0, 1)]
        board = card_list([*self.board, *cards[private:]], self.num_suits)
        rounds = state.actions[row].view(self.num_rounds, -1).tolist()
        betting = [
            " ".join(self.action_to_string(0, action) for action in line if action >= 0) or "-"
            for line in rounds
        ]
        return "\n".join([*lines, f"Board: {board or '-'}", f"Betting: {' | '.join(betting)}"])

    def _make_tables(self, marginal: np.ndarray) -> TablesByDevice[_Tables]:
        tree, is_left = self.tree, np.ones(self.num_cards, np.bool_)
        is_left[list(self.board)] = False
        return TablesByDevice(
            _Tables,
            player=tree.player,
            legal=tree.legal,
            successor=tree.successor.reshape(-1),
            round=tree.round,
            card_slot=tree.card_slot,
            action_slot=tree.action_slot,
            spent=tree.spent,
            folded=tree.folded,
            amount=np.searchsorted(self._amounts, tree.spent),
            first_card=marginal.sum(axis=1) if self.num_hole == 2 else marginal,
            second_card=marginal if self.num_hole == 2 else np.zeros((1, 1)),
            weights=self.ranges[1],
            is_left=is_left,
            board=np.array(self.board, np.int8),
        )


def card_list(cards: tuple[int, ...] | list[int], num_suits: int = 4) -> str:
    """Cards as text, such as "Qs2h"; those that are not dealt are left out."""
    return "".join(card_text(card, num_suits) for card in cards if card >= 0)
