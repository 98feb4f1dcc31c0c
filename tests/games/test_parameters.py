"""Parameters that are out of range are refused, with what is wrong and what would do."""

from __future__ import annotations

import pyspiel
import pytest

import spiel_dl.games  # noqa: F401  (registers the games)

WRONG = {
    "python_leduc": [
        ("num_ranks=1", "num_ranks=1"),
        ("num_ranks=2,num_suits=1", "num_suits=1 make 2 cards"),
        ("num_ranks=64,num_suits=2", "128 cards"),
        ("max_raises=-1", "max_raises=-1"),
        ("bet_sizes=[]", "bet_sizes"),
        ("bet_sizes=2;4", "not a list of integers"),
        ("raise_sizes=[2;2]", r"raise_sizes=\[2, 2\]"),
        ("raise_sizes=[]", "max_raises=0"),
        ("ante=0", "ante=0"),
        ("ante=2147483647", "use smaller ones, for at most 2147483647"),
        (f"raise_sizes=[{';'.join(map(str, range(1, 128)))}]", "127 sizes; use at most 126"),
    ],
    "python_battleships": [
        ("board_width=0", "board_width=0"),
        ("ship_sizes=[]", "at least one ship"),
        ("ship_sizes=[11]", "do not fit, .* on a 10x10 board"),
        ("board_width=2,board_height=2,ship_sizes=[2;2;2]", "do not fit, .* on a 2x2 board"),
        # A ship of one tile in the middle of three leaves none for the ship of two.
        ("board_width=3,board_height=1,ship_sizes=[1;2]", "name larger ones first"),
        ("ship_sizes=[1;1;1;1;1;1;1;1;1;1;1]", "11 ships"),
        ("num_shots=0", "num_shots=0"),
        ("num_shots=16", "num_shots=16 can sink no fleet"),
        ("num_shots=1,returns_type=ship_values", "no ship of any worth"),
        ("returns_type=points", "returns_type='points'"),
        ("ship_values=[1;1;1;1;1]", "no use with returns_type=win_loss"),
        ("returns_type=ship_values,ship_values=[1;2]", "each of the 5 ships"),
        ("returns_type=ship_values,ship_values=[a]", r"ship_values='\[a\]'"),
        ("returns_type=ship_values,ship_values=[1;1;1;1;inf]", r"ship_values=.* is not a list"),
    ],
    "python_holdem": [
        (f"bets={' '.join(f'{chips}c' for chips in range(1, 128))}", "127 sizes; use at most 126"),
        ("blinds=[1.0;nan]", r"blinds='\[1.0;nan\]' is not a list of numbers"),
        ("stacks=[20.0;nan]", r"stacks='\[20.0;nan\]' is not a list of numbers"),
        ("stacks=[2;20]", r"stacks=\[2;20\] must be larger than blinds="),
    ],
    "python_goofspiel_ii": [
        ("num_cards=1", "num_cards=1 is out of range; use 2 to 127"),
        ("points_order=shuffled", "points_order='shuffled' is unknown; use one of"),
        ("num_cards=4,num_turns=5", "num_turns=5 is out of range; use 1 to num_cards=4"),
    ],
    "python_oshi_zumo_ii": [
        ("coins=4,min_bid=5", "min_bid=5 is out of range; use 0 to coins=4"),
        ("start_location=100000", "start_location=100000 is out of range; use 0 to 16000"),
        ("min_bid=0", "optimal_endgame=True needs min_bid > 0"),
        ("horizon=0", "horizon=0 is out of range; use 1 or more"),
    ],
    "python_liars_dice": [
        ("numdice=0", "numdice=0 leaves nothing to bid on; use 1 or more"),
        ("dice_sides=1", "dice_sides=1 is out of range; use 2 to 127"),
        ("numdice=100,dice_sides=100", "make 20000 bids; use parameters with"),
        ("bidding_rule=upwards", "bidding_rule='upwards' is unknown; use one of"),
    ],
    "python_dark_hex": [
        ("num_rows=1", "num_rows=1 and num_cols=3 are out of range; use 2 or more of each"),
        ("num_cols=6", "num_rows=3 and num_cols=6 are out of range; use .* at most 16 cells"),
    ],
}


@pytest.mark.parametrize(
    ("game", "parameters", "message"),
    [(game, *case) for game, cases in WRONG.items() for case in cases],
)
def test_bad_parameters_are_refused(game: str, parameters: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyspiel.load_game(f"{game}({parameters})")
