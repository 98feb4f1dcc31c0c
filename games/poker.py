"""Hold'em endgames in people's words: `dl.poker.endgame`."""

from __future__ import annotations

from collections.abc import Sequence

import pyspiel

from spiel_dl.games import holdem_cards

_CARDS_OF_BOARDS = (3, 4, 5)


def endgame(
    *,
    board: str,
    pot: float,
    stacks: tuple[float, float],
    ranges: tuple[str, str] = ("", ""),
    bets: str = "pot, allin",
) -> pyspiel.Game:
    """What is left of a hand of no-limit hold'em, from a flop, turn or river on.

    ```python
    game = dl.poker.endgame(
        board="QsJh2h4d", pot=20, stacks=(90, 90), ranges=("22+,A2s+,KTs+,QJo:0.5", "TT+,AQ+"),
        bets="33%, 75%, pot, allin; raise 60%, allin",
    )
    policy = dl.solve(game, seconds=60)
    ```

    Player 0 acts first in each round. Utilities are chips won or lost, where half of the pot counts
    as each player's: who folds at once loses that.

    Args:
      board: the cards on the table: three, four or five of them.
      pot: chips in the pot, with what anybody has bet before.
      stacks: chips that each player has left. More than the smaller stack can not be won, so both
        play for that one.
      ranges: which hands each player may have, and how likely they are beside each other, see
        `holdem_cards.parse_range`; empty: all hands, equally likely.
      bets: sizes of bets and raises, street by street, see `holdem_betting`.

    Raises:
      ValueError: if a card is none or comes twice, there is nothing left to bet, a size or an item
        of a range is none, or ranges leave no two hands without a card in common.
    """
    cards = holdem_cards.parse_cards(board)
    if len(cards) not in _CARDS_OF_BOARDS:
        raise ValueError(
            f"board={board!r} has {len(cards)} cards; give a flop of three, or four or five"
        )
    if not 0 < pot < float("inf"):
        raise ValueError(f"pot={pot} must be a number of chips, more than 0")
    if len(stacks) != 2 or not 0 < min(stacks) < float("inf"):
        raise ValueError(
            f"stacks={stacks} must be what two players have left, more than 0: else there is no "
            "bet left"
        )
    stack = min(stacks)
    own = pot / 2
    parameters = {
        "board": "".join(map(holdem_cards.card_text, cards)),
        "board_cards": _list([0] + [1] * (5 - len(cards))),
        "stacks": _list([own + stack] * 2),
        "blinds": _list([own] * 2),
        "bets": " ".join(bets.replace(",", " ").split()),
        "min_wager": 0.0,
        "range_0": ranges[0].replace(",", ";"),
        "range_1": ranges[1].replace(",", ";"),
    }
    # In game strings, commas stand between parameters.
    return pyspiel.load_game("python_holdem", parameters)


def _list(numbers: Sequence[float]) -> str:
    """As game strings have lists."""
    return f"[{';'.join(map(repr, numbers))}]"
