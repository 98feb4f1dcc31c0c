"""python_holdem against OpenSpiel's universal_poker, hands by their known frequencies, endgames."""

from __future__ import annotations

import collections
import itertools
import math
import random

import numpy as np
import pyspiel
import pytest
import torch

import spiel_dl.games  # noqa: F401  (registers the games)
from spiel_dl.games import poker
from spiel_dl.games.holdem_cards import hand_strengths, parse_cards, parse_range
from spiel_dl.tree.game_tree import GameTree
from tests.games import twins
from tests.reference import state_after
from tests.trees import assert_same_tree

# Both games' parameters: ours, and the twin's (ranks, suits, own cards and players are as ours).
TWINS = [
    (
        "num_ranks=3,num_suits=2,num_hole_cards=1,board_cards=[0;1],stacks=[12;12],blinds=[1;1]",
        {"blind": "1 1", "stack": "12 12", "numBoardCards": "0 1"},
    ),
    (
        "num_ranks=6,num_suits=2,num_hole_cards=1,board_cards=[0;1],stacks=[5;7],blinds=[1;2]",
        {"blind": "1 2", "stack": "5 7", "numBoardCards": "0 1"},
    ),
    (
        "num_ranks=3,num_suits=2,board_cards=[1],stacks=[7;9],blinds=[1;2]",
        {"blind": "1 2", "stack": "7 9", "numBoardCards": "1"},
    ),
    (
        "num_ranks=3,num_suits=4,num_hole_cards=1,board_cards=[0;1],stacks=[4;4],blinds=[1;2],"
        "first_players=[1;0]",
        {"blind": "1 2", "stack": "4 4", "numBoardCards": "0 1", "firstPlayer": "2 1"},
    ),
    # The larger blind acts first: the pot is not twice what it has paid.
    (
        "num_ranks=3,num_suits=2,num_hole_cards=1,board_cards=[0],stacks=[30;30],blinds=[2;3],"
        "first_players=[1]",
        {"blind": "2 3", "stack": "30 30", "numBoardCards": "0", "firstPlayer": "2"},
    ),
    (
        "num_ranks=3,num_suits=3,num_hole_cards=1,board_cards=[0;1],stacks=[99;99],blinds=[2;2],"
        "bets=2c|4c,max_wagers=[2;2]",
        {"blind": "2 2", "numBoardCards": "0 1", "betting": "limit", "raiseSize": "2 4"},
    ),
    (
        "num_ranks=4,num_suits=2,board_cards=[0],stacks=[99;99],blinds=[1;2],bets=2c,max_wagers=[3]",
        {"blind": "1 2", "numBoardCards": "0", "betting": "limit", "raiseSize": "2",
         "maxRaises": "3"},
    ),
    (
        "num_ranks=6,num_suits=3,num_hole_cards=1,board_cards=[0;1],stacks=[9;9],blinds=[1;2],"
        "bets=none",
        {"blind": "1 2", "stack": "9 9", "numBoardCards": "0 1", "bettingAbstraction": "fc"},
    ),
]  # fmt: skip


def both_games(parameters: str, twin: dict[str, str]) -> tuple[pyspiel.Game, pyspiel.Game]:
    """Our game, and universal_poker with the same cards and the parameters of `twin`."""
    ours = pyspiel.load_game(f"python_holdem({parameters})")
    rounds = len(twin["numBoardCards"].split())
    given = {
        "betting": "nolimit",
        "bettingAbstraction": "fcpa",
        "firstPlayer": " ".join(["1"] * rounds),
        "maxRaises": "2 2" if twin.get("betting") == "limit" else "",
        **twin,
        "numPlayers": 2,
        "numRounds": rounds,
        "numRanks": ours.rules.num_ranks,
        "numSuits": ours.rules.num_suits,
        "numHoleCards": ours.rules.num_hole,
    }
    return ours, pyspiel.load_game("universal_poker", given)


@pytest.mark.parametrize(("parameters", "twin"), TWINS)
def test_equals_the_twin_at_every_history(parameters: str, twin: dict[str, str]) -> None:
    ours, theirs = both_games(parameters, twin)
    assert ours.max_chance_outcomes() == theirs.max_chance_outcomes()
    mine, yours = GameTree.from_game(ours), GameTree.from_game(theirs)
    assert mine.num_histories > 200
    assert_same_tree(mine, yours, rtol=1e-12)


def test_equals_the_twin_in_random_playthroughs() -> None:
    """The whole deck, four rounds, blinds of a half and one, both to act first before the flop."""
    ours, theirs = both_games(
        "stacks=[60;60],blinds=[2;1],first_players=[1;0]",
        {"blind": "2 1", "stack": "60 60", "numBoardCards": "0 3 1 1", "firstPlayer": "2 1 1 1"},
    )
    twins.assert_same_random_games(ours, theirs, 5)


def test_public_states_are_those_of_boards_and_bets() -> None:
    """On a turn, what a player knows says which public state it is in, whatever it has seen."""
    tree = GameTree.from_game(
        "python_holdem(board=QsJh2h4d,board_cards=[0;1],stacks=[20;20],blinds=[10;10],"
        "min_wager=0.0,bets=pot,range_0=AhAd;KcKd,range_1=JcJd;AcQd)"
    )
    # Before each private card; four decisions and three calls on the turn; four decisions each on
    # 48 rivers.
    assert tree.num_public_states == 4 + 4 + 3 + 4 * 48


def test_all_five_card_hands_by_their_known_frequencies() -> None:
    """Of hands that differ in suits alone, one stands for all: one that is a flush, one not."""
    hands, ways = [], []
    for ranks in itertools.combinations_with_replacement(range(13), 5):
        count = collections.Counter(ranks)
        if max(count.values()) > 4:
            continue
        suits = [ranks[:place].count(rank) for place, rank in enumerate(ranks)]
        all_ways = math.prod(math.comb(4, number) for number in count.values())
        if len(count) == 5:
            hands.append([4 * rank for rank in ranks])
            ways.append(4)
            suits[0], all_ways = 1, all_ways - 4
        hands.append([4 * rank + suit for rank, suit in zip(ranks, suits, strict=True)])
        ways.append(all_ways)
    categories = (hand_strengths(torch.tensor(hands)) >> 28).numpy()
    counts = np.bincount(categories, ways)
    assert sum(ways) == math.comb(52, 5)
    assert counts.tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]


@pytest.mark.parametrize(
    "ascending",
    [
        ["2c3d4h5s7c8d9h", "2c2d4h5s7c8d9h", "2c2d4h5s7c8dTh", "2c2d4h4s7c8d9h", "AcAdKhKsQcQdJh"],
        ["AcAd2h2sQcQdJh", "AcAd2h2sQcQdKh"],
        ["AcAdAh2sQcTdJh", "Ac2d3h4s5c9dJh", "2d3h4s5c6d9dJh", "2c4c5c7c9cAdAh"],
        ["2c2d2h3s3cAdKh", "2c2d2h3s3c3dKh", "2c2d2h2sAcAdKh", "2c2d2h2s3c3dAh"],
        ["KcKdKhKsAcAd3h", "Ac2c3c4c5c5d5h", "TsJsQsKsAs2d2h"],
    ],
)
def test_seven_cards_are_as_good_as_their_best_five(ascending: list[str]) -> None:
    hands = [parse_cards(text) for text in ascending]
    strengths = hand_strengths(torch.tensor(hands))
    for hand, strength in zip(hands, strengths, strict=True):
        best = hand_strengths(torch.tensor(list(itertools.combinations(hand, 5)))).max()
        assert strength == best
    # "2c2d2h2sAcAdKh" and "2c2d2h2s3c3dAh" both have an ace beside the quads.
    assert (strengths.diff() >= 0).all()


def test_random_hands_are_as_good_as_their_best_five() -> None:
    generator = random.Random(0)
    hands = torch.tensor([generator.sample(range(52), 7) for _ in range(2000)])
    fives = torch.tensor(list(itertools.combinations(range(7), 5)))
    parts = hand_strengths(hands[:, fives].flatten(0, 1)).view(len(hands), -1)
    assert torch.equal(parts.amax(dim=1), hand_strengths(hands))


@pytest.mark.parametrize(
    ("text", "count", "total"),
    [
        ("", 1326, 1326.0),
        ("22+", 78, 78.0),
        ("AKs, AKo", 16, 16.0),
        ("A2s+ KTo+:0.5", 48 + 36, 48 + 18),
        ("99-66;A5s-A2s", 24 + 16, 40),
        ("AA,AhAd:0.25", 6, 5.25),
        ("AhKd", 1, 1),
    ],
)
def test_ranges(text: str, count: int, total: float) -> None:
    weights = parse_range(text)
    np.testing.assert_array_equal(weights, weights.T)
    assert (np.count_nonzero(weights) / 2, weights.sum() / 2) == (count, total)


@pytest.mark.parametrize(
    "item", ["22++", "AKx", "AAs", "AhAh", "A5s-K2s", "AK:-1", "AK:x", "AK:1e99", "1c2c", "AK-QJ"]
)
def test_what_is_no_range_is_refused(item: str) -> None:
    with pytest.raises(ValueError, match="is no part of a range here"):
        parse_range(f"77+,{item}")


def test_a_range_ends_with_the_deck() -> None:
    """Of ranks up to seven: six pairs of six hands; 7-3 to 7-6, suited."""
    assert np.count_nonzero(parse_range("22+", num_ranks=6)) / 2 == 36
    assert np.count_nonzero(parse_range("73s+", num_ranks=6)) / 2 == 16
    with pytest.raises(ValueError, match="'88\\+' is no part of a range here"):
        parse_range("88+", num_ranks=6)


@pytest.mark.parametrize("text", ["77", "77+", "55-22", "AA,77", "77,", " 77 ", ""])
def test_an_endgame_is_loaded_by_its_string(text: str) -> None:
    game = poker.endgame(board="QsJh2h4d5c", pot=20, stacks=(90, 90), ranges=(text, "TT+"))
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game)
    np.testing.assert_array_equal(again.rules.ranges[0], game.rules.ranges[0])


def test_chips_may_be_numbers_of_numpy() -> None:
    stacks = (np.float64(90), np.int64(80))
    game = poker.endgame(board="QsJh2h4d5c", pot=np.float64(20), stacks=stacks)
    assert str(game) == str(poker.endgame(board="QsJh2h4d5c", pot=20, stacks=(90, 80)))


def test_an_endgame_pays_what_the_pot_says() -> None:
    """A pot of 20 on the river: who folds loses half of it, and so does who shows the worse hand.

    OpenSpiel's universal_poker with potSize pays the blinds in the second case.
    """
    endgame = (
        "board=QsJh2h4d3c,board_cards=[0],stacks=[100;100],blinds=[10;10],range_0=AA,range_1=KK"
    )
    game, cards = f"python_holdem({endgame},min_wager=0.0,bets=50%)", parse_cards("AcAdKhKs")
    folded, shown, called = (
        state_after(game, (*cards, *actions)) for actions in ((2, 0), (1, 1), (2, 2, 1))
    )
    # A bet of half the pot is 10, a raise of half of it behind the call 20 more: 10 + 10 + 20.
    assert [each.returns()[0] for each in (folded, shown, called)] == [10.0, 10.0, 40.0]


def test_hands_are_dealt_by_their_ranges() -> None:
    """Two aces or kings against ace-king: 6 combinations of each, but blocked differently."""
    rules = pyspiel.load_game("python_holdem(range_0=AA;KK:0.5,range_1=AKs;QQ)").rules
    states, reach = rules.initial_state(), torch.ones(1, dtype=torch.float64)
    for _ in range(4):
        parent, action, probability = rules.successors(states)
        states, reach = rules.apply(states.take(parent), action), reach[parent] * probability
    own, other, third, fourth = states.cards[:, :4].long().T.numpy()
    expected = parse_range("AA;KK:0.5")[own, other] * parse_range("AKs;QQ")[third, fourth]
    np.testing.assert_allclose(reach, expected / expected.sum(), rtol=1e-12)
