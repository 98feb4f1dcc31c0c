"""Views show what a player may know, and nothing else."""

import collections
import re

import pyspiel
import pytest

from spiel_dl.games import endings, views
from spiel_dl.games.leduc import LeducRules
from tests import reference
from tests.games.openspiel_conformance import all_states

SMALL_GAMES = [
    "python_goofspiel_ii(num_cards=3,points_order=random)",
    "python_oshi_zumo_ii(coins=2,optimal_endgame=false,min_bid=0,horizon=3)",
    "python_battleships(board_width=2,board_height=1,ship_sizes=[1],num_shots=2)",
    "python_battleships(board_width=3,board_height=1,ship_sizes=[2;1],returns_type=ship_values)",
    "python_holdem(num_ranks=3,num_suits=1,num_hole_cards=1,board_cards=[0;1],stacks=[4;4],"
    "blinds=[1;1],max_wagers=[1;1])",
    "python_leduc(num_ranks=2,max_raises=0)",
    "python_liars_dice(dice_sides=2)",
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
    "python_dark_hex(num_rows=2,num_cols=2)",
]


def screen(game_string, actions, player):
    state = reference.state_after(game_string, actions)
    return views.view(state.get_game().rules, state.batch, player).splitlines()


@pytest.mark.parametrize("game_string", SMALL_GAMES)
def test_views_show_what_a_player_knows_and_all_that_matters(game_string):
    """Views are equal within an infoset, and show legal actions and the player's own cards."""
    game = pyspiel.load_game(game_string)
    seen, hidden, legal = (collections.defaultdict(set) for _ in range(3))
    for state in all_states(game):
        for player in (0, 1):
            text = views.view(game.rules, state.batch, player)
            infostate = (player, state.information_state_string(player))
            seen[infostate].add(text)
            hidden[infostate].add(str(state))
            if player == state.current_player():
                private = game.rules.private_tensor(state.batch, player, perfect_recall=False)
                legal[text].add((tuple(state.legal_actions()), private.numpy().tobytes()))
    assert {len(screens) for screens in seen.values()} == {1}
    assert max(map(len, hidden.values())) > 1, "nothing was hidden, so nothing was tested"
    assert {len(facts) for facts in legal.values()} == {1}


def test_goofspiel():
    # Point cards 4, 3, 2, 1. Round 1: 4 against 1; round 2: 2 against 2; round 3: 1, ...
    game_string = "python_goofspiel_ii(num_cards=4,points_order=descending)"
    actions = [3, 0, 1, 1, 0]
    assert screen(game_string, actions, player=1) == [
        "You are player 1.",
        "Your points: 0",
        "Opponent's points: 4",
        "To be won: 2 (points)",
        "Your hand: 3 4",
        "round         1    2    3",
        "point card    4    3    2",
        "your bid      1    2",
        "winner     them draw",
    ]
    assert screen(game_string, actions, player=0)[-5:] == [
        "Your hand: 3",
        "round         1    2    3",
        "point card    4    3    2",
        "your bid      4    2    1",
        "winner      you draw",
    ]


def test_holdem():
    # 6c and 5c against Ks and Kd, queen high on the board; a bet of the pot, then a fold.
    game_string = "python_holdem(board=QsJh2h4d8c,board_cards=[0],stacks=[60;60],blinds=[10;10])"
    actions = [16, 12, 47, 45, 2, 0]
    assert screen(game_string, actions, player=1) == [
        "You are player 1.",
        "Your cards: K\u2666 K\u2660",
        "Board: Q\u2660 J\u2665 2\u2665 4\u2666 8\u2663",
        "Pot: 40",
        "You put in: 10",
        "Opponent put in: 30",
        "Round 1: opponent Wager pot, you Fold",
    ]
    state = reference.state_after(game_string, actions)
    assert endings.ending(state.get_game().rules, state.batch, 1, -10.0) == "You folded."
    assert endings.ending(state.get_game().rules, state.batch, 0, 10.0) == "Opponent folded."


def test_long_games_show_their_last_rounds():
    lines = screen("python_oshi_zumo_ii(coins=40)", [1] * 40, player=0)
    assert lines[1] == "You push to the right \u2192: # . . . \u25cf . . . #"
    assert lines[3].split() == ["round", *map(str, range(6, 21))]
    assert lines[5].split() == ["winner", *["draw"] * 15]


def test_battleships():
    # Tiles 0..5 in two rows of three. Player 0 lies on 0, 1 and 5, player 1 on 1, 4 and 3. Shots:
    # player 0 sinks tile 3, misses 0; player 1 hits tile 0, misses 4.
    game_string = "python_battleships(board_width=3,board_height=2,ship_sizes=[2;1])"
    actions = [6 + 0, 12 + 1, 6 + 5, 6 + 3, 3, 0, 0, 4]
    assert screen(game_string, actions, player=0) == [
        "You are player 0.",
        "Your board",
        "  0 1 2",
        "0 A a .",
        "1 . * b",
        "Opponent's board",
        "  0 1 2",
        "0 * . .",
        "1 # . .",
        "Ships: a of 2, b of 1; capitals where hit",
        "Shots: * missed, X hit, # the hit that sank a ship",
        "Your last shot: at (0, 0), missed",
        "Opponent's last shot: at (1, 1), missed",
    ]
    boards = screen(game_string, actions, player=1)
    assert boards[3:5] == ["0 * a .", "1 B a ."]
    assert boards[7:9] == ["0 X . .", "1 . * ."]


def test_pictures_say_what_a_click_may_mean():
    # Ships of one tile lie horizontally, and then the first player shoots.
    game_string = "python_battleships(board_width=2,board_height=1,ship_sizes=[1])"
    state = reference.state_after(game_string, [])
    rules = state.get_game().rules
    mine, theirs, _ = views.picture(rules, state.batch, 0, state.legal_actions())
    assert [cell["actions"] for cell in mine["cells"][0]] == [[2], [3]]
    assert not any(cell["actions"] for cell in theirs["cells"][0])
    for action in (2, 3):
        state.apply_action(action)
    mine, theirs, _ = views.picture(rules, state.batch, 0, state.legal_actions())
    assert [cell["mark"] for cell in mine["cells"][0]] == ["ship", "water"]
    assert [cell["actions"] for cell in theirs["cells"][0]] == [[0], [1]]


def test_rules_without_a_view_are_shown_by_their_pieces():
    class OtherRules(LeducRules):
        pass

    state = reference.state_after("python_leduc", [4, 1, 1])
    text = views.view(OtherRules(), state.batch, player=0)
    assert text.splitlines()[0] == "You are player 0."
    assert "private_card=4" in text.splitlines()
    assert "first_round=1" in text.splitlines()
    assert views.summary(OtherRules()) == ""
    assert views.view(LeducRules(), state.batch, 0) != text


def test_only_players_see_something():
    rules = LeducRules()
    with pytest.raises(ValueError, match="player=2"):
        views.view(rules, rules.initial_state(), player=2)


def test_a_wrestler_may_end_where_the_last_round_has_pushed_it():
    state = reference.state_after("python_oshi_zumo_ii(horizon=1)", (2, 1))
    ending = endings.ending(state.get_game().rules, state.batch, 0, 1.0)
    assert ending == "The wrestler ended on your opponent's side."


@pytest.mark.parametrize("game_string", SMALL_GAMES)
def test_endings_fit_what_the_player_has_won(game_string):
    """Both players' texts agree, each from its side; the loser is the one who folded or lied."""
    game = pyspiel.load_game(game_string)
    for state in all_states(game):
        if not state.is_terminal():
            continue
        texts = [
            endings.ending(game.rules, state.batch, player, state.player_return(player))
            for player in (0, 1)
        ]
        assert all(text and text[0].isupper() and text[-1] == "." for text in texts)
        for player, text in enumerate(texts):
            if "You folded" in text or ("You called" in text and "It was true" in text):
                assert state.player_return(player) < 0
            if "Most points win" in text:
                own, other = (int(word) for word in re.findall(r"\d+", text))
                assert (own > other) == (state.player_return(player) > 0)
            if "opponent has done so" in text:
                assert state.player_return(player) < 0
