"""Hold'em: all bets are public, and hands are independent but for the cards that they share.

A player's infosets are decisions of the betting tree times boards times its own live hands. Where
the betting ends, a hand's value needs sums of the opponent's weights alone: of all hands without a
card in common where somebody folded, of those that are weaker and those that are better at a
showdown. By inclusion and exclusion, the weights of hands with one of two cards are those with the
first, and with the second, less the hand of both. With hands in order of strength, running sums
give all showdowns of a board in one pass. So both take as many steps as there are hands.
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
from spiel_dl.games.holdem import HoldemRules, HoldemState
from spiel_dl.games.holdem_betting import CHANCE
from spiel_dl.tree.factored_form import Cost, FactoredForm
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.information_states import Observations

_NUM_PARTS = 16
_SECONDS_PER_HAND = 8e-9


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemForm(FactoredForm):
    """The factored payoffs of hold'em.

    Attributes:
      num_cards: in the deck.
      ends: for each player and round, where somebody folded, and showdowns.
      sides: for each round, both players' hands.
      last: for each round, see `Boards`.
    """

    num_cards: int
    ends: tuple[list[tuple[Ends, Ends]], list[tuple[Ends, Ends]]]
    sides: list[tuple[Side, Side]]
    last: list[np.ndarray]

    def values_against(self, player: int, opponent_plan: np.ndarray) -> np.ndarray:
        """What each of a player's sequences pays by itself: float64 [S_p], a new array."""
        cfv = np.zeros(self.treeplexes[player].num_sequences)
        plan = np.ascontiguousarray(opponent_plan, np.float64)
        direction = slice(None, None, 1 - 2 * player)
        parts = [
            (index, int(begin), int(end))
            for index, last in enumerate(self.last)
            for begin, end in _shares(len(last) - 1)
        ]
        root = [np.zeros(len(last) - 1) for last in self.last]

        def work(part: int) -> None:
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
                root[index],
            )

        self.in_threads(work, len(parts))
        cfv[0] += sum(float(each.sum()) for each in root)
        return cfv

    @property
    def cost(self) -> Cost:
        """See `FactoredForm.cost`."""
        last = sum(len(side.hand) for side in self.sides[-1])
        size = sum(
            len(folds.worth) * sum(len(side.hand) for side in sides)
            # Boards of all rounds are followed by the same boards of the last one.
            + len(showdowns.worth) * last
            for (folds, showdowns), sides in zip(self.ends[0], self.sides, strict=True)
        )
        return Cost(_SECONDS_PER_HAND * size / 2, 8 * self.treeplexes[0].num_sequences)


def _shares(num_boards: int) -> list[tuple[int, int]]:
    """The boards of a round in parts, each for one thread."""
    bounds = np.unique(np.linspace(0, num_boards, _NUM_PARTS + 1).astype(int))
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


@dataclasses.dataclass(frozen=True, eq=False)
class HoldemGame(FactoredGame):
    """Hold'em of ours, with any ranges and bets; or another's that is the same, action by action.

    Attributes:
      sequence_form: its payoffs.
      rules: its rules.
      deals: what chance may deal.
      places: where each player's decisions stand.
    """

    sequence_form: HoldemForm
    rules: HoldemRules
    deals: Deals
    places: tuple[Places, Places]

    @classmethod
    def build(cls, game: pyspiel.Game, rules: HoldemRules, *, num_threads: int) -> HoldemGame:
        """The game; see the attributes."""
        deals = Deals.of_rules(rules)
        num_rounds = rules.num_rounds
        first, second = (
            holdem_places.places_before(rules, deals, player, num_rounds) for player in (0, 1)
        )
        places = (first, second)
        rounds = range(num_rounds)
        ended = [holdem_places.ended_in(rules, places, index) for index in rounds]
        ends = [
            [
                holdem_places.ends_of(rules, deals, places, player, *each)
                for each in enumerate(ended)
            ]
            for player in (0, 1)
        ]
        form = HoldemForm(
            (
                holdem_places.treeplex_of(rules, deals, first, 0),
                holdem_places.treeplex_of(rules, deals, second, 1),
            ),
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
        own = sorted(actions[player * hole : (player + 1) * hole])
        hand = self.deals.hands[player].numbers[own[0], (*own, self.rules.num_cards)[1]]
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
        """The number of a round's board, of the cards dealt until then, in any order."""
        return self._board_numbers[index][self._sorted_by_rounds(dealt)]

    def history(self, player: int, infoset: int) -> list[int]:
        """The actions of one of the histories in an infoset; ValueError if there is none such."""
        node, board, hand = self.parts(player, infoset)
        index, hole = int(self.rules.tree.round[node]), self.rules.num_hole
        boards = self.deals.boards[index]
        own = self.deals.hands[player].cards[hand, :hole]
        live = boards.live[1 - player]
        others = self.deals.hands[1 - player].cards[
            live.hand[live.offset[board] : live.offset[board + 1]], :hole
        ]
        other = others[~np.isin(others, own).any(axis=1)][0]
        both = (own, other) if player == 0 else (other, own)
        cards = [*both[0].tolist(), *both[1].tolist(), *boards.cards[board].tolist()]
        actions = []
        for before, action in self.paths[node]:
            slot = self.rules.tree.card_slot[before]
            actions.append(cards[slot] if slot >= 0 else action)
        return actions

    def observations(self, player: int, begin: int, end: int) -> Observations:
        """What a player sees in the infosets from `begin` to before `end`."""
        rules, hole = self.rules, self.rules.num_hole
        nodes = np.zeros(end - begin, np.int64)
        cards = np.full((end - begin, rules.num_dealt), -1, np.int8)
        cards[:, : 2 * hole] = 0
        actions = np.full((end - begin, rules.num_rounds * rules.tree.longest_round), -1, np.int8)
        places = self.places[player]
        for decision, node in enumerate(places.nodes.tolist()):
            first, last = places.first_infoset[decision : decision + 2]
            chosen = np.arange(max(begin, first), min(end, last))
            if not len(chosen):
                continue
            boards = self.deals.boards[rules.tree.round[node]]
            live, rows = boards.live[player], chosen - begin
            board = np.searchsorted(live.offset, chosen - first, side="right") - 1
            own = self.deals.hands[player].cards[live.hand[chosen - first], :hole]
            cards[rows, player * hole : (player + 1) * hole] = own
            cards[rows, 2 * hole : 2 * hole + boards.cards.shape[1]] = boards.cards[board]
            for before, action in self.paths[node]:
                slot = rules.tree.action_slot[before]
                if slot >= 0:
                    actions[rows, slot] = action
            nodes[rows] = node
        return Observations(self._tensors(player, nodes, cards, actions), rules.tree.legal[nodes])

    def _tensors(
        self, player: int, nodes: np.ndarray, cards: np.ndarray, actions: np.ndarray
    ) -> np.ndarray:
        """Information state tensors of states, see `HoldemState`: float32 [N, D]."""
        state = HoldemState(
            torch.from_numpy(nodes.astype(np.int32)),
            torch.from_numpy(cards),
            torch.from_numpy(actions),
        )
        tensors: np.ndarray = self.rules.information_state_tensor(state, player).numpy()
        return tensors

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
        """Cards in the order of `Boards.cards`."""
        found: list[int] = []
        for count in self.rules.betting.board_cards:
            found += sorted(dealt[len(found) : len(found) + count])
        return tuple(found)

    @functools.cached_property
    def _board_numbers(self) -> list[dict[tuple[int, ...], int]]:
        """By rounds, the number of a board of some cards."""
        return [
            {tuple(cards): number for number, cards in enumerate(boards.cards.tolist())}
            for boards in self.deals.boards
        ]

    @functools.cached_property
    def paths(self) -> dict[int, list[tuple[int, int]]]:
        """By node of the betting tree, the nodes before it, and the actions there."""
        return _paths(self.rules)


def num_histories(rules: HoldemRules) -> float:
    """About how many histories a game has: lines of betting times boards times ordered hands."""
    order = math.factorial(rules.num_hole)
    pairs = math.prod(np.count_nonzero(np.triu(np.atleast_2d(r))) * order for r in rules.ranges)
    left = rules.num_cards - len(rules.board) - 2 * rules.num_hole
    counts = np.cumsum([0, *rules.betting.board_cards])
    boards = np.array([math.perm(left, int(count)) for count in counts], np.float64)
    return float(pairs * boards[np.minimum(rules.tree.round + 1, len(counts) - 1)].sum())


def _paths(rules: HoldemRules) -> dict[int, list[tuple[int, int]]]:
    """By node, the nodes before it, and the actions there (0 where chance acts)."""
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
