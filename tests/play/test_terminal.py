"""Matches in the terminal, by scripted input."""

import io
import itertools

import pytest
from open_spiel.python import policy as openspiel_policy

from spiel_dl.play import terminal as play
from spiel_dl.play.registry import load_policy
from spiel_dl.tree.from_openspiel import load_turn_based
from tests.games.openspiel_conformance import all_states
from tests.reference import state_after

LEDUC = "python_leduc"
GOOFSPIEL = "python_goofspiel_ii(num_cards=3,points_order=descending)"
TWIN = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


class Always(openspiel_policy.Policy):
    """Plays one action wherever it is legal, else the first legal one."""

    def __init__(self, game, action):
        super().__init__(game, [0, 1])
        self.action = action

    def action_probabilities(self, state, player_id=None):
        legal = state.legal_actions()
        chosen = self.action if self.action in legal else legal[0]
        return {action: float(action == chosen) for action in legal}


def make_match(game_string, lines, opponent="uniform", **settings):
    game = load_turn_based(game_string)
    is_number = isinstance(opponent, int)
    policy = Always(game, opponent) if is_number else load_policy(opponent, game)
    return TypedMatch(game, policy, io.StringIO("".join(lines)), **settings)


class TypedMatch(play.Match):
    """A match whose screen can be read."""

    def __init__(self, game, opponent, source, **settings):
        self.screen = io.StringIO()
        super().__init__(game, opponent, source, self.screen, **settings)


def transcript(match):
    return match.screen.getvalue()


def test_a_game_is_played_to_its_result():
    # The person bids 3, 2 and, forced, 1; the opponent 1, 2, 3. Cards 3, 2, 1: 3 to 1 points.
    match = make_match(GOOFSPIEL, ["3\n", "bid 2\n"], opponent=0)
    match.play()
    assert match.num_finished == 1
    assert match.scores == [1, -1]
    text = transcript(match)
    assert "winner      you draw them" in text
    assert "Result: you win (you +1, opponent -1)." in text
    assert text.endswith("Final score after 1 game: you +1, opponent -1.\nGoodbye.\n")


def test_the_seed_decides_chance_and_opponent():
    texts = []
    for seed in (1, 1, 2):
        match = make_match(LEDUC, ["1\n"] * 200, seed=seed, seat=None)
        match.play(10)
        assert match.num_finished == 10
        texts.append(transcript(match))
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("opponent_action", [0, 1, 2])
def test_swapping_the_hidden_card_leaves_the_screen_identical(opponent_action):
    """The opponent plays on without looking, and the person calls; only the end may differ."""

    def the_certain_one_or_card_4(probabilities):
        return next((action for action, p in probabilities.items() if p == 1), 4)

    for seat in (0, 1):
        texts = set()
        for hidden in (1, 2, 3, 5):
            match = make_match(LEDUC, ["call\n"] * 10, opponent=opponent_action)
            cards = [0, hidden] if seat == 0 else [hidden, 0]
            state = state_after(match.game, cards)
            match.draw = the_certain_one_or_card_4
            match.play_game(state, seat)
            assert match.num_finished == 1
            texts.add(transcript(match).partition("--- The game is over. ---")[0])
        assert len(texts) == 1
        assert "J\u2660 (yours)" in texts.pop()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "End of input."),
        (["1\n"], "End of input."),
        (["1\n", "quit\n"], "You have left."),
        (["nonsense\n", " quit \n"], "You have left."),
    ],
)
def test_leaving_is_polite_and_counts_nothing(lines, message):
    match = make_match(LEDUC, lines, opponent=1)
    match.play(2)
    text = transcript(match)
    assert f"{message} The game was not finished and does not count.\nGoodbye.\n" in text
    assert match.num_finished == 0
    assert match.scores == [0, 0]


def test_help_and_wrong_input():
    lines = ["help\n", "actions\n", "7\n", "-1\n", "bid\n", "fold\n", "?\n", "\n", "3\n", "1\n"]
    match = make_match(GOOFSPIEL, lines, opponent=0)
    match.play()
    text = transcript(match)
    assert match.num_finished == 1
    assert "a point card is turned up" in text  # the summary of this game
    assert text.count("  1  Bid: 1   2  Bid: 2   3  Bid: 3") == 2
    for wrong in ("7", "-1", "fold", "?", ""):
        assert f"{wrong!r} is not a legal action; type a number or name from the list" in text
    assert "'bid' fits several actions (Bid: 1, Bid: 2, Bid: 3)" in text


def test_numbers_are_those_of_the_names_where_they_have_one():
    def numbers(game_string, *actions):
        state = state_after(load_turn_based(game_string), actions)
        return {option.number: (option.name, option.action) for option in play.options(state)}

    cards = {1: ("Bid: 1", 0), 2: ("Bid: 2", 1), 3: ("Bid: 3", 2)}
    assert numbers(GOOFSPIEL) == numbers(TWIN) == cards
    assert numbers("python_oshi_zumo_ii(coins=2)") == {1: ("Bid: 1", 1), 2: ("Bid: 2", 2)}
    assert numbers(LEDUC, 0, 1) == {1: ("Call", 1), 2: ("Raise", 2)}
    assert numbers("tic_tac_toe", 4)[8] == ("o(2,2)", 8)
    game_string = "python_battleships(board_width=2,board_height=1,ship_sizes=[1])"
    assert numbers(game_string, 2, 3) == {0: ("shoot at (0, 0)", 0), 1: ("shoot at (0, 1)", 1)}


def test_names_may_be_cut_short():
    offered = [
        play.Option(0, "shoot at (0, 1)", 10),
        play.Option(5, "shoot at (1, 0)", 15),
        play.Option(7, "place vertically from (1, 0)", 17),
        play.Option(8, "Call", 18),
        play.Option(9, "Call all", 19),
    ]
    assert play.choose(offered, "5") == 15
    assert play.choose(offered, "0, 1") == 10
    assert play.choose(offered, "Shoot at 1 0") == 15
    assert play.choose(offered, "VERTICALLY") == 17
    assert play.choose(offered, "call") == 18  # the whole name, though it is a part of another
    assert play.choose(offered, "all") == 19
    for ambiguous in ("1 0", "shoot"):
        with pytest.raises(ValueError, match="several"):
            play.choose(offered, ambiguous)
    for wrong in ("1", "10", "-5", "shot", "0 0", "", "(", "hoot"):
        with pytest.raises(ValueError, match="not a legal action"):
            play.choose(offered, wrong)


@pytest.mark.parametrize(
    "game_string",
    [
        "python_oshi_zumo_ii(coins=3)",
        "python_battleships(board_width=2,board_height=2,ship_sizes=[2])",
        "kuhn_poker",
        "tic_tac_toe",
        "liars_dice(numdice=1,dice_sides=3)",
        "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[1],num_shots=2)",
        "matrix_rps",
        "python_kuhn_poker",
        "phantom_ttt",
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_any_two_player_game_can_be_played(game_string, seat):
    numbers = [f"{number}\n" for _ in range(60) for number in range(12)]
    match = make_match(game_string, numbers, seat=seat, seed=2)
    match.play(2)
    assert match.num_finished == 2
    assert sum(match.scores) == pytest.approx(0)


@pytest.mark.parametrize(
    "game_string", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=2)", TWIN]
)
def test_views_of_other_games_hide_what_the_player_does_not_know(game_string):
    game = load_turn_based(game_string)
    screens, hidden = {}, 0
    for state in itertools.islice(all_states(game), 3000):
        if state.is_terminal() or state.is_chance_node():
            continue
        player = state.current_player()
        text = play.view(state, player) + play.list_options(play.options(state))
        known = (player, state.information_state_string(player))
        assert screens.setdefault(known, (text, str(state)))[0] == text
        hidden += screens[known][1] != str(state)
    assert hidden


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="seat=2"):
        make_match(LEDUC, [], seat=2)


def test_what_openspiel_writes_in_brackets_is_told_line_by_line_and_once():
    # Both cards are dealt, and player 0 calls.
    lines = play.view(state_after(load_turn_based("leduc_poker"), [1, 2, 1]), 1).splitlines()
    assert [line for line in lines if "Private" in line] == ["Private: 2"]
    assert "Round1: 1" in lines
    assert not any("[" in line for line in lines)
