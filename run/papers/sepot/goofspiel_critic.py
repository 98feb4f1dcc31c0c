"""Exact values of a network's Goofspiel, in games that are far too large to be compiled.

A critic's values are those of a policy that is followed to the end of the game. In Goofspiel with a
fixed order of prizes, what a player knows is its own cards, in order, and who won each round. So
the network is asked once at all such infosets, each player's policies are written into tables by
these numbers, and values are sums over both players' orders of the cards that are left: 8 cards
have 400 million histories before their last decision, which a compiled loop walks in minutes.

Cards are numbered by their rank in the hand, which both orders of a hand's cards and their
numbers follow from. Outcomes of rounds are digits 0 (player 0 won), 1 (draw) and 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pyspiel
import torch

from papers.sepot import goofspiel_walk
from spiel_dl.games.goofspiel_ii import GoofspielIIRules, GoofspielIIState
from spiel_dl.learning.critics import Critic
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import PolicyTransformations
from spiel_dl.tree.compiled_tree import CompiledTree

_BATCH = 100_000
_MOST_STORED = 200_000
"""Values of a round are kept if it has no more histories than this."""


class Tables(NamedTuple):
    """What a player does, after every number of rounds in one array each.

    Infosets after d rounds are numbered by the order of the player's d cards, the last of which
    counts least, and by their outcomes likewise.

    Attributes:
      policy: float32 [orders, 3^d, N - d] for each d, by rank; 0 where an outcome cannot be.
      transformed: float32 [orders, 3^d, N - d, K] for each d.
    """

    policy: tuple[np.ndarray, ...]
    transformed: tuple[np.ndarray, ...]


class GoofspielCritic(Critic):
    """Values the histories at the beginnings of rounds, in any tree of its game.

    Attributes:
      game: the game.
      act: the policy that the values are of.
    """

    def __init__(
        self, game: pyspiel.Game, act: ActingPolicy, transformations: PolicyTransformations
    ):
        """Asks the policy at all infosets.

        Args:
          game: `python_goofspiel_ii` with a fixed order of prizes, all rounds, and a last one that
            is played automatically.
          act: the policy.
          transformations: K of them.

        Raises:
          ValueError: if the game is another one.
        """
        rules = getattr(game, "rules", None)
        if (
            not isinstance(rules, GoofspielIIRules)
            or rules.points_order == "random"
            or rules.forced_last_round
            or rules.num_turns < max(rules.num_cards, 3)
        ):
            raise ValueError(
                f"{game} is no Goofspiel of 3 cards or more with a fixed order of prizes, all of "
                "them, and a last round without a choice"
            )
        self.game = game
        self.act = act
        self._rules = rules
        self._orders = [_orders(rules.num_cards, number) for number in range(rules.num_cards)]
        self._hands = tuple(_hands(rules.num_cards, orders) for orders in self._orders)
        self._num_values = len(transformations)
        self._tables = tuple(
            _tables(rules, act, transformations, player, self._orders, self._hands)
            for player in (0, 1)
        )
        cards = np.arange(1, rules.num_cards + 1)
        self._points = cards if rules.points_order == "ascending" else cards[::-1].copy()
        self._stored = [self._stored_values(player) for player in (0, 1)]

    def values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """See `Critic`; float32. A ValueError if a history is not at the beginning of a round."""
        if str(tree.game) != str(self.game):
            raise ValueError(f"the critic is one of {self.game}, not of {tree.game}")
        states = tree.states_of(np.asarray(histories))
        assert isinstance(states, GoofspielIIState)
        steps, played = states.step.numpy(), states.played.numpy().astype(np.int64)
        if (steps % 2).any() or (steps >= self._rules.max_game_length).any():
            raise ValueError("a history is not at the beginning of a round with a choice")
        found = np.zeros((len(steps), self._num_values), np.float32)
        bids = played.reshape(len(steps), 2, self._rules.num_turns)
        for step in np.unique(steps):
            rows = np.flatnonzero(steps == step)
            found[rows] = self._after(int(step) // 2, bids[rows], player)
        return found

    def pair_values(self, tree: CompiledTree, histories: np.ndarray, player: int) -> np.ndarray:
        """Not known: raises ValueError."""
        raise ValueError("only one player follows transformations here; use two_sided=False")

    def _after(self, number: int, bids: np.ndarray, player: int) -> np.ndarray:
        """Values of histories after so many rounds, of their bids (int [B, 2, N])."""
        own, other = (
            _order_numbers(bids[:, each, :number], self._rules.num_cards)
            for each in (player, 1 - player)
        )
        stored = self._stored[player]
        if number < len(stored):
            return stored[number][own, other]
        return self._walk(number, own, other, bids, player, _NO_LEVEL)

    def _stored_values(self, player: int) -> list[np.ndarray]:
        """Values after few rounds: float32 [orders, orders, K] for each number of rounds."""
        number = max(n for n, o in enumerate(self._orders[:-1]) if len(o) ** 2 <= _MOST_STORED)
        found: list[np.ndarray] = []
        below = _NO_LEVEL
        for depth in range(number, -1, -1):
            size = len(self._orders[depth])
            own, other = (each.reshape(-1) for each in np.indices((size, size)))
            bids = np.zeros((size * size, 2, self._rules.num_cards), np.int64)
            bids[:, player, :depth] = self._orders[depth][own]
            bids[:, 1 - player, :depth] = self._orders[depth][other]
            values = self._walk(depth, own, other, bids, player, below)
            found.insert(0, values.reshape(size, size, -1))
            below = found[0]
        return found

    def _walk(
        self,
        number: int,
        own: np.ndarray,
        other: np.ndarray,
        bids: np.ndarray,
        player: int,
        below: np.ndarray,
    ) -> np.ndarray:
        """Values of histories by a walk to the end, or to the next round if `below` has its."""
        signs = np.sign(bids[:, player, :number] - bids[:, 1 - player, :number])
        difference = signs @ self._points[:number]
        by_player = signs if player == 0 else -signs
        outcomes = (1 - by_player) @ 3 ** np.arange(number)[::-1]
        values = np.zeros((len(own), self._num_values), np.float32)
        goofspiel_walk.values(
            number,
            (own, other, outcomes.astype(np.int64), difference.astype(np.int64)),
            self._tables[player].policy,
            self._tables[1 - player].transformed,
            self._hands,
            self._points,
            (player == 0, self._rules.returns_type == "win_loss"),
            below,
            values,
        )
        return values


_NO_LEVEL = np.zeros((0, 0, 0), np.float32)


def _orders(num_cards: int, number: int) -> np.ndarray:
    """All orders of so many of the cards 1..N: int64 [N! / (N - number)!, number]."""
    orders = np.zeros((1, 0), np.int64)
    for _ in range(number):
        hands = _hands(num_cards, orders)
        longer = np.repeat(orders, hands.shape[1], axis=0)
        orders = np.concatenate([longer, hands.reshape(-1, 1)], axis=1)
    return orders


def _hands(num_cards: int, orders: np.ndarray) -> np.ndarray:
    """The cards that are left, ascending: int64 [orders, N - d]."""
    is_left = np.ones((len(orders), num_cards), np.bool_)
    is_left[np.arange(len(orders))[:, None], orders - 1] = False
    return np.nonzero(is_left)[1].reshape(len(orders), -1) + 1


def _order_numbers(bids: np.ndarray, num_cards: int) -> np.ndarray:
    """The numbers of orders of cards (int [B, d]) as `_orders` lists them: int64 [B]."""
    numbers = np.zeros(len(bids), np.int64)
    for column in range(bids.shape[1]):
        card = bids[:, column]
        rank = card - 1 - (bids[:, :column] < card[:, None]).sum(axis=1)
        numbers = numbers * (num_cards - column) + rank
    return numbers


def _tables(
    rules: GoofspielIIRules,
    act: ActingPolicy,
    transformations: PolicyTransformations,
    player: int,
    orders: list[np.ndarray],
    hands: tuple[np.ndarray, ...],
) -> Tables:
    """A player's policies at all its infosets with a choice."""
    policies, transformed = [], []
    for depth in range(rules.num_cards - 1):
        digits = (
            np.stack(np.unravel_index(np.arange(3**depth), (3,) * depth), axis=1)
            if depth
            else (np.zeros((1, 0), np.int64))
        )
        shape = (len(orders[depth]), len(digits), rules.num_cards - depth)
        policy = np.zeros((math.prod(shape[:2]), shape[2]), np.float32)
        others = np.zeros((*policy.shape, len(transformations)), np.float32)
        order, outcome = (each.reshape(-1) for each in np.indices(shape[:2]))
        # What the opponent can have bid; it is not seen, only who won.
        lead = digits - 1 if player == 0 else 1 - digits
        for start in range(0, len(policy), _BATCH):
            rows = slice(start, start + _BATCH)
            own, bid_by_other = orders[depth][order[rows]], None
            bid_by_other = own + lead[outcome[rows]]
            can_be = ((bid_by_other >= 1) & (bid_by_other <= rules.num_cards)).all(axis=1)
            kept = np.arange(start, start + len(own))[can_be]
            if not len(kept):
                continue
            state = _state(rules, player, own[can_be], bid_by_other[can_be])
            hand = torch.from_numpy(hands[depth][order[kept]] - 1)
            legal = torch.zeros((len(kept), rules.num_cards), dtype=torch.bool)
            legal.scatter_(1, hand, True)
            with torch.inference_mode():
                seen = rules.information_state_tensor(state, player)
                rows_of = act(seen, legal).double()
                policy[kept] = rows_of.gather(1, hand).numpy()
                for each, row in enumerate(transformations.apply(rows_of, legal)):
                    others[kept, :, each] = row.gather(1, hand).numpy()
        policies.append(policy.reshape(shape))
        transformed.append(others.reshape(*shape, -1))
    return Tables(tuple(policies), tuple(transformed))


def _state(
    rules: GoofspielIIRules, player: int, own: np.ndarray, other: np.ndarray
) -> GoofspielIIState:
    """States in which a player acts; what the other one holds is made up, but for who won."""
    number, depth = own.shape
    played = np.zeros((number, 2, rules.num_turns), np.int8)
    played[:, player, :depth], played[:, 1 - player, :depth] = own, other
    if player == 1:
        played[:, 0, depth] = 1  # Player 0 has bid before it.
    step = torch.full((number,), 2 * depth + player, dtype=torch.int32)
    remaining = torch.ones((number, 2 * rules.num_cards), dtype=torch.bool)
    return GoofspielIIState(step, torch.from_numpy(played.reshape(number, -1)), remaining)
