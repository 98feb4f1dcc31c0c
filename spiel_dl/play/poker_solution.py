"""Hands, strategies and values at each node of a solved endgame of hold'em.

A node is identified by its path: the actions and dealt cards that lead to it, as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spiel_dl.factored import holdem_kernels
from spiel_dl.factored.holdem import HoldemGame
from spiel_dl.factored.holdem_kernels import LANES, Ends
from spiel_dl.games.compiled import CHANCE, TERMINAL
from spiel_dl.games.holdem_betting import NOBODY
from spiel_dl.policies.array_policy import ArrayPolicy, plans_of
from spiel_dl.solvers.best_response import FixedStrategy, best_response


class Place(NamedTuple):
    """A node of the endgame.

    Attributes:
      node: of the betting tree.
      dealt: the cards dealt since the endgame began.
      board: the number of the resulting board, in round len(dealt).
      before: each player's chips in the pot when the street began, the same for both.
    """

    node: int
    dealt: tuple[int, ...]
    board: int
    before: float


class Side(NamedTuple):
    """A player's n live hands at a node; NaN where a number is not defined.

    Attributes:
      cards: int64 [n, 2], in ascending order.
      reach: float64 [n], the range's weight times the player's own reach probability.
      possible: float64 [n], sum of the opponent's reach over hands without a card in common.
      equity: float64 [n], the share of the pot that it wins if nobody bets any more.
      cfv: float64 [n], counterfactual value, unnormalised; None where chance acts.
      value: float64 [n], expected chips from here on, relative to folding at once.
      strategy: float64 [A, n], probability of each legal action; None: another player acts.
      action_values: float64 [A, n], as `value`, of always taking an action here.
      strength: int64 [n], strength of the hands on a full board; else empty.
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
    """Both players' strategies in an endgame, and the values under them.

    Attributes:
      game: the endgame.
      start: the first decision node.
    """

    def __init__(self, policy: ArrayPolicy):
        """Evaluates a policy, once for each player.

        Raises:
          ValueError: if it is not a policy of a factored endgame of hold'em with two private cards
            each and four suits, in which one card is dealt before each further street, and both
            players have as many chips in the pot.
        """
        game = policy.tree
        if not isinstance(game, HoldemGame) or game.rules.num_hole != 2:
            raise ValueError(
                "only solutions of factored hold'em with two cards each can be looked at; compile "
                "the game by factored_game, and solve that"
            )
        cards, blinds = game.rules.betting.board_cards, game.rules.betting.blinds
        if game.rules.num_suits != 4 or blinds[0] != blinds[1]:
            raise ValueError(
                f"num_suits={game.rules.num_suits} and blinds={list(blinds)} are not four "
                "suits and equal blinds; make an endgame by dl.poker.endgame"
            )
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
        """The node at the end of a path of actions and cards.

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
        live_slice = slice(live.offset[board], live.offset[board + 1])
        hands = live.hand[live_slice]
        cards, weights = all_hands.cards[hands], all_hands.weights[hands]
        reach, opponent_reach = (self._reach(place, p) for p in (player, 1 - player))
        possible = self._possible(place, player, opponent_reach)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Divides cfvs by chance's and the opponent's reach.
            scale = 1.0 / (weights * game.deals.scale * boards.chance * possible)
            scale[possible <= 0] = np.nan
        equity = self._equity(place, player, weights, opponent_reach, possible)
        cfv = value = strategy = action_values = None
        spent = float(tree.spent[node, player])
        if tree.player[node] == TERMINAL:
            folded, stake = int(tree.folded[node]), float(tree.spent[node].min())
            share = equity if folded == NOBODY else np.where(possible > 0, folded != player, np.nan)
            value = (2 * share - 1) * stake + spent
            cfv = np.nan_to_num((value - spent) / scale)
        elif tree.player[node] != CHANCE:
            cfv = self._cfvs(place, player, hands)
            value = cfv * scale + spent
        if tree.player[node] == player:
            first = self._sequences(player, node, index, board, hands)
            rows = first + np.arange(int(tree.legal[node].sum()))[:, None]
            strategy = self._strategies[player][rows]
            action_values = self._cfv[player][rows] * scale + spent
        is_last = index == game.rules.num_rounds - 1
        strength = live.strength[live_slice] if is_last else np.zeros(0, np.int64)
        return Side(cards, reach, possible, equity, cfv, value, strategy, action_values, strength)

    def _reach(self, place: Place, player: int) -> np.ndarray:
        """The weights of a player's live hands times its own reach probabilities."""
        live = self.game.deals.boards[len(place.dealt)].live[player]
        hands = live.hand[live.offset[place.board] : live.offset[place.board + 1]]
        weights = self.game.deals.hands[player].weights[hands]
        decision, rank = self.game.places[player].before[place.node]
        if decision < 0:
            initial_reach: np.ndarray = weights.copy()
            return initial_reach
        last_node = int(self.game.places[player].nodes[decision])
        first = self._sequences(player, last_node, len(place.dealt), place.board, hands)
        reach: np.ndarray = weights * self._plans[player][first + rank]
        return reach

    def _possible(self, place: Place, player: int, opponent_reach: np.ndarray) -> np.ndarray:
        """Sums of the opponent's reach over hands without a card in common: float64 [n]."""
        rules, boards = self.game.rules, self.game.deals.boards[len(place.dealt)]
        own, other = boards.live[player], boards.live[1 - player]
        own_slice = slice(own.offset[place.board], own.offset[place.board + 1])
        other_slice = slice(other.offset[place.board], other.offset[place.board + 1])
        by_card = np.zeros(rules.num_cards)
        for cards in self.game.deals.hands[1 - player].cards[other.hand[other_slice]].T:
            by_card += np.bincount(cards, opponent_reach, rules.num_cards)
        # The same hand is subtracted twice below, once for each of its cards.
        same_hand = np.append(opponent_reach, 0.0)[own.same[own_slice]]
        cards = self.game.deals.hands[player].cards[own.hand[own_slice]]
        total = opponent_reach.sum()
        sums = total - by_card[cards].sum(axis=1) + same_hand
        # Smaller sums are rounding errors of 0.
        possible: np.ndarray = np.where(sums > 1e-12 * max(total, 1e-300), sums, 0.0)
        return possible

    def _equity(
        self,
        place: Place,
        player: int,
        weights: np.ndarray,
        opponent_reach: np.ndarray,
        possible: np.ndarray,
    ) -> np.ndarray:
        """The share of the pot that each hand wins if nobody bets any more: float64 [n]."""
        form, deals, index = self.game.sequence_form, self.game.deals, len(place.dealt)
        own, other = form.sides[index][player], form.sides[index][1 - player]
        last = form.sides[-1][player], form.sides[-1][1 - player]
        # The game's own kernel, for one showdown against the opponent's reach at this node.
        ones, none = np.ones(LANES, np.int64), np.zeros(0, np.int64)
        showdown = Ends(ones, ones, ones, ones, np.eye(1, LANES)[0])
        plan, cfv = np.zeros(1 + len(other.hand)), np.zeros(1 + len(own.hand))
        other_slice = slice(1 + other.offset[place.board], 1 + other.offset[place.board + 1])
        hands = other.hand[other.offset[place.board] : other.offset[place.board + 1]]
        plan[other_slice] = opponent_reach / other.weights[hands]
        holdem_kernels.add_ends(
            place.board, place.board + 1, form.num_cards,
            Ends(none, none, none, none, np.zeros(0)), showdown,
            (own, other), last, form.last[index],
            plan, cfv, np.zeros(len(own.offset) - 1),
        )  # fmt: skip
        num_runouts = deals.boards[index].chance / deals.boards[-1].chance
        own_slice = slice(1 + own.offset[place.board], 1 + own.offset[place.board + 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = 0.5 + 0.5 * cfv[own_slice] / (weights * num_runouts * possible)
        equity: np.ndarray = np.where(possible > 0, share, np.nan)
        return equity

    def _cfvs(self, place: Place, player: int, hands: np.ndarray) -> np.ndarray:
        """A player's counterfactual values at a decision of either player: float64 [n]."""
        tree, index = self.game.rules.tree, len(place.dealt)
        places, board_and_hands = self.game.places[player], (index, place.board, hands)
        cfvs: np.ndarray
        decision, rank = places.before[place.node]
        if tree.player[place.node] == player:
            cfvs = self._infoset_cfv[player][self._infosets(player, place.node, *board_and_hands)]
        elif decision >= 0 and tree.round[places.nodes[decision]] == index:
            # This node is the only successor of the player's last action.
            first = self._sequences(player, int(places.nodes[decision]), *board_and_hands)
            cfvs = self._cfv[player][first + rank]
        else:
            # The opponent begins the street; after each of its actions, this player is next.
            successors = tree.successor[place.node, tree.legal[place.node]].tolist()
            infosets = [self._infosets(player, node, *board_and_hands) for node in successors]
            cfvs = np.sum([self._infoset_cfv[player][each] for each in infosets], axis=0)
        return cfvs

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
        infosets: np.ndarray = (
            places.first_infoset[decision] + live.offset[board] + live.position[board, hands]
        )
        return infosets

    def _sequences(
        self, player: int, node: int, index: int, board: int, hands: np.ndarray
    ) -> np.ndarray:
        """The first sequences of `_infosets`: int64 [n]."""
        infosets = self._infosets(player, node, index, board, hands)
        first = self.game.treeplexes[player].first_sequence
        sequences: np.ndarray = first[infosets].astype(np.int64)
        return sequences
