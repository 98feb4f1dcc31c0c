"""The games: rules written once as batched arrays (`rules`), and OpenSpiel's view of them.

Importing `spiel_dl` registers the games with OpenSpiel. A game's own module is imported when the
game is first loaded.
"""

from spiel_dl.games.registration import Registration
from spiel_dl.games.registry import register

REGISTRATIONS = (
    Registration(
        short_name="python_abrupt_dark_hex",
        long_name="Abrupt Dark Hex",
        defaults={"num_rows": 3, "num_cols": 3},
        make_rules="spiel_dl.games.phantom:abrupt_dark_hex",
        has_chance=False,
    ),
    Registration(
        short_name="python_abrupt_phantom_ttt",
        long_name="Abrupt Phantom Tic-Tac-Toe",
        defaults={},
        make_rules="spiel_dl.games.phantom:abrupt_phantom_ttt",
        has_chance=False,
    ),
    Registration(
        short_name="python_battleships",
        long_name="Battleships",
        defaults={
            "board_width": 10,
            "board_height": 10,
            "ship_sizes": "[2;3;3;4;5]",
            "allow_repeated_shots": False,
            "returns_type": "win_loss",
            "ship_values": "[]",
            "num_shots": -1,
        },
        make_rules="spiel_dl.games.battleships:BattleshipsRules",
        has_chance=False,
    ),
    Registration(
        short_name="python_dark_hex",
        long_name="Dark Hex",
        defaults={"num_rows": 3, "num_cols": 3},
        make_rules="spiel_dl.games.phantom:dark_hex",
        has_chance=False,
    ),
    Registration(
        short_name="python_goofspiel_ii",
        long_name="Goofspiel with imperfect information",
        defaults={
            "num_cards": 13,
            "points_order": "random",
            "returns_type": "win_loss",
            "num_turns": -1,
            "forced_last_round": False,
        },
        make_rules="spiel_dl.games.goofspiel_ii:GoofspielIIRules",
        has_chance=True,
    ),
    Registration(
        short_name="python_holdem",
        long_name="Hold'em Poker",
        defaults={
            "num_ranks": 13,
            "num_suits": 4,
            "num_hole_cards": 2,
            "board": "",
            "board_cards": "[0;3;1;1]",
            "stacks": "[20.0;20.0]",
            "blinds": "[1.0;2.0]",
            "bets": "pot allin",
            "max_wagers": "[]",
            "min_wager": -1.0,
            "first_players": "[0]",
            "range_0": "",
            "range_1": "",
        },
        make_rules="spiel_dl.games.holdem:HoldemRules",
        has_chance=True,
    ),
    Registration(
        short_name="python_leduc",
        long_name="Leduc Poker",
        defaults={
            "num_ranks": 3,
            "num_suits": 2,
            "deal_ranks": False,
            "bet_sizes": "[2]",
            "raise_sizes": "[2]",
            "max_raises": 1,
            "ante": 1,
        },
        make_rules="spiel_dl.games.leduc:LeducRules",
        has_chance=True,
    ),
    Registration(
        short_name="python_liars_dice",
        long_name="Liar's Dice",
        defaults={"numdice": 1, "dice_sides": 6, "bidding_rule": "reset-face"},
        make_rules="spiel_dl.games.liars_dice:LiarsDiceRules",
        has_chance=True,
    ),
    Registration(
        short_name="python_phantom_ttt",
        long_name="Phantom Tic-Tac-Toe",
        defaults={},
        make_rules="spiel_dl.games.phantom:phantom_ttt",
        has_chance=False,
    ),
    Registration(
        short_name="python_oshi_zumo_ii",
        long_name="Oshi-Zumo with hidden bids",
        defaults={
            "coins": 8,
            "min_bid": 1,
            "start_location": 3,
            "optimal_endgame": True,
            "horizon": 1000,
        },
        make_rules="spiel_dl.games.oshi_zumo_ii:OshiZumoIIRules",
        has_chance=False,
    ),
)

for _registration in REGISTRATIONS:
    register(_registration)
