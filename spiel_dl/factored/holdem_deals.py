"""Which hands players may hold on which boards of hold'em, and how good they are."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math

import numpy as np
import torch

from spiel_dl.games.holdem import HoldemRules
from spiel_dl.games.holdem_cards import hand_strengths

_CHUNK = 1 << 14  # hands judged at once: so their tables stay in the cache


@dataclasses.dataclass(frozen=True, eq=False)
class Hands:
    """The H hands that a player may be dealt.

    Attributes:
      cards: int64 [H, 2], in ascending order. With one card of its own, the second one is the
        number of cards in the deck, which is no card.
      weights: float64 [H], of its range.
    """

    cards: np.ndarray
    weights: np.ndarray

    @functools.cached_property
    def numbers(self) -> dict[tuple[int, int], int]:
        """By its cards, the number of a hand."""
        return {(first, second): n for n, (first, second) in enumerate(self.cards.tolist())}

    def take(self, chosen: np.ndarray) -> Hands:
        """Some of the hands (bool [H])."""
        return Hands(self.cards[chosen], self.weights[chosen])


@dataclasses.dataclass(frozen=True, eq=False)
class LiveHands:
    """The hands of one player on the N boards of a round, board by board: L entries in all.

    A hand is *live* on a board if it has no card of it and leaves the opponent one.

    Attributes:
      offset: int64 [N + 1], the first entry of each board.
      hand: int64 [L], the number of a hand; on the last round's boards weak ones come first.
      position: int64 [N, H], where a hand stands among those of a board; -1: nowhere.
      strength: int64 [L] on the last round's boards, else empty.
      same: int64 [L], where the hand of the same cards stands among the opponent's live ones; -1:
        nowhere, or hands are single cards.
    """

    offset: np.ndarray
    hand: np.ndarray
    position: np.ndarray
    strength: np.ndarray
    same: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Boards:
    """The N boards of a round. Those that follow the same board of the round before are together.

    Attributes:
      cards: int64 [N, K], all that were dealt; those of one round in ascending order.
      parent: int64 [N], the board of the round before.
      last: int64 [N + 1], the first of the last round's boards that follow each one.
      chance: how likely each of them is, whatever two hands it leaves.
      live: of each player.
    """

    cards: np.ndarray
    parent: np.ndarray
    last: np.ndarray
    chance: float
    live: tuple[LiveHands, LiveHands]


@dataclasses.dataclass(frozen=True, eq=False)
class Deals:
    """All that chance may deal.

    Attributes:
      hands: of each player.
      boards: by rounds.
      scale: 1 divided by the sum of weights of all pairs of hands without a card in common.
    """

    hands: tuple[Hands, Hands]
    boards: tuple[Boards, ...]
    scale: float

    @staticmethod
    def of_rules(rules: HoldemRules) -> Deals:
        """The deals of a game."""
        first, second = (_hands(weights, rules.num_cards) for weights in rules.ranges)
        both = (
            first.take(_left_to(first, second, rules) > 0),
            second.take(_left_to(second, first, rules) > 0),
        )
        total = float(both[0].weights @ _left_to(*both, rules, both[1].weights))
        return Deals(both, _boards(rules, both), 1.0 / total)


def _hands(weights: np.ndarray, num_cards: int) -> Hands:
    """The hands of positive weight."""
    chosen = np.argwhere((np.triu(weights) if weights.ndim == 2 else weights) > 0)
    found = weights[tuple(chosen.T)]
    if weights.ndim == 1:
        chosen = np.concatenate([chosen, np.full_like(chosen, num_cards)], axis=1)
    return Hands(chosen, found)


def _same(own: Hands, other: Hands, rules: HoldemRules) -> np.ndarray:
    """Which hand of the opponent has the same cards as each own one; -1: none, or single cards."""
    if rules.num_hole == 1:
        return np.full(len(own.cards), -1)
    return np.array([other.numbers.get((a, b), -1) for a, b in own.cards.tolist()], np.int64)


def _left_to(
    own: Hands, other: Hands, rules: HoldemRules, weights: np.ndarray | None = None
) -> np.ndarray:
    """For each own hand, how many of the opponent's have no card in common, or their weights."""
    weights = np.ones(len(other.cards)) if weights is None else weights
    by_card = np.zeros(rules.num_cards + 1)
    for cards in other.cards.T:
        by_card += np.bincount(cards, weights, rules.num_cards + 1)
    by_card[-1] = 0.0
    twice = np.append(weights, 0.0)[_same(own, other, rules)]
    left: np.ndarray = weights.sum() - by_card[own.cards].sum(axis=1) + twice
    return left


def _boards(rules: HoldemRules, hands: tuple[Hands, Hands]) -> tuple[Boards, ...]:
    """The boards of all rounds."""
    counts, found = rules.betting.board_cards, []
    cards, chance = np.zeros((1, 0), np.int64), 1.0
    deck = [card for card in range(rules.num_cards) if card not in rules.board]
    num_left = len(deck) - 2 * rules.num_hole
    for index, count in enumerate(counts):
        chance /= math.comb(num_left, count)
        num_left -= count
        more = [
            list(itertools.combinations([card for card in deck if card not in row], count))
            for row in cards.tolist()
        ]
        parent = np.repeat(np.arange(len(cards)), [len(each) for each in more])
        dealt = np.array(list(itertools.chain(*more)), np.int64).reshape(len(parent), count)
        cards = np.concatenate([cards[parent], dealt], axis=1)
        live = _live(rules, hands, cards, is_last=index == len(counts) - 1)
        found.append(Boards(cards, parent, np.arange(len(cards) + 1), chance, live))
    last = np.arange(len(cards) + 1)
    for index in range(len(found) - 2, -1, -1):
        # Of the next round's boards, the first ones that follow each of this round's.
        first = np.searchsorted(found[index + 1].parent, np.arange(len(found[index].cards) + 1))
        last = last[first]
        found[index] = dataclasses.replace(found[index], last=last)
    return tuple(found)


def _live(
    rules: HoldemRules, hands: tuple[Hands, Hands], cards: np.ndarray, *, is_last: bool
) -> tuple[LiveHands, LiveHands]:
    """Both players' live hands on some boards (int64 [N, K])."""
    rows: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    strengths: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for board in cards:
        left = [np.flatnonzero(~np.isin(each.cards, board).any(axis=1)) for each in hands]
        parts = [Hands(each.cards[n], each.weights[n]) for each, n in zip(hands, left, strict=True)]
        for player in (0, 1):
            numbers = left[player][_left_to(parts[player], parts[1 - player], rules) > 0]
            if is_last:
                own = hands[player].cards[numbers, : rules.num_hole]
                strength = _strengths(rules, own, board)
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
    found = []
    for player in (0, 1):
        same = _same(hands[player], hands[1 - player], rules)
        others = np.concatenate([positions[1 - player], np.full((len(cards), 1), -1)], axis=1)
        found.append(
            LiveHands(
                np.cumsum([0, *map(len, rows[player])]),
                np.concatenate(rows[player]),
                positions[player],
                np.concatenate([np.zeros(0, np.int64), *strengths[player]]),
                np.concatenate([others[n, same[row]] for n, row in enumerate(rows[player])]),
            )
        )
    return found[0], found[1]


def _strengths(rules: HoldemRules, own: np.ndarray, board: np.ndarray) -> np.ndarray:
    """How good hands (int64 [n, h]) are with the cards of a board: int64 [n]."""
    shared = np.broadcast_to(
        np.append(board, rules.board), (len(own), len(board) + len(rules.board))
    )
    cards = torch.from_numpy(np.concatenate([own, shared], axis=1).astype(np.int64))
    parts = [hand_strengths(part, rules.num_suits) for part in cards.split(_CHUNK)]
    return np.concatenate([np.zeros(0, np.int64), *(part.numpy() for part in parts)])
