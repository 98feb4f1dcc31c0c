"""The betting of hold'em as a finite tree: what may happen next, whatever the cards are.

Sizes of wagers are written as people do. Streets are separated by "|"; one that is given stands for
all later ones, too. In each, sizes of bets, and after a semicolon and the word "raise" those of
raises, if they are others. A size is "33%" of the pot after calling, "pot", "allin", or "4c", chips
more than the opponent has in; "none" stands for no size at all:

    33% 75% pot allin; raise 60% allin | pot allin

Rules are those of OpenSpiel's `universal_poker` for two players. A wager adds at least as much as
the one before it in its round, and at least `min_wager`: what is smaller is made as large. What is
more than the stack is all-in, and left out if all-in is a size of its own. Of equal sizes, the
first one stays. Once a player has no chips left, all cards that are missing are dealt.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from typing import NamedTuple

import numpy as np

from spiel_dl.games.openspiel import parse_list

FOLD, CALL, FIRST_WAGER = 0, 1, 2
NOBODY = -1
CHANCE, TERMINAL = -1, -4
MOST_NODES = 1 << 20


class Sizes(NamedTuple):
    """What sizes wagers of a street have: the first one of a round, and further ones."""

    bets: tuple[str, ...]
    raises: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Betting:
    """How players may bet.

    Attributes:
      stacks: each player's chips, with what it has in at the start.
      blinds: what each has in at the start.
      num_private: how many private cards are dealt.
      board_cards: how many cards are dealt to the board before each round of betting.
      first_players: who acts first in each round.
      max_wagers: how many wagers each round may have.
      min_wager: what a wager adds at least.
      streets: the sizes of each round. Action `FIRST_WAGER` + i is that of number i.
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
        """A: to fold, to call, and the most sizes that a street has."""
        return FIRST_WAGER + max(len(sizes) for street in self.streets for sizes in street)

    def action_text(self, action: int) -> str:
        """A name of an action: where streets differ, of all its sizes."""
        if action in (FOLD, CALL):
            return ("Fold", "Call")[action]
        number = action - FIRST_WAGER
        every = [sizes[number] for street in self.streets for sizes in street if sizes[number:]]
        return f"Wager {'/'.join(dict.fromkeys(every))}"


def wager(size: str, most_in: float) -> float:
    """What a player has in after a wager, not limited by stacks, where calls make it even."""
    if size == "allin":
        return math.inf
    if size.endswith("c"):
        return most_in + float(size[:-1])
    return most_in * (1.0 + 2.0 * (1.0 if size == "pot" else float(size[:-1]) / 100))


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
      ValueError: if one of them is out of its range.
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
        wagers or (1 << 30,) * len(dealt),
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
    found = []
    for street in streets:
        bets, _, raises = street.partition(";")
        own = _names(text, bets)
        raises = re.sub(r"^\s*raise\b", "", raises)
        found.append(Sizes(own, _names(text, raises) if ";" in street else own))
    return (*found, *found[-1:] * (num_rounds - len(found)))


def _names(text: str, sizes: str) -> tuple[str, ...]:
    """The sizes in a part of what people write."""
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
    return tuple(word for word in dict.fromkeys(words) if word != "none")


class BettingTree(NamedTuple):
    """N nodes, each before those that follow it. Node 0 is the root.

    Attributes:
      player: int8 [N], who acts; OpenSpiel's ids.
      legal: bool [N, A].
      successor: int32 [N, A], what follows an action; in column 0 what follows an event of chance.
        What is not legal leads nowhere.
      round: int16 [N], how many rounds of betting are over.
      card_slot: int16 [N], which card chance deals, in the order of deals; -1: none.
      action_slot: int16 [N], where the next action is recorded; -1: nowhere.
      spent: float64 [N, 2], what each player has in.
      folded: int8 [N], who has folded at an end; -1: nobody.
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
    """What matters of the betting so far."""

    round: int
    spent: tuple[float, float]
    mover: int
    num_acted: int
    num_wagers: int
    last_wager: float
    length: int


class _Row(NamedTuple):
    """One node, in the order of the fields of `BettingTree`; the actions of its successors, too."""

    player: int
    round: int
    card_slot: int
    place: int
    spent: tuple[float, float]
    folded: int
    next: dict[int, int]


def betting_tree(betting: Betting) -> BettingTree:
    """The tree.

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
        # Depth first, without recursion: which node's action leads to what is to be added.
        waiting = [(-1, 0, start, False)]
        while waiting:
            parent, action, line, is_over = waiting.pop()
            node = self._deal(line, is_over)
            if parent >= 0:
                self.rows[parent].next[action] = node
            if not is_over:
                waiting += reversed(self._decide(line))
            if len(self.rows) > MOST_NODES:
                raise ValueError(
                    f"betting has more than {MOST_NODES} lines; use fewer sizes, smaller stacks, "
                    "or a later street"
                )
        return self._arrays()

    def _deal(self, line: _Line, is_over: bool) -> int:
        """Adds the cards before a round, or all cards that are left and the end; the first node."""
        first = len(self.rows)
        last = len(self.betting.board_cards) - 1 if is_over else line.round
        begins = line.round if line.num_acted == 0 else line.round + 1
        for index in range(begins, last + 1):
            for slot in range(self.first_card[index], self.first_card[index + 1]):
                self._add(CHANCE, index, line.spent, card_slot=slot)
                self.rows[-1].next[0] = len(self.rows)
        if is_over:
            self._add(TERMINAL, last + 1, line.spent)
            self.longest = max(self.longest, line.length)
        return first

    def _decide(self, line: _Line) -> list[tuple[int, int, _Line, bool]]:
        """Adds a decision and those ends that folds lead to; what other actions lead to."""
        mover = line.mover
        node, most = len(self.rows), max(line.spent)
        self._add(mover, line.round, line.spent, place=line.num_acted)
        if line.spent[mover] < most:
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
                last_wager=max(line.last_wager, amount - most),
                length=line.length + 1,
            )
            following.append((node, action, raised, False))
        return following

    def _after_call(self, line: _Line) -> tuple[_Line, bool]:
        """What follows a call or check, and whether nobody acts any more."""
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
        """Possible wagers: actions, and what the player then has in."""
        betting, mover = self.betting, line.mover
        stack, most = betting.stacks[mover], max(line.spent)
        is_open = line.num_wagers < betting.max_wagers[line.round] and most < stack
        if not is_open or line.spent[1 - mover] >= betting.stacks[1 - mover]:
            return []
        street = betting.streets[line.round]
        sizes = street.raises if line.num_wagers else street.bets
        found: dict[int, float] = {}
        for action, size in enumerate(sizes, FIRST_WAGER):
            amount = max(wager(size, most), most + line.last_wager)
            limited = min(amount, stack)
            is_new = all(abs(limited - other) > 1e-9 * stack for other in found.values())
            if is_new and (amount <= stack or size == "allin" or "allin" not in sizes):
                found[action] = limited
        return list(found.items())

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
        nowhere = np.arange(len(rows), dtype=np.int32)[:, None]
        successor = np.repeat(nowhere, num_actions, axis=1)
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
