"""Hold'em's deals: boards, the hands that players may hold on them, and their strengths."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np
import torch

from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_cards import hand_strengths

_CHUNK = 1 << 14  # hands per call of hand_strengths, so that its tables stay in the cache


@dataclasses.dataclass(frozen=True, eq=False)
class Hands:
    """The H hands that a player may be dealt.

    Attributes:
      cards: int64 [H, 2], in ascending order. In games with one hole card, the second one is the
        number of cards in the deck, which is no card.
      weights: float64 [H], the weights of the player's range.
    """

    cards: np.ndarray
    weights: np.ndarray

    @functools.cached_property
    def numbers(self) -> dict[tuple[int, int], int]:
        """The number of each hand, by its cards."""
        return {(first, second): n for n, (first, second) in enumerate(self.cards.tolist())}

    def take(self, chosen: np.ndarray) -> Hands:
        """Some of the hands, by a mask (bool [H]) or numbers."""
        return Hands(self.cards[chosen], self.weights[chosen])


@dataclasses.dataclass(frozen=True, eq=False)
class LiveHands:
    """The hands of one player on the N boards of a round, board by board: L entries in all.

    A hand is *live* on a board if it has no card of it and leaves the opponent one.

    Attributes:
      offset: int64 [N + 1], the first entry of each board.
      hand: int64 [L], the number of a hand; on the last round's boards from weak to strong.
      position: int64 [N, H], the index of a hand among those of a board; -1: not live.
      strength: int64 [L] on the last round's boards, else empty.
      same: int64 [L], the index among the opponent's live hands of the hand of the same cards; -1:
        none, or hands are single cards.
    """

    offset: np.ndarray
    hand: np.ndarray
    position: np.ndarray
    strength: np.ndarray
    same: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Boards:
    """The N boards of a round. Those after the same board of the previous round are adjacent.

    Attributes:
      cards: int64 [N, K], all cards dealt; those of one round in ascending order.
      parent: int64 [N], the board of the previous round.
      last: int64 [N + 1], the first of the last round's boards that follow each one.
      chance: the probability of each board, given any two hands that it leaves possible.
      live: each player's live hands.
    """

    cards: np.ndarray
    parent: np.ndarray
    last: np.ndarray
    chance: float
    live: tuple[LiveHands, LiveHands]


@dataclasses.dataclass(frozen=True, eq=False)
class Deals:
    """All deals of chance.

    Attributes:
      hands: each player's hands.
      boards: the boards of each round.
      scale: 1 divided by the sum of weights of all pairs of hands without a card in common.
    """

    hands: tuple[Hands, Hands]
    boards: tuple[Boards, ...]
    scale: float

    @staticmethod
    def of_rules(rules: HoldemRules) -> Deals:
        """The deals of a game."""
        first, second = (_hands(weights, rules.num_cards) for weights in rules.ranges)
        hands = (
            first.take(_opposing_weights(first, second, rules) > 0),
            second.take(_opposing_weights(second, first, rules) > 0),
        )
        total = float(hands[0].weights @ _opposing_weights(*hands, rules, hands[1].weights))
        return Deals(hands, _boards(rules, hands), 1.0 / total)


def _hands(weights: np.ndarray, num_cards: int) -> Hands:
    """The hands of positive weight."""
    chosen = np.argwhere((np.triu(weights) if weights.ndim == 2 else weights) > 0)
    hand_weights = weights[tuple(chosen.T)]
    if weights.ndim == 1:
        chosen = np.concatenate([chosen, np.full_like(chosen, num_cards)], axis=1)
    return Hands(chosen, hand_weights)


def _same_hands(own: Hands, other: Hands, rules: HoldemRules) -> np.ndarray:
    """The opponent's hand of the same cards as each own hand; -1: none, or single cards."""
    if rules.num_hole == 1:
        return np.full(len(own.cards), -1)
    return np.array([other.numbers.get((a, b), -1) for a, b in own.cards.tolist()], np.int64)


def _opposing_weights(
    own: Hands, other: Hands, rules: HoldemRules, weights: np.ndarray | None = None
) -> np.ndarray:
    """For each own hand, the number or weight of the opponent's hands without a common card."""
    weights = np.ones(len(other.cards)) if weights is None else weights
    by_card = np.zeros(rules.num_cards + 1)
    for cards in other.cards.T:
        by_card += np.bincount(cards, weights, rules.num_cards + 1)
    by_card[-1] = 0.0
    same_weight = np.append(weights, 0.0)[_same_hands(own, other, rules)]
    opposing: np.ndarray = weights.sum() - by_card[own.cards].sum(axis=1) + same_weight
    return opposing


def _boards(rules: HoldemRules, hands: tuple[Hands, Hands]) -> tuple[Boards, ...]:
    """The boards of all rounds."""
    counts, rounds = rules.betting.board_cards, []
    cards, chance = np.zeros((1, 0), np.int64), 1.0
    deck = [card for card in range(rules.num_cards) if card not in rules.board]
    num_left = len(deck) - 2 * rules.num_hole
    for index, count in enumerate(counts):
        chance /= math.comb(num_left, count)
        num_left -= count
        combinations = [
            list(itertools.combinations([card for card in deck if card not in row], count))
            for row in cards.tolist()
        ]
        parent = np.repeat(np.arange(len(cards)), [len(each) for each in combinations])
        dealt = np.array(list(itertools.chain(*combinations)), np.int64).reshape(len(parent), count)
        cards = np.concatenate([cards[parent], dealt], axis=1)
        live = _live(rules, hands, cards, is_last=index == len(counts) - 1)
        rounds.append(Boards(cards, parent, np.arange(len(cards) + 1), chance, live))
    last = np.arange(len(cards) + 1)
    for index in range(len(rounds) - 2, -1, -1):
        # The first of the next round's boards that follow each of this round's.
        first = np.searchsorted(rounds[index + 1].parent, np.arange(len(rounds[index].cards) + 1))
        last = last[first]
        rounds[index] = dataclasses.replace(rounds[index], last=last)
    return tuple(rounds)


def _live(
    rules: HoldemRules, hands: tuple[Hands, Hands], cards: np.ndarray, *, is_last: bool
) -> tuple[LiveHands, LiveHands]:
    """Both players' live hands on boards (int64 [N, K])."""
    rows: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    strengths: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for board in cards:
        unblocked = [np.flatnonzero(~np.isin(each.cards, board).any(axis=1)) for each in hands]
        left = [each.take(numbers) for each, numbers in zip(hands, unblocked, strict=True)]
        for player in (0, 1):
            is_live = _opposing_weights(left[player], left[1 - player], rules) > 0
            numbers = unblocked[player][is_live]
            if is_last:
                hole_cards = hands[player].cards[numbers, : rules.num_hole]
                strength = _strengths(rules, hole_cards, board)
                order = np.argsort(strength, kind="stable")
                numbers = numbers[order]
                strengths[player].append(strength[order])
            rows[player].append(numbers)
    positions = []
    for player in (0, 1):
        position = np.full((len(cards), len(hands[player].cards)), -1)
        for board_number, numbers in enumerate(rows[player]):
            position[board_number, numbers] = np.arange(len(numbers))
        positions.append(position)
    live = []
    for player in (0, 1):
        same = _same_hands(hands[player], hands[1 - player], rules)
        opponent = np.concatenate([positions[1 - player], np.full((len(cards), 1), -1)], axis=1)
        live.append(
            LiveHands(
                np.cumsum([0, *map(len, rows[player])]),
                np.concatenate(rows[player]),
                positions[player],
                np.concatenate([np.zeros(0, np.int64), *strengths[player]]),
                np.concatenate([opponent[n, same[row]] for n, row in enumerate(rows[player])]),
            )
        )
    return live[0], live[1]


def _strengths(rules: HoldemRules, hole_cards: np.ndarray, board: np.ndarray) -> np.ndarray:
    """The strengths of hands (int64 [n, h]) on a board: int64 [n]."""
    shared = np.broadcast_to(
        np.append(board, rules.board), (len(hole_cards), len(board) + len(rules.board))
    )
    cards = torch.from_numpy(np.concatenate([hole_cards, shared], axis=1).astype(np.int64))
    parts = [hand_strengths(part, rules.num_suits) for part in cards.split(_CHUNK)]
    return np.concatenate([np.zeros(0, np.int64), *(part.numpy() for part in parts)])
