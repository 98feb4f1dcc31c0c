"""Hold'em beside OpenSpiel's universal_poker, linear programs, dense products and playouts."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import spiel_dl as dl
from spiel_dl.factored.families import compile_any, factored_game
from spiel_dl.factored.holdem import HoldemGame, num_histories
from spiel_dl.games.holdem_cards import parse_cards
from spiel_dl.policies.array_policy import plans_of
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import check_playouts, random_plan, random_strategy
from tests.games.test_holdem import both_games
from tests.reference import state_after

RIVER = "QsJh2h4d3c"
ONE_RIVER = f"board={RIVER},board_cards=[0]"
# A turn with few hands, some of which block each other or the river.
TURN = (
    "python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[30;30],blinds=[10;10],min_wager=0.0,"
    "bets=50%,range_0=AhAd;7s6s;7h6h,range_1=AsAd;7s6s:0.5;JcJd)"
)


def test_solutions_are_those_of_linear_programs() -> None:
    """Twelve hands and fewer; the list of histories of the same game is small enough."""
    game = factored_game(TURN, num_threads=1)
    exact = dl.game_value(GameTree.from_game(TURN), 0)
    solver = dl.CFR(game, variant="pcfr+")
    solver.run(600)
    policy = solver.average_policy()
    assert dl.expected_value(game, policy) == pytest.approx(exact, abs=0.02)
    assert dl.exploitability(game, policy) < 0.02  # of a pot of 20


def test_small_endgames_are_listed_and_large_ones_are_not() -> None:
    """About as many histories as are counted."""
    tree = compile_any(TURN)
    assert isinstance(tree, GameTree)
    assert 0.5 < num_histories(tree.game.rules) / tree.num_histories < 4
    assert isinstance(compile_any(f"python_holdem({ONE_RIVER})"), HoldemGame)


def test_sums_are_those_of_all_pairs_of_hands() -> None:
    """The whole deck on a river: what runs over hands sums, beside a dense product."""
    game = factored_game(f"python_holdem({ONE_RIVER})", num_threads=1)
    assert isinstance(game, HoldemGame)
    form = game.sequence_form
    for player in (0, 1):
        plan = random_plan(game, 1 - player, seed=player)
        own, other = form.sides[0][:: 1 - 2 * player]
        assert len(own.hand) == 1081
        own_cards, other_cards = own.cards[own.hand], other.cards[other.hand]
        apart = (own_cards[:, None, :, None] != other_cards[None, :, None]).all(axis=(2, 3))
        wins = apart * np.sign(own.strength[:, None] - other.strength)
        expected = np.zeros(form.treeplexes[player].num_sequences)
        for ends, pays in zip(form.ends[player][0], (apart, wins), strict=True):
            for row in zip(*ends, strict=True):
                own_first, own_step, other_first, other_step, worth = row
                reach = plan[other_first + other_step * np.arange(1081)]
                values = worth * (pays @ reach)
                np.add.at(expected, own_first + own_step * np.arange(1081), values)
        found = form.values_against(player, plan)
        np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_what_is_said_of_infosets_of_a_turn_is_what_states_say() -> None:
    check_playouts(factored_game(TURN), 10)


def test_values_are_those_of_play_in_universal_poker() -> None:
    """The whole deck: fixed strategies far from uniform, hands dealt by OpenSpiel."""
    ours, theirs = both_games(
        f"{ONE_RIVER},stacks=[9;9],blinds=[1;1]",
        {"numBoardCards": "5", "boardCards": RIVER, "stack": "9 9", "blind": "1 1"},
    )
    game = factored_game(ours, num_threads=1)
    strategies = [random_strategy(game, player, seed=player) for player in (0, 1)]
    plans = plans_of(game, strategies)
    value = float(plans[0] @ game.sequence_form.values_against(0, plans[1]))
    generator, utilities = random.Random(0), []
    for _ in range(1200):
        state, mine = theirs.new_initial_state(), game.game.new_initial_state()
        while not state.is_terminal():
            actions, chances = state.legal_actions(), None
            if not state.is_chance_node():
                player = state.current_player()
                infoset = game.find_infoset(mine, player)
                chances = strategies[player][game.treeplexes[player].sequences(infoset)]
            action = generator.choices(actions, chances)[0]
            state.apply_action(action)
            mine.apply_action(action)
        assert mine.returns() == state.returns()
        utilities.append(state.returns()[0])
    error = float(np.std(utilities)) / math.sqrt(len(utilities))
    assert abs(np.mean(utilities) - value) < 4 * error
    assert error < 0.2


def test_an_endgame_in_peoples_words() -> None:
    game = dl.poker.endgame(
        board="Qs Jh 2h 4d 5c", pot=20, stacks=(90, 120), ranges=("22+, A2s+, QJo:0.5", "TT+, AQ"),
        bets="33%, 75%, pot, allin; raise 60%, allin",
    )  # fmt: skip
    state = state_after(game, parse_cards("AhAdKsKh"))
    assert [state.action_to_string(action) for action in state.legal_actions()] == [
        "Call", "Wager 33%/60%", "Wager 75%/allin", "Wager pot", "Wager allin",
    ]  # fmt: skip
    for action in (2, 2, 1):  # 6.6, raised by 60 % of 33.2, called
        state.apply_action(action)
    np.testing.assert_allclose(state.returns(), [10 + 6.6 + 19.92, -(10 + 6.6 + 19.92)])
    policy = dl.solve(game, seconds=60, exploitability=0.5)
    assert policy.exploitability < 0.5
    few = dl.poker.endgame(
        board="Qs Jh 2h 4d 5c", pot=20, stacks=(90, 120), ranges=("AA, KQs", "TT+"), bets="pot"
    )
    assert dl.exploitability(few, dl.load_policy("cfr+:10", few)) < 5.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"board": "QsQs2h"}, "Qs comes twice"),
        ({"board": "Qs2h"}, "has 2 cards; give a flop"),
        ({"board": "Qs2h1x"}, "is no card of the deck"),
        ({"ranges": ("QsQh", "AA")}, "range_0='QsQh' is empty"),
        ({"ranges": ("AA", "ZZ")}, "'ZZ' is no part of a range"),
        ({"ranges": ("AhAd", "AhKd")}, "leave no pair of hands"),
        ({"ranges": ("AA",)}, "ranges=.* must be two"),
        ({"stacks": (0, 3)}, "no bet left"),
        ({"pot": 0}, "pot=0 must be"),
        ({"bets": "12"}, "'12' in bets='12' is no size"),
        ({"bets": ""}, "a street without a size"),
        ({"bets": "pot | pot"}, "sizes of 2 streets, but 1"),
    ],
)
def test_what_is_no_endgame_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dl.poker.endgame(**{"board": RIVER, "pot": 20, "stacks": (90, 90), **wrong})  # type: ignore[arg-type]
