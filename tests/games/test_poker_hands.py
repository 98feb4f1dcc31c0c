"""Hand histories: where a hand stood when a street began."""

from __future__ import annotations

import pytest

import spiel_dl as dl

HAND = """\
PokerStars Hand #1: Hold'em No Limit ($0.50/$1.00 USD) - 2026/11/26 20:00:00 ET
Table 'Ceres' 6-max Seat #3 is the button
Seat 1: Ann: A ($1,097.50 in chips)
Seat 2: Bob ($100 in chips)
Seat 3: Cy ($120 in chips)
Bob: posts the ante $0.10
Ann: A: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Bob [Ah Qd]
Cy: raises $1.50 to $2.50
Ann: A: folds
Bob: raises $6.50 to $9
Cy: calls $6.50
*** FLOP *** [Qs Jh 2h]
Bob: checks
Cy: bets $5
Bob: raises $10 to $15
Cy: calls $10
*** TURN *** [Qs Jh 2h] [4d]
Bob: bets $30
Cy: folds
Uncalled bet ($30) returned to Bob
Bob collected $48.60 from pot
"""


def test_a_turn() -> None:
    spot = dl.poker.read_hand(HAND)
    assert spot.board == "QsJh2h4d"
    # Blinds 0.50, ante 0.10, and 9 + 15 of each.
    assert spot.pot == pytest.approx(48.6)
    assert spot.players == ("Bob", "Cy")
    assert spot.stacks == pytest.approx((75.9, 96.0))
    flop = dl.poker.read_hand(HAND, "flop")
    assert (flop.board, flop.pot) == ("QsJh2h", pytest.approx(18.6))
    game = dl.poker.endgame(board=spot.board, pot=spot.pot, stacks=spot.stacks, bets="allin")
    # Half of the pot is each player's; both play for the smaller stack.
    assert game.max_utility() == pytest.approx(48.6 / 2 + 75.9)


def test_of_names_that_begin_alike_the_longer_one_acts() -> None:
    spot = dl.poker.read_hand(HAND.replace("Cy", "Bob: b"))
    assert (spot.players, spot.pot) == (("Bob", "Bob: b"), pytest.approx(48.6))


def test_a_bet_that_is_not_called_comes_back() -> None:
    text = HAND.replace("Cy: calls $10\n", "Uncalled bet ($10) returned to Bob\n")
    assert dl.poker.read_hand(text).pot == pytest.approx(0.5 + 0.1 + 18 + 10)


def test_of_both_blinds_the_big_one_is_live() -> None:
    text = HAND.replace("Cy ($120 in chips)", "Cy ($120 in chips, $5 bounty)")
    text = text.replace("*** HOLE", "Cy: posts small & big blinds $1.50\n*** HOLE", 1)
    spot = dl.poker.read_hand(text)
    assert spot.pot == pytest.approx(48.6 + 0.5)
    assert spot.stacks == pytest.approx((75.9, 95.5))


@pytest.mark.parametrize(
    ("text", "street", "message"),
    [
        (HAND, "river", "the hand has no river"),
        (HAND, "show", "street='show' must be"),
        ("Bob wins", "turn", "not written as PokerStars does"),
        (HAND.replace("Ann: A: folds", "Ann: A: calls $2"), "turn", "3 players see the turn"),
        (HAND.partition("Bob: bets $30")[0], "turn", "of whom somebody must act"),
        (HAND.replace("raises $10 to $15", "raises $10"), "turn", "Bob: raises .* is missing"),
    ],
)
def test_what_is_no_spot_is_told(text: str, street: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dl.poker.read_hand(text, street)
