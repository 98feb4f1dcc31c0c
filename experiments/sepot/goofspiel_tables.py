"""Policies of Goofspiel as tables, and what they are worth, exactly, in very large games.

With a fixed order of prizes, what a player knows is its own cards, in order, and who won each
round. Infosets are numbered by these, so that a policy is one array for each number of rounds, and
compiled loops (`sepot.goofspiel_walk`) walk through pairs of orders: with 8 cards there are
400 million before the last decision, which takes minutes.

An order's number counts ranks in the hand, the last card least; an outcome's number has the digits
0 (player 0 won the round), 1 (draw) and 2, the last round's least. d is the number of rounds that
are over, N the number of cards, and the last round is no decision.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import pyspiel
import torch

from experiments.sepot import goofspiel_walk
from spiel_dl.algorithms.sepot import SePoTPlayPolicy
from spiel_dl.games.goofspiel_ii import GoofspielIIRules, GoofspielIIState
from spiel_dl.learning.self_play import ActingPolicy
from spiel_dl.learning.transformations import PolicyTransformations

PolicyTable: TypeAlias = tuple[np.ndarray, ...]
"""A player's policy: float32 [orders, 3^d, N - d] for each d, by rank in the hand. Where outcomes
cannot be, it is 0."""

MOST_STORED = 200_000
_BATCH = 100_000
_NO_LEVEL = np.zeros((0, 0, 0), np.float32)


class Deck:
    """How the orders of a game's cards are numbered.

    Attributes:
      game: the game.
      rules: its rules.
      num_cards: N.
      orders: for each d from 0 to N - 1, int64 [orders, d], the cards 1..N.
      hands: for each d, int64 [orders, N - d], the cards that are left, ascending.
      points: int64 [N], the prizes.
      is_win_loss: whether games are won or lost; else utilities are half of the lead.
    """

    def __init__(self, game: pyspiel.Game):
        """Lists all orders.

        Args:
          game: `python_goofspiel_ii` with a fixed order of prizes, all rounds, and a last one that
            is played automatically.

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
        self.game, self.rules, self.num_cards = game, rules, rules.num_cards
        self.orders, self.hands = [np.zeros((1, 0), np.int64)], []
        for _ in range(rules.num_cards):
            orders = self.orders[-1]
            is_left = np.ones((len(orders), rules.num_cards), np.bool_)
            is_left[np.arange(len(orders))[:, None], orders - 1] = False
            hands = np.nonzero(is_left)[1].reshape(len(orders), -1) + 1
            self.hands.append(hands)
            longer = np.repeat(orders, hands.shape[1], axis=0)
            self.orders.append(np.concatenate([longer, hands.reshape(-1, 1)], axis=1))
        cards = np.arange(1, rules.num_cards + 1)
        self.points = cards if rules.points_order == "ascending" else cards[::-1].copy()
        self.is_win_loss = rules.returns_type == "win_loss"

    @property
    def last(self) -> int:
        """How many rounds are over at the last decision."""
        return self.num_cards - 2

    def numbers(self, bids: np.ndarray) -> np.ndarray:
        """The numbers of orders of cards (int [B, d]): int64 [B]."""
        numbers = np.zeros(len(bids), np.int64)
        for column in range(bids.shape[1]):
            card = bids[:, column]
            rank = card - 1 - (bids[:, :column] < card[:, None]).sum(axis=1)
            numbers = numbers * (self.num_cards - column) + rank
        return numbers

    def leads(self, player: int, number: int) -> np.ndarray:
        """Who won each round: int64 [3^d, d], 1 the player, 0 nobody, -1 its opponent."""
        digits = np.indices((3,) * number).reshape(number, 3**number).T
        return 1 - digits if player == 0 else digits - 1

    def states(self, player: int, own: np.ndarray, leads: np.ndarray) -> GoofspielIIState:
        """States in which a player acts, by its bids and who won.

        The opponent's bids are made up, such that these have won the rounds; information state
        tensors do not tell them.

        Args:
          player: the player.
          own: int [B, d], its bids.
          leads: int [B, d], as in `leads`. Whoever beats 1 or loses with N has a bid that is none.
        """
        number, depth = own.shape
        played = np.zeros((number, 2, self.rules.num_turns), np.int8)
        played[:, player, :depth], played[:, 1 - player, :depth] = own, own - leads
        if player == 1:
            played[:, 0, depth] = 1  # Player 0 has bid before it.
        step = torch.full((number,), 2 * depth + player, dtype=torch.int32)
        remaining = torch.ones((number, 2 * self.num_cards), dtype=torch.bool)
        return GoofspielIIState(step, torch.from_numpy(played.reshape(number, -1)), remaining)


def tables(
    deck: Deck, act: ActingPolicy, player: int, transformations: PolicyTransformations | None = None
) -> tuple[PolicyTable, tuple[np.ndarray, ...]]:
    """What a policy does at all infosets of a player, and transformations of it.

    Args:
      deck: of the game.
      act: the policy.
      player: the player.
      transformations: K of them; None: none.

    Returns:
      The policy, and for each d, float32 [orders, 3^d, N - d, K].
    """
    policies, transformed = [], []
    for depth in range(deck.last + 1):
        orders, hands, leads = deck.orders[depth], deck.hands[depth], deck.leads(player, depth)
        shape = (len(orders), len(leads), hands.shape[1])
        policy = np.zeros((math.prod(shape[:2]), shape[2]), np.float32)
        number = 0 if transformations is None else len(transformations)
        others = np.zeros((*policy.shape, number), np.float32)
        order, outcome = (each.reshape(-1) for each in np.indices(shape[:2]))
        for start in range(0, len(policy), _BATCH):
            rows = np.arange(start, min(start + _BATCH, len(policy)))
            bids = orders[order[rows]] - leads[outcome[rows]]
            rows = rows[((bids >= 1) & (bids <= deck.num_cards)).all(axis=1)]
            if not len(rows):
                continue
            state = deck.states(player, orders[order[rows]], leads[outcome[rows]])
            hand = torch.from_numpy(hands[order[rows]] - 1)
            legal = torch.zeros((len(rows), deck.num_cards), dtype=torch.bool)
            legal.scatter_(1, hand, True)
            with torch.inference_mode():
                found = act(deck.rules.information_state_tensor(state, player), legal).double()
                policy[rows] = found.gather(1, hand).numpy()
                if transformations is not None:
                    for each, row in enumerate(transformations.apply(found, legal)):
                        others[rows, :, each] = row.gather(1, hand).numpy()
        policies.append(policy.reshape(shape))
        transformed.append(others.reshape(*shape, number))
    return tuple(policies), tuple(transformed)


def early_values(
    deck: Deck, player: int, policy: PolicyTable, others: tuple[np.ndarray, ...]
) -> list[np.ndarray]:
    """What histories after few rounds are worth to a player, by the play of both to the end.

    Args:
      deck: of the game.
      player: whose utility.
      policy: the player's.
      others: for each d, float32 [orders, 3^d, N - d, K], K policies of its opponent.

    Returns:
      For each number of rounds with at most `MOST_STORED` histories, float32 [orders, orders, K],
      the player's order first.
    """
    number = max(d for d in range(deck.last + 1) if len(deck.orders[d]) ** 2 <= MOST_STORED)
    found: list[np.ndarray] = []
    below = _NO_LEVEL
    for depth in range(number, -1, -1):
        size = len(deck.orders[depth])
        own, other = (each.reshape(-1) for each in np.indices((size, size)))
        values = values_after(deck, depth, own, other, player, policy, others, below)
        found.insert(0, values.reshape(size, size, -1))
        below = found[0]
    return found


def values_after(
    deck: Deck,
    number: int,
    own: np.ndarray,
    other: np.ndarray,
    player: int,
    policy: PolicyTable,
    others: tuple[np.ndarray, ...],
    below: np.ndarray | None = None,
) -> np.ndarray:
    """What histories after some rounds are worth to a player: float32 [B, K].

    Args:
      deck: of the game.
      number: how many rounds.
      own: int64 [B], the numbers of the player's orders.
      other: int64 [B], those of its opponent.
      player: whose utility.
      policy: the player's.
      others: as in `early_values`.
      below: float32 [orders, orders, K], values after one more round; None: the walk is to the end.
    """
    below = _NO_LEVEL if below is None else below
    leads = np.sign(deck.orders[number][own] - deck.orders[number][other])
    digits = 1 - leads if player == 0 else 1 + leads
    outcomes = digits @ 3 ** np.arange(number)[::-1]
    histories = (own, other, outcomes.astype(np.int64), leads @ deck.points[:number])
    values = np.zeros((len(own), others[0].shape[-1]), np.float32)
    goofspiel_walk.values(
        number, histories, policy, others, tuple(deck.orders), tuple(deck.hands), deck.points,
        (player == 0, deck.is_win_loss), below, values,
    )  # fmt: skip
    return values


def expected_return(deck: Deck, first: PolicyTable, second: PolicyTable) -> float:
    """Player 0's mean return, if the first policy is its own and the second the opponent's."""
    others = tuple(table[..., None] for table in second)
    return float(early_values(deck, 0, first, others)[0][0, 0, 0])


def best_response_value(deck: Deck, player: int, opponent: PolicyTable) -> float:
    """What a player can earn at most against a policy of its opponent.

    Counterfactual values of the last decisions are summed over the opponent's orders; before them,
    a decision is worth what its best card leads to, whoever then wins the round.
    """
    last, reach = deck.last, np.ones((1, 1))
    for table in opponent[:-1]:
        steps = np.moveaxis(reach[..., None] * table, 2, 1)
        reach = np.repeat(steps.reshape(-1, steps.shape[2]), 3, axis=1)
    values = np.zeros((len(deck.orders[last]), 3**last, 2))
    how = (player == 0, deck.is_win_loss)
    goofspiel_walk.last_values(
        reach, opponent[-1], deck.orders[last], deck.hands[last], deck.points, how, values
    )
    best = values.max(axis=2)
    for depth in range(last - 1, -1, -1):
        shape = (len(deck.orders[depth]), deck.num_cards - depth, 3**depth, 3)
        best = best.reshape(shape).sum(axis=3).max(axis=1)
    return float(best[0, 0])


def nash_conv(deck: Deck, first: PolicyTable, second: PolicyTable) -> float:
    """What best responses to both players' policies earn together."""
    return best_response_value(deck, 0, second) + best_response_value(deck, 1, first)


def with_searches(
    deck: Deck, policy: SePoTPlayPolicy, player: int, blueprint: PolicyTable, most: int
) -> tuple[PolicyTable, int]:
    """What a player who searches does at all its infosets.

    Args:
      deck: of the game.
      policy: searches, and is the blueprint elsewhere.
      player: the player.
      blueprint: what it is on top of.
      most: searches of more unique histories are not made.

    Returns:
      The policy, and at how many infosets it was found by search.
    """
    found, number = [table.copy() for table in blueprint], 0
    for depth in range(deck.last + 1):
        number_left = deck.num_cards - depth
        # A search looks a round ahead at least, below each history where it starts.
        most_starts = most // (1 + number_left + number_left**2)
        for outcomes, leads in enumerate(deck.leads(0, depth)):
            bids = _one_of_each_order(deck, player, leads, most_starts)
            if not len(bids):
                continue
            state = deck.game.new_initial_state()
            for bid in bids[0].reshape(-1):
                state.apply_action(int(bid) - 1)
            if player == 1:
                state.apply_action(state.legal_actions()[0])
            solution = policy.solution(state)
            own = bids[:, :, player]
            states = deck.states(player, own, (leads if player == 0 else -leads)[None])
            keys = policy.step.keys.of_level(states)[0][player]
            searched, places = solution.rows_of(keys)
            order = deck.numbers(own)[searched]
            rows = solution.strategy[places[searched]]
            found[depth][order, outcomes] = np.take_along_axis(
                rows, deck.hands[depth][order] - 1, 1
            )
            number += len(order)
    return tuple(found), number


def _one_of_each_order(deck: Deck, player: int, leads: np.ndarray, most: int) -> np.ndarray:
    """Histories of a public state, one for each order of a player: int64 [orders, d, 2].

    There are none if no history has these outcomes, or if too many have.
    """
    nothing = np.zeros((0, len(leads), 2), np.int64)
    made_up = np.full((1, len(leads)), 2)
    public = deck.rules.public_tensor(deck.states(0, made_up, leads[None]), True)[0]
    try:
        listed = deck.rules.consistent_histories(public, most)
    except ValueError:  # No cards have such outcomes.
        return nothing
    if not listed.complete:
        return nothing
    actions = listed.actions.numpy().astype(np.int64)
    bids = actions.reshape(len(actions), len(leads), 2) + 1
    _, first = np.unique(deck.numbers(bids[:, :, player]), return_index=True)
    return bids[first]
