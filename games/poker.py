"""Hold'em endgames from text: `dl.poker.endgame`, and `dl.poker.read_hand`."""

from __future__ import annotations

import numbers
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyspiel

from spiel_dl.games import holdem_cards

_STREETS = ("flop", "turn", "river")
_SEAT = re.compile(r"^Seat \d+: (.+) \(\D?([\d,.]+) in chips\b", re.MULTILINE)
_CHIPS = re.compile(r"(?<![\w.])\D?(\d[\d,.]*)")
_RETURNED = re.compile(r"^Uncalled bet \(\D?([\d,.]+)\) returned to (.+)$")
_EXAMPLES = {"board": "QsJh2h4d", "bets": "33%, pot, allin"}


def endgame(
    *,
    board: str,
    pot: float,
    stacks: tuple[float, float],
    ranges: tuple[str, str] = ("", ""),
    bets: str = "pot, allin",
) -> pyspiel.Game:
    """An endgame of no-limit hold'em, from a flop, turn or river on.

    ```python
    game = dl.poker.endgame(
        board="QsJh2h4d", pot=20, stacks=(90, 90), ranges=("22+,A2s+,KTs+,QJo:0.5", "TT+,AQ+"),
        bets="33%, 75%, pot, allin; raise 60%, allin",
    )
    policy = dl.solve(game, seconds=60)
    ```

    Player 0 acts first in each round. Utilities are chips won or lost, where half of the pot counts
    as each player's: a player who folds at once loses that half.

    Args:
      board: the cards on the table: three, four or five of them.
      pot: chips in the pot, including all earlier bets.
      stacks: chips that each player has left. More than the smaller stack cannot be won, so both
        play for that one.
      ranges: each player's possible hands and their relative weights, see
        `holdem_cards.parse_range`; empty: all hands, equally likely.
      bets: sizes of bets and raises, street by street, see `holdem_betting`.

    Raises:
      ValueError: if a card is invalid or comes twice, there is nothing left to bet, a size or an
        item of a range is invalid, or there are not two ranges with a compatible pair of hands.
    """
    for name, text in {"board": board, "bets": bets}.items():
        if not isinstance(text, str):
            raise ValueError(f"{name}={text!r} must be a text, such as {_EXAMPLES[name]!r}")
    cards = holdem_cards.parse_cards(board)
    if not 3 <= len(cards) <= 5:
        raise ValueError(
            f"board={board!r} has {len(cards)} cards; give a flop of three, or four or five"
        )
    if not _is_chips(pot):
        raise ValueError(f"pot={pot!r} must be a number of chips, more than 0")
    if np.shape(ranges) != (2,) or not all(isinstance(text, str) for text in ranges):
        raise ValueError(f"ranges={ranges!r} must be two, one for each player; '' is all hands")
    if np.shape(stacks) != (2,) or not all(map(_is_chips, stacks)):
        raise ValueError(
            f"stacks={stacks!r} must be what two players have left, more than 0: else there is no "
            "bet left"
        )
    stack, half_pot = float(min(stacks)), float(pot) / 2
    parameters = {
        "board": "".join(map(holdem_cards.card_text, cards)),
        "board_cards": list_text([0] + [1] * (5 - len(cards))),
        "stacks": list_text([half_pot + stack] * 2),
        "blinds": list_text([half_pot] * 2),
        "bets": " ".join(bets.replace(",", " ").split()),
        "min_wager": 0.0,
        "range_0": _range(ranges[0]),
        "range_1": _range(ranges[1]),
    }
    return pyspiel.load_game("python_holdem", parameters)


def _is_chips(number: object) -> bool:
    return isinstance(number, numbers.Real) and 0 < float(number) < float("inf")


def _range(text: str) -> str:
    """A range for game strings, in which commas separate parameters, and "77+" is a number."""
    written = text.strip().replace(",", ";")
    return f"{written};" if re.fullmatch(r"[\d+-]+", written) else written


def list_text(numbers: Sequence[float]) -> str:
    """A list in the format of game strings."""
    return f"[{';'.join(map(repr, numbers))}]"


class HandSpot(NamedTuple):
    """The situation of a hand of poker at the beginning of a street.

    Attributes:
      board: the cards on the table.
      pot: chips in the pot.
      stacks: chips that the two players have left; player 0 acts first.
      players: their names.
    """

    board: str
    pot: float
    stacks: tuple[float, float]
    players: tuple[str, str]


def read_hand(text: str, street: str = "turn") -> HandSpot:
    """Reads the situation at a street from a hand history in PokerStars' English format.

    Args:
      text: the history of one hand.
      street: "flop", "turn" or "river".

    Raises:
      ValueError: if the text has no such street, or not exactly two players are left there, or a
        line has no amount.
    """
    if street not in _STREETS:
        raise ValueError(f"street={street!r} must be flop, turn or river")
    stacks = {name: _number(chips) for name, chips in _SEAT.findall(text)}
    before, heading, after = text.partition(f"*** {street.upper()} ***")
    if not stacks or not heading:
        raise ValueError(
            f"the hand has no {street}, or is not written as PokerStars does: lines such as "
            f"'Seat 1: Ann ($100 in chips)' and '*** {street.upper()} *** [Qs Jh 2h] [4d]'"
        )
    paid = dict.fromkeys(stacks, 0.0)
    on_street = dict.fromkeys(stacks, 0.0)
    folded = set()
    for line in before.splitlines():
        if line.startswith("*** ") and "HOLE CARDS" not in line:
            on_street = dict.fromkeys(stacks, 0.0)
        returned = _RETURNED.match(line.strip())
        if returned and returned[2] in paid:
            paid[returned[2]] -= _number(returned[1])
        name = _actor(line, stacks)
        if name is None:
            continue
        action = line[len(name) + 2 :]
        chips = [_number(each) for each in _CHIPS.findall(action)]
        if action.startswith("folds"):
            folded.add(name)
        elif action.startswith(("posts", "calls", "bets", "raises")):
            is_raise = action.startswith("raises")  # By the first number, to the second one.
            if len(chips) < 1 + is_raise:
                raise ValueError(f"cannot read the line {line!r}: an amount is missing")
            now = chips[1] - on_street[name] if is_raise else chips[0]
            paid[name] += now
            if action.startswith("posts small & big blinds"):  # Of both, the big one is live.
                now = min(now, max(on_street.values()) or now)
            if not action.startswith("posts the ante"):
                on_street[name] += now
    left = [name for name in stacks if name not in folded and paid[name] > 0]
    actors = [_actor(line, stacks) for line in after.splitlines()]
    first = next((name for name in actors if name in left), None)
    if len(left) != 2 or first is None:
        raise ValueError(
            f"{len(left)} players see the {street}, of whom somebody must act; an endgame has two"
        )
    players = (first, left[1 - left.index(first)])
    board = "".join(re.findall(r"[2-9TJQKA][cdhs]", after.splitlines()[0]))
    return HandSpot(
        board,
        sum(paid.values()),
        (stacks[players[0]] - paid[players[0]], stacks[players[1]] - paid[players[1]]),
        players,
    )


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _actor(line: str, names: Sequence[str] | dict[str, float]) -> str | None:
    """The player whose action a line describes, or None. Names may have colons."""
    return max((name for name in names if line.startswith(f"{name}: ")), key=len, default=None)
