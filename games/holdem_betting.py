"""The betting of hold'em as a finite tree, which does not depend on the cards.

Sizes of wagers are written as text. Streets are separated by "|"; the last one given holds for all
later ones. Each has sizes of bets, and after a semicolon and the word "raise" those of raises, if
they differ. A size is "33%" of the pot after calling, "pot", "allin", or "4c", chips more than the
opponent's contribution; "none" is no size:

    33% 75% pot allin; raise 60% allin | pot allin

Rules are those of OpenSpiel's `universal_poker` for two players. A wager adds at least as much as
the one before it in its round, and at least `min_wager`: smaller ones are raised to that. A wager
of more than the stack is all-in, and left out if all-in is a size of its own. Of equal sizes, the
first one stays. Once a player has no chips left, all remaining cards are dealt.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from typing import NamedTuple

import numpy as np

from spiel_dl.games.compiled import CHANCE, TERMINAL
from spiel_dl.games.openspiel import parse_list

FOLD, CALL, FIRST_WAGER = 0, 1, 2
NOBODY = -1
MOST_NODES = 1 << 20
ANY_NUMBER = 1 << 30
"""`Betting.max_wagers` of a round without a limit."""
MAX_SIZES = 128 - FIRST_WAGER  # states record actions as int8


class Sizes(NamedTuple):
    """The sizes of a street's wagers: of the first one, and of further ones."""

    bets: tuple[str, ...]
    raises: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Betting:
    """The rules of the betting.

    Attributes:
      stacks: each player's chips, including its blind.
      blinds: each player's chips in the pot at the start.
      num_private: the number of private cards dealt.
      board_cards: the number of cards dealt to the board before each round of betting.
      first_players: the first player of each round.
      max_wagers: the most wagers of each round.
      min_wager: the least that a wager adds.
      streets: the sizes of each round. Action `FIRST_WAGER` + i is the size of number i.
    """

    stacks: tuple[float, float]
    blinds: tuple[float, float]
    num_private: int
    board_cards: tuple[int, ...]
    first_players: tuple[int, ...]
    max_wagers: tuple[int, ...]
    min_wager: float
    streets: tuple[Sizes, ...]

    @property
    def num_actions(self) -> int:
        """A: fold, call, and the most sizes of a street."""
        return FIRST_WAGER + max(len(sizes) for street in self.streets for sizes in street)

    def action_text(self, action: int) -> str:
        """The name of an action, with its sizes on all streets where these differ."""
        if action in (FOLD, CALL):
            return ("Fold", "Call")[action]
        number = action - FIRST_WAGER
        names = [sizes[number] for street in self.streets for sizes in street if sizes[number:]]
        return f"Wager {'/'.join(dict.fromkeys(names))}"


def wager(size: str, called: float, pot: float) -> float:
    """A contribution after a wager, before limits; a call would make it `called`, the pot `pot`."""
    if size == "allin":
        return math.inf
    if size.endswith("c"):
        return called + float(size[:-1])
    return called + pot * (1.0 if size == "pot" else float(size[:-1]) / 100)


def parse_betting(
    num_private: int,
    *,
    board_cards: str,
    stacks: str,
    blinds: str,
    bets: str,
    max_wagers: str,
    min_wager: float,
    first_players: str,
) -> Betting:
    """The betting of a game string's parameters, see `holdem.HoldemRules`.

    Raises:
      ValueError: if a parameter is out of its range.
    """
    dealt = parse_list(board_cards, "board_cards", int)
    if not dealt or min(dealt) < 0:
        raise ValueError(f"board_cards={board_cards} needs a number, 0 or more, for each round")
    chips, paid = parse_list(stacks, "stacks", float), parse_list(blinds, "blinds", float)
    if len(chips) != 2 or len(paid) != 2 or not min(paid) >= 0 or not max(paid) > 0:
        raise ValueError(
            f"stacks={stacks} and blinds={blinds} need a number for each player; blinds are 0 or "
            "more, and not both 0"
        )
    if not max(paid) < min(chips):
        raise ValueError(f"stacks={stacks} must be larger than blinds={blinds}")
    first = parse_list(first_players, "first_players", int) or (0,)
    if not set(first) <= {0, 1} or len(first) > len(dealt):
        raise ValueError(
            f"first_players={first_players} must be 0 or 1 for each of {len(dealt)} rounds"
        )
    wagers = parse_list(max_wagers, "max_wagers", int)
    if wagers and (len(wagers) != len(dealt) or min(wagers) < 0):
        raise ValueError(
            f"max_wagers={max_wagers} must have a number, 0 or more, for each of the {len(dealt)} "
            "rounds, or none"
        )
    return Betting(
        (chips[0], chips[1]),
        (paid[0], paid[1]),
        num_private,
        dealt,
        (*first, *first[-1:] * (len(dealt) - len(first))),
        wagers or (ANY_NUMBER,) * len(dealt),
        max(paid) if min_wager < 0 else min_wager,
        parse_bets(bets, len(dealt)),
    )


def parse_bets(text: str, num_rounds: int) -> tuple[Sizes, ...]:
    """The sizes of each round; see the module.

    Raises:
      ValueError: if the text has another form, or more streets than there are rounds.
    """
    streets = text.split("|")
    if len(streets) > num_rounds:
        raise ValueError(
            f"bets={text!r} has sizes of {len(streets)} streets, but {num_rounds} are to come; "
            "leave out the others"
        )
    sizes = []
    for street in streets:
        bets, _, raises = street.partition(";")
        bet_sizes = _names(text, bets)
        raises = re.sub(r"^\s*raise\b", "", raises)
        sizes.append(Sizes(bet_sizes, _names(text, raises) if ";" in street else bet_sizes))
    return (*sizes, *sizes[-1:] * (num_rounds - len(sizes)))


def _names(text: str, sizes: str) -> tuple[str, ...]:
    """The sizes in a part of a text of sizes."""
    words = [word for word in re.split(r"[,\s]+", sizes.strip().lower()) if word]
    for word in words:
        is_number = re.fullmatch(r"\d+(\.\d+)?[%c]", word)
        is_positive = is_number and float(word[:-1]) > 0
        if not is_positive and word not in ("pot", "allin", "none"):
            raise ValueError(
                f"{word!r} in bets={text!r} is no size; write such as 50%, pot, allin, 4c (chips) "
                "or none"
            )
    if not words:
        raise ValueError(f"bets={text!r} has a street without a size; write none if it has no bets")
    names = tuple(word for word in dict.fromkeys(words) if word != "none")
    if len(names) > MAX_SIZES:
        raise ValueError(f"bets={text!r} has {len(names)} sizes; use at most {MAX_SIZES}")
    return names


class BettingTree(NamedTuple):
    """N nodes, each before those that follow it. Node 0 is the root.

    Attributes:
      player: int8 [N], the player to act; OpenSpiel's ids.
      legal: bool [N, A], the legal actions.
      successor: int32 [N, A], the node after an action; in column 0 that after a chance event. An
        illegal action leads to the node itself.
      round: int16 [N], the number of completed rounds of betting.
      card_slot: int16 [N], the number in the order of deals of the card that chance deals, or -1.
      action_slot: int16 [N], the column in which the next action is recorded; -1: none.
      spent: float64 [N, 2], each player's contribution to the pot.
      folded: int8 [N], the player who has folded at an end; -1: none.
      longest_round: the most actions in a round.
      longest: the most actions in a game.
    """

    player: np.ndarray
    legal: np.ndarray
    successor: np.ndarray
    round: np.ndarray
    card_slot: np.ndarray
    action_slot: np.ndarray
    spent: np.ndarray
    folded: np.ndarray
    longest_round: int
    longest: int


@dataclasses.dataclass(frozen=True)
class _Line:
    """The state of the betting."""

    round: int
    spent: tuple[float, float]
    mover: int
    num_acted: int
    num_wagers: int
    last_wager: float
    length: int


class _Row(NamedTuple):
    """One node: fields of `BettingTree`, and its successors by action."""

    player: int
    round: int
    card_slot: int
    place: int
    spent: tuple[float, float]
    folded: int
    next: dict[int, int]


def betting_tree(betting: Betting) -> BettingTree:
    """Builds the tree of a betting.

    Raises:
      ValueError: if it has too many nodes.
    """
    return _Builder(betting).tree()


class _Builder:
    def __init__(self, betting: Betting):
        self.betting = betting
        self.rows: list[_Row] = []
        self.longest = 0
        ends = itertools.accumulate(betting.board_cards, initial=betting.num_private)
        self.first_card = list(ends)

    def tree(self) -> BettingTree:
        betting = self.betting
        blinds = betting.blinds
        start = _Line(0, blinds, betting.first_players[0], 0, 0, betting.min_wager, 0)
        for slot in range(betting.num_private):
            self._add(CHANCE, 0, blinds, card_slot=slot)
            self.rows[-1].next[0] = len(self.rows)
        # Depth first, without recursion: the parent, its action, and the state of the node to add.
        stack = [(-1, 0, start, False)]
        while stack:
            parent, action, line, is_over = stack.pop()
            node = self._deal(line, is_over)
            if parent >= 0:
                self.rows[parent].next[action] = node
            if not is_over:
                stack += reversed(self._decide(line))
            if len(self.rows) > MOST_NODES:
                raise ValueError(
                    f"betting has more than {MOST_NODES} lines; use fewer sizes, smaller stacks, "
                    "or a later street"
                )
        return self._arrays()

    def _deal(self, line: _Line, is_over: bool) -> int:
        """Adds the deals before a round, or the remaining ones and the end; the first node."""
        first = len(self.rows)
        last = len(self.betting.board_cards) - 1 if is_over else line.round
        first_round = line.round if line.num_acted == 0 else line.round + 1
        for index in range(first_round, last + 1):
            for slot in range(self.first_card[index], self.first_card[index + 1]):
                self._add(CHANCE, index, line.spent, card_slot=slot)
                self.rows[-1].next[0] = len(self.rows)
        if is_over:
            self._add(TERMINAL, last + 1, line.spent)
            self.longest = max(self.longest, line.length)
        return first

    def _decide(self, line: _Line) -> list[tuple[int, int, _Line, bool]]:
        """Adds a decision and the end after a fold; returns the other successors, still to add."""
        mover = line.mover
        node, to_call = len(self.rows), max(line.spent)
        self._add(mover, line.round, line.spent, place=line.num_acted)
        if line.spent[mover] < to_call:
            self.rows[node].next[FOLD] = len(self.rows)
            self._add(TERMINAL, line.round + 1, line.spent, folded=mover)
            self.longest = max(self.longest, line.length + 1)
        following = [(node, CALL, *self._after_call(line))]
        for action, amount in self._wagers(line):
            raised = dataclasses.replace(
                line,
                spent=_with(line.spent, mover, amount),
                mover=1 - mover,
                num_acted=line.num_acted + 1,
                num_wagers=line.num_wagers + 1,
                last_wager=max(line.last_wager, amount - to_call),
                length=line.length + 1,
            )
            following.append((node, action, raised, False))
        return following

    def _after_call(self, line: _Line) -> tuple[_Line, bool]:
        """The state after a call or check, and whether nobody acts any more."""
        betting, mover = self.betting, line.mover
        called = min(max(line.spent), betting.stacks[mover])
        after = dataclasses.replace(
            line,
            spent=_with(line.spent, mover, called),
            mover=1 - mover,
            num_acted=line.num_acted + 1,
            length=line.length + 1,
        )
        if line.num_wagers == 0 and line.num_acted == 0:
            return after, False
        is_last = line.round + 1 == len(betting.board_cards)
        if is_last or any(s >= t for s, t in zip(after.spent, betting.stacks, strict=True)):
            return after, True
        return dataclasses.replace(
            after,
            round=line.round + 1,
            mover=betting.first_players[line.round + 1],
            num_acted=0,
            num_wagers=0,
            last_wager=betting.min_wager,
        ), False

    def _wagers(self, line: _Line) -> list[tuple[int, float]]:
        """The possible wagers: actions, and the player's contributions after them."""
        betting, mover = self.betting, line.mover
        stack, to_call = betting.stacks[mover], max(line.spent)
        is_open = line.num_wagers < betting.max_wagers[line.round] and to_call < stack
        if not is_open or line.spent[1 - mover] >= betting.stacks[1 - mover]:
            return []
        street = betting.streets[line.round]
        sizes = street.raises if line.num_wagers else street.bets
        pot = to_call + line.spent[1 - mover]
        amounts: dict[int, float] = {}
        for action, size in enumerate(sizes, FIRST_WAGER):
            amount = max(wager(size, to_call, pot), to_call + line.last_wager)
            limited = min(amount, stack)
            is_new = all(abs(limited - earlier) > 1e-9 * stack for earlier in amounts.values())
            if is_new and (amount <= stack or size == "allin" or "allin" not in sizes):
                amounts[action] = limited
        return list(amounts.items())

    def _add(
        self,
        player: int,
        round_index: int,
        spent: tuple[float, float],
        *,
        card_slot: int = -1,
        place: int = -1,
        folded: int = NOBODY,
    ) -> None:
        self.rows.append(_Row(player, round_index, card_slot, place, spent, folded, {}))

    def _arrays(self) -> BettingTree:
        rows, num_actions = self.rows, self.betting.num_actions
        longest_round = 1 + max(row.place for row in rows)
        if longest_round * len(self.betting.board_cards) > np.iinfo(np.int16).max:
            raise ValueError(
                f"a round of betting may have {longest_round} actions, too many; use larger sizes, "
                "or max_wagers"
            )
        itself = np.arange(len(rows), dtype=np.int32)[:, None]
        successor = np.repeat(itself, num_actions, axis=1)
        legal = np.zeros(successor.shape, np.bool_)
        for node, row in enumerate(rows):
            for action, after in row.next.items():
                successor[node, action] = after
                legal[node, action] = row.player >= 0
        slots = [-1 if r.place < 0 else r.round * longest_round + r.place for r in rows]
        return BettingTree(
            np.array([row.player for row in rows], np.int8),
            legal,
            successor,
            np.array([row.round for row in rows], np.int16),
            np.array([row.card_slot for row in rows], np.int16),
            np.array(slots, np.int16),
            np.array([row.spent for row in rows]),
            np.array([row.folded for row in rows], np.int8),
            longest_round,
            self.longest,
        )


def _with(spent: tuple[float, float], player: int, amount: float) -> tuple[float, float]:
    return (amount, spent[1]) if player == 0 else (spent[0], amount)
