"""Hold'em: all bets are public, and hands are independent but for card removal.

A player's infosets are decisions of the betting tree times boards times its own live hands. Where
the betting ends, a hand's value needs only sums of the opponent's weights: after a fold, of all
hands without a card in common; at a showdown, of the weaker and of the stronger ones of these. By
inclusion and exclusion, the weight of hands with one of two cards is that of hands with the first,
plus that of hands with the second, less that of the hand of both. With hands in order of strength,
running sums give all showdowns of a board in one pass. So both are linear in the number of hands.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy as np
import pyspiel
import torch

from spiel_dl.factored import holdem_kernels, holdem_places
from spiel_dl.factored.holdem_deals import Deals
from spiel_dl.factored.holdem_kernels import Ends, Side
from spiel_dl.factored.holdem_places import Places
from spiel_dl.factored.stones import check_mover
from spiel_dl.games.compiled import CHANCE
from spiel_dl.games.holdem import HoldemRules, HoldemState
from spiel_dl.tree.factored_form import Cost, FactoredForm
from spiel_dl.tree.factored_game import FactoredGame

_NUM_PARTS = 16
_SECONDS_PER_HAND = 8e-9


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemForm(FactoredForm):
    """The factored payoffs of hold'em.

    Attributes:
      num_cards: cards in the deck.
      ends: for each player and round, ends of the betting by folds, and at showdowns.
      sides: for each round, both players' hands.
      last: for each round, see `Boards`.
    """

    num_cards: int
    ends: tuple[list[tuple[Ends, Ends]], list[tuple[Ends, Ends]]]
    sides: list[tuple[Side, Side]]
    last: list[np.ndarray]

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """The payoff of each of a player's sequences against a plan: float64 [S_p], a new array."""
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)
        direction = slice(None, None, 1 - 2 * player)
        parts = [
            (index, int(begin), int(end))
            for index, last in enumerate(self.last)
            for begin, end in _board_ranges(len(last) - 1)
        ]
        root_values = [np.zeros(len(last) - 1) for last in self.last]

        def add_part(part: int) -> None:
            index, begin, end = parts[part]
            holdem_kernels.add_ends(
                begin,
                end,
                self.num_cards,
                *self.ends[player][index],
                self.sides[index][direction],
                self.sides[-1][direction],
                self.last[index],
                plan,
                cfv,
                root_values[index],
            )

        self.in_threads(add_part, len(parts))
        cfv[0] += sum(float(values.sum()) for values in root_values)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        last = sum(len(side.hand) for side in self.sides[-1])
        size = sum(
            len(folds.worth) * sum(len(side.hand) for side in sides)
            # The boards of any round are followed by all boards of the last one.
            + len(showdowns.worth) * last
            for (folds, showdowns), sides in zip(self.ends[0], self.sides, strict=True)
        )
        return Cost(_SECONDS_PER_HAND * size / 2, 8 * self.treeplexes[0].num_sequences)


def _board_ranges(num_boards: int) -> list[tuple[int, int]]:
    """Splits the boards of a round into ranges, each for one thread."""
    bounds = np.unique(np.linspace(0, num_boards, _NUM_PARTS + 1).astype(int))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemGame(FactoredGame):
    """This package's hold'em with any ranges and bets, or another game with the same actions.

    Attributes:
      sequence_form: its factored payoffs.
      rules: its rules.
      deals: all deals of chance.
      places: the places of each player's decisions among its infosets and sequences.
    """

    sequence_form: HoldemForm
    rules: HoldemRules
    deals: Deals
    places: tuple[Places, Places]

    @classmethod
    def build(cls, game: pyspiel.Game, rules: HoldemRules, *, num_threads: int) -> HoldemGame:
        """The factored form of a game."""
        deals = Deals.of_rules(rules)
        num_rounds = rules.num_rounds
        first, second = (
            holdem_places.number_rounds(rules, deals, player, num_rounds) for player in (0, 1)
        )
        places = (first[0], second[0])
        rounds = range(num_rounds)
        end_nodes = [holdem_places.ends_in_round(rules, places, index) for index in rounds]
        ends = [
            [
                holdem_places.ends_of(rules, deals, places, player, *index_and_nodes)
                for index_and_nodes in enumerate(end_nodes)
            ]
            for player in (0, 1)
        ]
        form = HoldemForm(
            (first[1], second[1]),
            2.0 * rules.max_utility,
            num_threads,
            rules.num_cards,
            (ends[0], ends[1]),
            [(_side(deals, index, 0), _side(deals, index, 1)) for index in rounds],
            [boards.last for boards in deals.boards],
        )
        return cls(game, form, rules, deals, places)

    def legal_actions(self, player: int, infoset: int) -> np.ndarray:
        """Legal actions of an infoset: int32 [n]; ValueError if there is none such."""
        node, _, _ = self.parts(player, infoset)
        return np.flatnonzero(self.rules.tree.legal[node]).astype(np.int32)

    def find_infoset(self, state: pyspiel.State, player: int) -> int:
        """A player's infoset in a state of this game; ValueError if it does not act there."""
        check_mover(self.game, state, player)
        tree, hole = self.rules.tree, self.rules.num_hole
        actions = state.history()
        own_cards = sorted(actions[player * hole : (player + 1) * hole])
        hand = self.deals.hands[player].numbers[own_cards[0], (*own_cards, self.rules.num_cards)[1]]
        node, dealt = 0, []
        for action in actions:
            is_chance = tree.player[node] == CHANCE
            if is_chance and tree.card_slot[node] >= 2 * hole:
                dealt.append(action)
            node = int(tree.successor[node, 0 if is_chance else action])
        index = int(tree.round[node])
        live = self.deals.boards[index].live[player]
        board = self.board_number(index, dealt)
        decision = int(np.searchsorted(self.places[player].nodes, node))
        place = live.offset[board] + live.position[board, hand]
        return int(self.places[player].first_infoset[decision] + place)

    def board_number(self, index: int, dealt: Sequence[int]) -> int:
        """The number of a round's board of cards `dealt`, each round's in any order."""
        return self._board_numbers[index][self._sorted_by_rounds(dealt)]

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of a history in an infoset; ValueError if the player has no such infoset."""
        node, board, hand = self.parts(player, infoset)
        index, hole = int(self.rules.tree.round[node]), self.rules.num_hole
        boards = self.deals.boards[index]
        own_cards = self.deals.hands[player].cards[hand, :hole]
        live = boards.live[1 - player]
        opponent_hands = self.deals.hands[1 - player].cards[
            live.hand[live.offset[board] : live.offset[board + 1]], :hole
        ]
        opponent_cards = opponent_hands[~np.isin(opponent_hands, own_cards).any(axis=1)][0]
        hole_cards = (own_cards, opponent_cards) if player == 0 else (opponent_cards, own_cards)
        cards = [*hole_cards[0].tolist(), *hole_cards[1].tolist(), *boards.cards[board].tolist()]
        actions = []
        for before, action in self.paths[node]:
            slot = self.rules.tree.card_slot[before]
            actions.append(cards[slot] if slot >= 0 else action)
        return actions

    def states_of(self, player: int, begin: int, end: int) -> HoldemState | None:
        """See `FactoredGame.states_of`; the opponent's cards are 0."""
        return self.states_of_rules(player, begin, end)

    def states_of_rules(self, player: int, begin: int, end: int) -> HoldemState:
        """What a player sees in the infosets `begin` to `end` - 1, as states of `rules`."""
        rules, hole = self.rules, self.rules.num_hole
        nodes = np.zeros(end - begin, np.int64)
        cards = np.full((end - begin, rules.num_dealt), -1, np.int8)
        cards[:, : 2 * hole] = 0
        actions = np.full((end - begin, rules.num_rounds * rules.tree.longest_round), -1, np.int8)
        places = self.places[player]
        for decision, node in enumerate(places.nodes.tolist()):
            first, last = places.first_infoset[decision : decision + 2]
            infosets = np.arange(max(begin, first), min(end, last))
            if not len(infosets):
                continue
            boards = self.deals.boards[rules.tree.round[node]]
            live, rows = boards.live[player], infosets - begin
            board = np.searchsorted(live.offset, infosets - first, side="right") - 1
            hole_cards = self.deals.hands[player].cards[live.hand[infosets - first], :hole]
            cards[rows, player * hole : (player + 1) * hole] = hole_cards
            cards[rows, 2 * hole : 2 * hole + boards.cards.shape[1]] = boards.cards[board]
            for before, action in self.paths[node]:
                slot = rules.tree.action_slot[before]
                if slot >= 0:
                    actions[rows, slot] = action
            nodes[rows] = node
        return HoldemState(
            torch.from_numpy(nodes.astype(np.int32)),
            torch.from_numpy(cards),
            torch.from_numpy(actions),
        )

    def parts(self, player: int, infoset: int) -> tuple[int, int, int]:
        """The node, board and hand of an infoset; ValueError if there is none such."""
        self.check_infoset(player, infoset)
        places = self.places[player]
        decision = int(np.searchsorted(places.first_infoset, infoset, side="right")) - 1
        node = int(places.nodes[decision])
        live = self.deals.boards[int(self.rules.tree.round[node])].live[player]
        place = infoset - int(places.first_infoset[decision])
        board = int(np.searchsorted(live.offset, place, side="right")) - 1
        return node, board, int(live.hand[place])

    def _sorted_by_rounds(self, dealt: Sequence[int]) -> tuple[int, ...]:
        """Dealt cards in the order of `Boards.cards`."""
        cards: list[int] = []
        for count in self.rules.betting.board_cards:
            cards += sorted(dealt[len(cards) : len(cards) + count])
        return tuple(cards)

    @functools.cached_property
    def _board_numbers(self) -> list[dict[tuple[int, ...], int]]:
        """For each round, board numbers by cards."""
        return [
            {tuple(cards): number for number, cards in enumerate(boards.cards.tolist())}
            for boards in self.deals.boards
        ]

    @functools.cached_property
    def paths(self) -> dict[int, list[tuple[int, int]]]:
        """By node of the betting tree, the nodes above it, and the actions there."""
        return _paths(self.rules)


def num_histories(rules: HoldemRules) -> float:
    """Roughly the number of histories: lines of betting times boards times ordered hands."""
    order = math.factorial(rules.num_hole)
    pairs = math.prod(np.count_nonzero(np.triu(np.atleast_2d(r))) * order for r in rules.ranges)
    num_left = rules.num_cards - len(rules.board) - 2 * rules.num_hole
    counts = np.cumsum([0, *rules.betting.board_cards])
    boards = np.array([math.perm(num_left, int(count)) for count in counts], np.float64)
    return float(pairs * boards[np.minimum(rules.tree.round + 1, len(counts) - 1)].sum())


def _paths(rules: HoldemRules) -> dict[int, list[tuple[int, int]]]:
    """By node, the nodes above it, and the actions there (0 where chance acts)."""
    tree = rules.tree
    paths: dict[int, list[tuple[int, int]]] = {0: []}
    for node in range(len(tree.player)):
        actions = [0] if tree.player[node] == CHANCE else np.flatnonzero(tree.legal[node]).tolist()
        for action in actions:
            paths[int(tree.successor[node, action])] = [*paths[node], (node, action)]
    return paths


def _side(deals: Deals, index: int, player: int) -> Side:
    """A player's hands on the boards of a round."""
    hands, live = deals.hands[player], deals.boards[index].live[player]
    return Side(
        hands.cards, hands.weights, live.offset, live.hand, live.position, live.strength, live.same
    )
