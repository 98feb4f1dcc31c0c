"""A solved endgame of hold'em, node by node: hands, what they do, and what they are worth.

A node is named by its path, what led to it: actions, and cards dealt, as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import holdem_kernels
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_kernels import LANES, Ends
from spiel_dl.games.holdem_betting import CHANCE, NOBODY, TERMINAL
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.solvers.best_response import FixedStrategy, best_response


class Place(NamedTuple):
    """Where play stands.

    Attributes:
      node: of the betting tree.
      dealt: the cards dealt since the endgame began.
      board: the number of the board that they make, in round len(dealt).
      before: what each player had in when the street began: both the same.
    """

    node: int
    dealt: tuple[int, ...]
    board: int
    before: float


class Side(NamedTuple):
    """A player's n live hands at a node; not a number: what is not defined.

    Attributes:
      cards: int64 [n, 2], in ascending order.
      reach: float64 [n], the range's weight times the player's own reach probability.
      possible: float64 [n], what the opponent's reach sums to over hands without a card in common.
      equity: float64 [n], the part of the pot that it wins if nobody bets any more.
      cfv: float64 [n], counterfactual value, unnormalised, as in the whole package; None: where
        chance acts.
      value: float64 [n], chips that it gets from here on, where folding at once gets 0.
      strategy: float64 [A, n], how likely each legal action is; None: another acts.
      action_values: float64 [A, n], as `value`, of always taking an action here.
      strength: int64 [n], by which hands are compared on a full board; else empty.
    """

    cards: np.ndarray
    reach: np.ndarray
    possible: np.ndarray
    equity: np.ndarray
    cfv: np.ndarray | None
    value: np.ndarray | None
    strategy: np.ndarray | None
    action_values: np.ndarray | None
    strength: np.ndarray


class PokerSolution:
    """Both players' strategies in an endgame, with all values under them.

    Attributes:
      game: the endgame.
      start: the first node at which somebody decides.
    """

    def __init__(self, policy: ArrayPolicy):
        """Evaluates a policy, once for each player.

        Raises:
          ValueError: if it is none of a factored endgame of hold'em with two cards of each player's
            own, in which one card is dealt before each further street.
        """
        game = policy.tree
        if not isinstance(game, HoldemGame) or game.rules.num_hole != 2:
            raise ValueError(
                "only solutions of factored hold'em with two cards each can be looked at; compile "
                "the game by factored_game, and solve that"
            )
        cards = game.rules.betting.board_cards
        if cards != (0, *(1,) * (len(cards) - 1)):
            raise ValueError(
                f"board_cards={list(cards)} is no endgame that begins on a flop, turn or river; "
                "make one by dl.poker.endgame"
            )
        self.game = game
        self.start = game.rules.betting.num_private
        form, strategies = game.sequence_form, policy.strategies
        self._strategies = strategies
        self._plans = plans_of(game, strategies)
        self._cfv: list[np.ndarray] = []
        self._infoset_cfv: list[np.ndarray] = []
        for player, treeplex in enumerate(form.treeplexes):
            fixed = FixedStrategy(np.ones(treeplex.num_infosets, np.bool_), strategies[player])
            cfv = best_response(form, player, self._plans[1 - player], fixed=fixed).cfv
            self._cfv.append(cfv)
            self._infoset_cfv.append(treeplex.sum_per_infoset(strategies[player] * cfv))

    def place(self, path: Sequence[int]) -> Place:
        """Where actions and cards lead to.

        Raises:
          ValueError: if one of them is not possible.
        """
        rules, tree = self.game.rules, self.game.rules.tree
        node = self.start
        dealt: list[int] = []
        before = float(tree.spent[node].max())
        for number, step in enumerate(path):
            if tree.player[node] == CHANCE:
                if step not in self.cards_left(dealt):
                    raise ValueError(f"step {number} of {list(path)} is no card that may be dealt")
                dealt.append(step)
                node = int(tree.successor[node, 0])
                before = float(tree.spent[node].max())
            elif 0 <= step < rules.num_actions and tree.legal[node, step]:
                node = int(tree.successor[node, step])
            else:
                raise ValueError(f"step {number} of {list(path)} is no legal action there")
        return Place(node, tuple(dealt), self.game.board_number(len(dealt), dealt), before)

    def cards_left(self, dealt: Sequence[int]) -> list[int]:
        """The cards that may be dealt next."""
        rules = self.game.rules
        return [c for c in range(rules.num_cards) if c not in rules.board and c not in dealt]

    def side(self, place: Place, player: int) -> Side:
        """A player's hands at a node."""
        game, (node, dealt, board, _) = self.game, place
        index = len(dealt)
        tree, boards = game.rules.tree, game.deals.boards[index]
        live, all_hands = boards.live[player], game.deals.hands[player]
        here = slice(live.offset[board], live.offset[board + 1])
        hands = live.hand[here]
        cards, weights = all_hands.cards[hands], all_hands.weights[hands]
        reach, others = (self._reach(place, each) for each in (player, 1 - player))
        possible = self._possible(place, player, others)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Chance's part, to the opponent's reach: what turns cfvs into utilities.
            scale = 1.0 / (weights * game.deals.scale * boards.chance * possible)
            scale[possible <= 0] = np.nan
        equity = self._equity(place, player, weights, others, possible)
        cfv = value = strategy = action_values = None
        own = float(tree.spent[node, player])
        if tree.player[node] == TERMINAL:
            folded, pays = int(tree.folded[node]), float(tree.spent[node].min())
            share = equity if folded == NOBODY else np.where(possible > 0, folded != player, np.nan)
            value = (2 * share - 1) * pays + own
            cfv = np.nan_to_num((value - own) / scale)
        elif tree.player[node] != CHANCE:
            cfv = self._cfvs(place, player, hands)
            value = cfv * scale + own
        if tree.player[node] == player:
            first = self._sequences(player, node, index, board, hands)
            rows = first + np.arange(int(tree.legal[node].sum()))[:, None]
            strategy = self._strategies[player][rows]
            action_values = self._cfv[player][rows] * scale + own
        is_last = index == game.rules.num_rounds - 1
        strength = live.strength[here] if is_last else np.zeros(0, np.int64)
        return Side(cards, reach, possible, equity, cfv, value, strategy, action_values, strength)

    def _reach(self, place: Place, player: int) -> np.ndarray:
        """The weights of a player's live hands times its own reach probabilities."""
        live = self.game.deals.boards[len(place.dealt)].live[player]
        hands = live.hand[live.offset[place.board] : live.offset[place.board + 1]]
        weights = self.game.deals.hands[player].weights[hands]
        decision, rank = self.game.places[player].before[place.node]
        if decision < 0:
            whole: np.ndarray = weights.copy()
            return whole
        before = int(self.game.places[player].nodes[decision])
        first = self._sequences(player, before, len(place.dealt), place.board, hands)
        found: np.ndarray = weights * self._plans[player][first + rank]
        return found

    def _possible(self, place: Place, player: int, others: np.ndarray) -> np.ndarray:
        """What the opponent's reach sums to over hands without a card in common: float64 [n]."""
        rules, boards = self.game.rules, self.game.deals.boards[len(place.dealt)]
        own, other = boards.live[player], boards.live[1 - player]
        here = slice(own.offset[place.board], own.offset[place.board + 1])
        there = slice(other.offset[place.board], other.offset[place.board + 1])
        by_card = np.zeros(rules.num_cards)
        for cards in self.game.deals.hands[1 - player].cards[other.hand[there]].T:
            by_card += np.bincount(cards, others, rules.num_cards)
        twice = np.append(others, 0.0)[own.same[here]]
        cards = self.game.deals.hands[player].cards[own.hand[here]]
        sums = others.sum() - by_card[cards].sum(axis=1) + twice
        # What is left of a sum that is 0 is rounding.
        found: np.ndarray = np.where(sums > 1e-12 * max(others.sum(), 1e-300), sums, 0.0)
        return found

    def _equity(
        self,
        place: Place,
        player: int,
        weights: np.ndarray,
        others: np.ndarray,
        possible: np.ndarray,
    ) -> np.ndarray:
        """The part of the pot that each hand wins if nobody bets any more: float64 [n]."""
        form, deals, index = self.game.sequence_form, self.game.deals, len(place.dealt)
        own, other = form.sides[index][player], form.sides[index][1 - player]
        last = form.sides[-1][player], form.sides[-1][1 - player]
        # The game's own kernel, on one showdown after the opponent's hands as they are here.
        ones, none = np.ones(LANES, np.int64), np.zeros(0, np.int64)
        showdown = Ends(ones, ones, ones, ones, np.eye(1, LANES)[0])
        plan, cfv = np.zeros(1 + len(other.hand)), np.zeros(1 + len(own.hand))
        there = slice(1 + other.offset[place.board], 1 + other.offset[place.board + 1])
        hands = other.hand[other.offset[place.board] : other.offset[place.board + 1]]
        plan[there] = others / other.weights[hands]
        holdem_kernels.add_ends(
            place.board, place.board + 1, form.num_cards,
            Ends(none, none, none, none, np.zeros(0)), showdown,
            (own, other), last, form.last[index],
            plan, cfv, np.zeros(len(own.offset) - 1),
        )  # fmt: skip
        finals = deals.boards[index].chance / deals.boards[-1].chance
        here = slice(1 + own.offset[place.board], 1 + own.offset[place.board + 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 0.5 + 0.5 * cfv[here] / (weights * finals * possible)
        found: np.ndarray = np.where(possible > 0, share, np.nan)
        return found

    def _cfvs(self, place: Place, player: int, hands: np.ndarray) -> np.ndarray:
        """A player's counterfactual values where somebody decides: float64 [n]."""
        tree, index = self.game.rules.tree, len(place.dealt)
        places, where = self.game.places[player], (index, place.board, hands)
        found: np.ndarray
        decision, rank = places.before[place.node]
        if tree.player[place.node] == player:
            found = self._infoset_cfv[player][self._infosets(player, place.node, *where)]
        elif decision >= 0 and tree.round[places.nodes[decision]] == index:
            # The opponent answers to this action, and nothing else follows it.
            first = self._sequences(player, int(places.nodes[decision]), *where)
            found = self._cfv[player][first + rank]
        else:
            # The street begins with the opponent's action; whatever it is, this player is next.
            after = tree.successor[place.node, tree.legal[place.node]].tolist()
            infosets = [self._infosets(player, node, *where) for node in after]
            found = np.sum([self._infoset_cfv[player][each] for each in infosets], axis=0)
        return found

    def _infosets(
        self, player: int, node: int, index: int, board: int, hands: np.ndarray
    ) -> np.ndarray:
        """Infosets at a decision, of hands on a board of the same or a later round: int64 [n]."""
        places, boards = self.game.places[player], self.game.deals.boards
        decision = int(np.searchsorted(places.nodes, node))
        earlier = int(self.game.rules.tree.round[node])
        for later in range(index, earlier, -1):
            board = int(boards[later].parent[board])
        live = boards[earlier].live[player]
        found: np.ndarray = (
            places.first_infoset[decision] + live.offset[board] + live.position[board, hands]
        )
        return found

    def _sequences(
        self, player: int, node: int, index: int, board: int, hands: np.ndarray
    ) -> np.ndarray:
        """The first sequences of `_infosets`: int64 [n]."""
        infosets = self._infosets(player, node, index, board, hands)
        first = self.game.treeplexes[player].first_sequence
        found: np.ndarray = first[infosets].astype(np.int64)
        return found
