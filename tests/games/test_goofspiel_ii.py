"""python_goofspiel_ii against OpenSpiel's goofspiel(imp_info=True), hand counts and the papers'."""

from __future__ import annotations

import math

import numpy as np
import pyspiel
import pytest
from open_spiel.python.observation import make_observation

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games.goofspiel_ii import GoofspielIIRules
from spiel_dl.games.rules import CHANCE_PLAYER, TERMINAL_PLAYER
from tests.games import enumeration, twins
from tests.games.openspiel_conformance import possible_actions

_ORDERS = ("random", "descending", "ascending")


def _game(parameters: str) -> pyspiel.Game:
    return pyspiel.load_game(f"python_goofspiel_ii({parameters})")


def _twin(parameters: str) -> pyspiel.Game:
    game = f"goofspiel(imp_info=True,{parameters})"
    return pyspiel.load_game(f"turn_based_simultaneous_game(game={game})")


def _count_histories(rules: GoofspielIIRules) -> dict[int, int]:
    """The number of histories by who acts in them, by expanding the rules level by level."""
    count = dict.fromkeys((0, 1, CHANCE_PLAYER, TERMINAL_PLAYER), 0)
    for states, _ in enumeration.levels(rules):
        count[int(rules.current_player(states)[0])] += states.batch_size
    return count


# Two rounds: bids, or a deal and bids, with as many choices as there are cards left.
_OF_THREE = {
    "random": 1 + 3 + 9 + 27 + 54 + 108 + 216,
    "descending": 1 + 3 + 9 + 18 + 36,
    "ascending": 1 + 3 + 9 + 18 + 36,
}


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        *((f"num_cards=3,points_order={order}", count) for order, count in _OF_THREE.items()),
        ("num_cards=3,points_order=random,returns_type=point_difference", _OF_THREE["random"]),
        ("num_cards=4,points_order=descending,returns_type=point_difference", None),
        ("num_cards=5,points_order=ascending,num_turns=2,returns_type=point_difference", None),
        ("num_cards=4,points_order=random,num_turns=2", None),
        ("num_cards=2,points_order=random", None),
    ],
)
def test_equals_twin_at_every_history(parameters: str, count: int | None) -> None:
    found = twins.assert_same_game(_game(parameters), _twin(parameters))
    assert found > 10
    assert count in (None, found)


@pytest.mark.parametrize(
    "parameters",
    [
        "num_cards=13",
        "num_cards=13,points_order=descending,returns_type=point_difference",
        "num_cards=20,num_turns=10,returns_type=point_difference",
    ],
)
def test_equals_twin_in_random_playthroughs(parameters: str) -> None:
    twins.assert_same_random_games(_game(parameters), _twin(parameters), 10)


@pytest.mark.parametrize("parameters", ["num_cards=6", "num_cards=5,points_order=descending"])
def test_tensors_hold_what_the_twins_tensors_hold(parameters: str) -> None:
    game = _game(parameters)
    twin = pyspiel.load_game(f"goofspiel(imp_info=True,{parameters})")
    recall = pyspiel.IIGObservationType(perfect_recall=True)
    now = pyspiel.IIGObservationType(perfect_recall=False)
    mine = make_observation(game, recall), make_observation(game, now)
    yours = make_observation(twin, recall), make_observation(twin, now)
    generator = np.random.default_rng(2)
    for _ in range(10):
        ours, theirs = game.new_initial_state(), twin.new_initial_state()
        while True:
            for player in (0, 1):
                for observation in mine:
                    observation.set_from(ours, player)
                for observation in yours:
                    observation.set_from(theirs, player)
                _assert_equal_pieces(mine[0].dict, mine[1].dict, yours[0].dict, yours[1].dict)
            if ours.is_terminal():
                break
            if ours.is_chance_node():
                outcome = int(generator.choice(possible_actions(ours)))
                ours.apply_action(outcome)
                theirs.apply_action(outcome)
            else:
                bids = [int(generator.choice(theirs.legal_actions(p))) for p in (0, 1)]
                for bid in bids:
                    ours.apply_action(bid)
                theirs.apply_actions(bids)


def _assert_equal_pieces(recall: dict, now: dict, twin_recall: dict, twin_now: dict) -> None:
    np.testing.assert_array_equal(recall["point_cards"], twin_recall["point_card_sequence"])
    np.testing.assert_array_equal(recall["bids"], twin_recall["player_action_sequence"])
    for pieces in (recall, now):
        winners = pieces["round_winners"]
        np.testing.assert_array_equal(winners[:, [0, 2]], twin_recall["win_sequence"])
        rounds_over = twin_recall["player_action_sequence"].sum()
        assert winners.sum() == rounds_over
    # The twin's totals begin with the observing player's.
    totals = twin_now["point_totals"] if now["player"][0] else twin_now["point_totals"][::-1]
    np.testing.assert_array_equal(now["point_totals"], totals)
    np.testing.assert_array_equal(now["hand"], twin_now["player_hand"])
    np.testing.assert_array_equal(now["remaining_point_cards"], twin_now["remaining_point_cards"])
    if twin_recall["point_card_sequence"].sum() > rounds_over or now["hand"].sum() == 0:
        np.testing.assert_array_equal(now["current_point_card"], twin_now["current_point_card"])


def test_forced_last_round_only_plays_out_what_the_twin_plays_itself() -> None:
    for order in _ORDERS:
        parameters = f"num_cards=3,points_order={order}"
        forced, twin = _game(f"{parameters},forced_last_round=True"), _twin(parameters)
        num_terminals = 0
        stack = [(forced.new_initial_state(), twin.new_initial_state())]
        while stack:
            mine, yours = stack.pop()
            if yours.is_terminal():
                num_terminals += 1
                for _ in range(3 if order == "random" else 2):
                    assert not mine.is_terminal()
                    (only,) = possible_actions(mine)
                    mine.apply_action(only)
                assert mine.is_terminal()
                assert mine.returns() == yours.returns()
            else:
                twins.assert_same_state(mine, yours)
                actions = possible_actions(mine)
                stack.extend((mine.child(action), yours.child(action)) for action in actions)
        assert num_terminals == (216 if order == "random" else 36)


def test_a_round_fewer_than_cards_ends_after_it() -> None:
    # Here the twin fails: it plays the round that num_turns leaves out and never ends.
    state = _game("num_cards=3,num_turns=2,points_order=descending").new_initial_state()
    for bid in (2, 1, 0, 2):
        assert not state.is_terminal()
        state.apply_action(bid)
    assert state.is_terminal()
    assert state.returns() == [1, -1]  # 3 points for bidding 3 on 2, 2 points for bidding 3 on 1


def test_counts_of_the_dl_cfr_paper() -> None:
    rules = GoofspielIIRules(5, "descending", forced_last_round=True)
    # By hand: the product of the hand sizes, over both players in turn.
    hand_sizes = [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
    assert 1 + sum(math.prod(hand_sizes[:length]) for length in range(1, 11)) == 55_731
    assert enumeration.count(rules) == (55_731, 4_974, 4_974)


def test_count_of_the_sepot_paper() -> None:
    # "2.4 million unique histories" of five cards in random order counts the histories of the
    # simultaneous game: after each deal, after each pair of bids, and the root; the last, forced
    # round is not played. In turns, those are the histories in which player 1 is not to move.
    def counted_by_hand(num_cards: int) -> dict[int, int]:
        last = num_cards - 1
        pairs = [math.perm(num_cards, rounds) ** 2 for rounds in range(num_cards)]
        deals = [math.perm(num_cards, rounds) for rounds in range(num_cards)]
        return {
            CHANCE_PLAYER: sum(pairs[k] * deals[k] for k in range(last)),
            0: sum(pairs[k] * deals[k + 1] for k in range(last)),
            TERMINAL_PLAYER: pairs[last] * deals[last],
        }

    assert sum(counted_by_hand(5).values()) == 2_408_631
    for num_cards in (3, 4):
        count = _count_histories(GoofspielIIRules(num_cards, "random"))
        assert counted_by_hand(num_cards).items() <= count.items()
    # The same reading of the same paper's "roughly 18 thousand" for the descending order.
    descending = _count_histories(GoofspielIIRules(5, "descending"))
    assert descending[0] + descending[TERMINAL_PLAYER] == 18_426
