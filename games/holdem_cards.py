"""Cards, hands and ranges of hold'em: their text forms, and the strengths of hands.

A card's number is rank * num_suits + suit, as in OpenSpiel's `universal_poker`; its text is rank
and suit, such as "Qs". A range gives each hand of a player a weight: with two hole cards a
symmetric matrix, float64 [C, C], of C cards in the deck; with one a vector, float64 [C].
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import torch

RANKS = "23456789TJQKA"
SUITS = "cdhs"
_NUM_RANKS = len(RANKS)
_ACE = _NUM_RANKS - 1
# From high card (0) to straight flush (8).
_PAIR, _TWO_PAIRS, _TRIPS, _STRAIGHT, _FLUSH, _FULL_HOUSE, _QUADS, _STRAIGHT_FLUSH = range(1, 9)
# The least weight of a hand but 0; the largest is its inverse, so that sums keep all of them.
_LEAST_WEIGHT = 1e-6
_SEPARATORS = re.compile(r"[,;\s]+")
_ITEM = re.compile(
    rf"(?P<first>[{RANKS}][{SUITS}]?[{RANKS}]?[{SUITS}]?o?)"
    rf"(?:(?P<plus>\+)|-(?P<last>[{RANKS}]{{2}}[so]?))?(?::(?P<weight>[^:]+))?"
)


def card_text(card: int, num_suits: int = 4) -> str:
    """The text of a card, such as "Qs"."""
    rank, suit = divmod(card, num_suits)
    return RANKS[rank] + SUITS[suit]


def parse_cards(text: str, num_ranks: int = 13, num_suits: int = 4) -> tuple[int, ...]:
    """Cards written one after the other, such as "QsJh2h", as numbers.

    Raises:
      ValueError: if the text is no such list, a card is not in the deck, or one comes twice.
    """
    written = re.sub(r"\s", "", text)
    pairs = [written[place : place + 2] for place in range(0, len(written), 2)]
    cards = []
    for pair in pairs:
        rank, suit = RANKS[:num_ranks].find(pair[0]), SUITS[:num_suits].find(pair[1:] or " ")
        if rank < 0 or suit < 0:
            raise ValueError(
                f"{pair!r} in {text!r} is no card of the deck; write a rank of "
                f"{RANKS[:num_ranks]} and a suit of {SUITS[:num_suits]}, such as {RANKS[0]}c"
            )
        cards.append(rank * num_suits + suit)
        if cards.count(cards[-1]) > 1:
            raise ValueError(f"{pair} comes twice in {text!r}; each card is there once")
    return tuple(cards)


def parse_range(
    text: str, num_hole_cards: int = 2, num_ranks: int = 13, num_suits: int = 4
) -> np.ndarray:
    """The weights of a range, see the module; an empty text is all hands.

    Items are separated by commas, semicolons or spaces, each a pair ("77"), two ranks suited
    ("AKs"), offsuit ("AKo") or both ("AK"), a hand ("AhKd"), or with one card a rank or a card.
    "77+" are all pairs from 77 up, "KTs+" is KTs, KJs and KQs; "99-66" and "A5s-A2s" are all
    between. ":0.5" at the end gives a weight other than 1. A later item overrides earlier ones.

    Raises:
      ValueError: if an item is none of these.
    """
    num_cards = num_ranks * num_suits
    weights = np.zeros((num_cards,) * num_hole_cards)
    items = [item for item in _SEPARATORS.split(text) if item]
    for item in items:
        match = _ITEM.fullmatch(item)
        hands = None if match is None else _hands(match, num_hole_cards, num_ranks, num_suits)
        try:
            weight = float(match["weight"] or 1.0) if match else -1.0
        except ValueError:
            weight = -1.0
        is_weight = weight == 0.0 or _LEAST_WEIGHT <= weight <= 1 / _LEAST_WEIGHT
        if not hands or not is_weight or max(max(h) for h in hands) >= num_cards:
            pairs = "AA, 77+, 99-66, AKs, KTo+, A5s-A2s, AK or AhKd"
            kinds = "A or Ah" if num_hole_cards == 1 else pairs
            raise ValueError(
                f"{item!r} is no part of a range here; write {kinds}, "
                f"with a weight after a colon if it is not 1: 0, or {_LEAST_WEIGHT:g} to "
                f"{1 / _LEAST_WEIGHT:g}"
            )
        for hand in hands:
            for cards in itertools.permutations(hand):
                weights[cards] = weight
    if not items:
        weights[:] = 1.0
        if num_hole_cards == 2:
            np.fill_diagonal(weights, 0.0)
    return weights


def _hands(
    item: re.Match[str], num_hole_cards: int, num_ranks: int, num_suits: int
) -> list[tuple[int, ...]]:
    """The hands of an item of a range; an empty list: the item is invalid."""
    first, last, plus = item["first"], item["last"], bool(item["plus"])
    suits = range(num_suits)
    if num_hole_cards == 1:
        if last or plus or len(first) > 2 or first[1:] not in ("", *SUITS):
            return []
        hand_suits = suits if len(first) == 1 else [SUITS.index(first[1])]
        return [(RANKS.index(first[0]) * num_suits + suit,) for suit in hand_suits if suit in suits]
    if re.fullmatch(rf"([{RANKS}][{SUITS}]){{2}}", first):
        hand = tuple(RANKS.index(first[k]) * num_suits + SUITS.index(first[k + 1]) for k in (0, 2))
        is_hand = not last and not plus and hand[0] != hand[1]
        return [hand] if is_hand and all(first[k] in SUITS[:num_suits] for k in (1, 3)) else []
    if not re.fullmatch(rf"[{RANKS}]{{2}}[so]?", first):
        return []
    kind, pairs = first[2:], _rank_pairs(first, last, num_ranks - 1 if plus else None)
    return [
        (high * num_suits + a, low * num_suits + b)
        for high, low in pairs
        for a in suits
        for b in suits
        if (a < b if high == low else kind == "" or (a == b) == (kind == "s"))
    ]


def _rank_pairs(first: str, last: str | None, highest: int | None) -> list[tuple[int, int]]:
    """The ranks of all hands from `first` up, or to `last`; each hand's higher rank first."""
    high, low = sorted((RANKS.index(rank) for rank in first[:2]), reverse=True)
    if high == low:
        if first[2:] or (last and last[0] != last[1:]):
            return []
        end = RANKS.index(last[0]) if last else low if highest is None else highest
        return [(rank, rank) for rank in range(min(low, end), max(low, end) + 1)]
    if last is None:
        return [(high, kicker) for kicker in range(low, low + 1 if highest is None else high)]
    top, end = sorted((RANKS.index(rank) for rank in last[:2]), reverse=True)
    if top != high or end == top or last[2:] != first[2:]:
        return []
    return [(high, kicker) for kicker in range(min(low, end), max(low, end) + 1)]


def hand_strengths(cards: torch.Tensor, num_suits: int = 4) -> torch.Tensor:
    """The strengths of hands: the higher one wins, equal ones tie.

    Args:
      cards: int [B, n], up to seven different cards, of which the best five count; with fewer than
        five in all, all of them.
      num_suits: suits in the deck.

    Returns:
      int64 [B].
    """
    cards = cards.to(torch.int64)
    suit = cards % num_suits
    suits = torch.arange(num_suits, device=cards.device)
    # [B, suits, n] by [B, n, ranks]: whether each card of each rank is there.
    ranks = torch.arange(_NUM_RANKS, device=cards.device)
    has_rank = (torch.div(cards, num_suits, rounding_mode="floor")[:, :, None] == ranks).float()
    by_suit = torch.bmm((suit[:, None] == suits[:, None]).float(), has_rank)
    counts = by_suit.sum(dim=1)
    flush_ranks = by_suit * (by_suit.sum(dim=2, keepdim=True) >= 5)
    straight_flush = _straight(flush_ranks.flatten(0, 1)).view(len(cards), num_suits).amax(dim=1)
    straight = _straight(counts)
    quads = _best(counts == 4)
    trips = _best(counts == 3)
    pair = _best((counts >= 2) & (ranks + 1 != trips[:, None]))
    second_pair = _best((counts >= 2) & (ranks + 1 < pair[:, None]))
    flush = _top(flush_ranks.sum(dim=1) > 0, 5)
    options = [
        _score(_STRAIGHT_FLUSH, straight_flush, straight_flush),
        _score(_QUADS, quads, quads, _top_without(counts, 1, quads)),
        _score(_FULL_HOUSE, trips * pair, trips * 16 + pair),
        _score(_FLUSH, flush, flush),
        _score(_STRAIGHT, straight, straight),
        _score(_TRIPS, trips, trips, _top_without(counts, 2, trips)),
        _score(
            _TWO_PAIRS, second_pair, pair * 16 + second_pair,
            _top_without(counts, 1, pair, second_pair),
        ),
        _score(_PAIR, pair, pair, _top_without(counts, 3, pair)),
        _top(counts > 0, 5),
    ]  # fmt: skip
    return torch.stack(options).amax(dim=0)


def _score(
    category: int, made: torch.Tensor, main: torch.Tensor, kickers: torch.Tensor | None = None
) -> torch.Tensor:
    """The strength of a category with its deciding ranks; 0 where the hand is not of it."""
    ranks = main if kickers is None else main * 4096 + kickers
    return ((category << 28) + ranks) * (made > 0)


def _best(has_rank: torch.Tensor) -> torch.Tensor:
    """The highest rank, from 1 on; 0: there is none. From bool [B, 13], int64 [B]."""
    numbers = torch.arange(1, _NUM_RANKS + 1, device=has_rank.device)
    return (has_rank * numbers).amax(dim=1)


def _top(has_rank: torch.Tensor, number: int) -> torch.Tensor:
    """The highest ranks as digits to the base 16: int64 [B]."""
    numbers = torch.arange(1, _NUM_RANKS + 1, device=has_rank.device)
    best = (has_rank * numbers).topk(number, dim=1).values
    return (best * 16 ** torch.arange(number - 1, -1, -1, device=best.device)).sum(dim=1)


def _top_without(counts: torch.Tensor, number: int, *excluded: torch.Tensor) -> torch.Tensor:
    """The highest ranks except some: int64 [B], see `_top`."""
    numbers = torch.arange(1, _NUM_RANKS + 1, device=counts.device)
    is_left = counts > 0
    for rank in excluded:
        is_left = is_left & (numbers != rank[:, None])
    return _top(is_left, number)


def _straight(counts: torch.Tensor) -> torch.Tensor:
    """The highest rank of a straight, from 1 on, in which aces may be low; 0: there is none."""
    has_rank = counts > 0
    row = torch.cat([has_rank[:, _ACE:], has_rank], dim=1)
    complete = row.unfold(1, 5, 1).all(dim=2)
    # The window of ace to five ends at the rank of number 4.
    numbers = torch.arange(4, _NUM_RANKS + 1, device=counts.device)
    return (complete * numbers).amax(dim=1)
