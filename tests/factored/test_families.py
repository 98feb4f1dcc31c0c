"""Checks of every factored game against its compiled tree and OpenSpiel's states."""

import numpy as np
import pytest

from spiel_dl.factored.families import factored_game
from spiel_dl.games.features import features
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import check_gradients, check_playouts, tree_of_tensors

PHANTOM = ["dark_hex(board_size=2)", "dark_hex(num_rows=2,num_cols=3)"]
# Players who wait have infosets in the list of histories, but not here.
WAITING = ["python_dark_hex(num_rows=2,num_cols=2)", "python_dark_hex(num_rows=2,num_cols=3)"]
SMALL = [
    *PHANTOM,
    "dark_hex(gameversion=adh,board_size=2)",
    "dark_hex(gameversion=adh,num_rows=2,num_cols=3)",
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
    "liars_dice(numdice=1,dice_sides=3,bidding_rule=reset-quantity)",
    "liars_dice(numdice=2,dice_sides=2)",
    "python_liars_dice(numdice=2,dice_sides=2,bidding_rule=reset-quantity)",
    "python_holdem(num_ranks=3,num_suits=2,board_cards=[0;1],stacks=[3;4],blinds=[1;2])",
    "python_holdem(num_ranks=4,num_suits=2,num_hole_cards=1,board=2c,board_cards=[1;0;1],"
    "stacks=[4;4],blinds=[1;2],range_0=3;4;2d:0.5,range_1=2;3:0.25;5c)",
    "universal_poker(numPlayers=2,numRounds=2,numRanks=3,numSuits=2,numHoleCards=1,betting=nolimit,"
    "numBoardCards=0 1,stack=5 7,blind=1 2,firstPlayer=1 1,bettingAbstraction=fcpa)",
    "universal_poker(numPlayers=2,numRounds=2,numRanks=2,numSuits=3,numHoleCards=1,betting=limit,"
    "numBoardCards=1 0,blind=2 2,firstPlayer=2 1,raiseSize=2 4,maxRaises=1 2)",
]
LARGER = ["dark_hex(num_rows=4,num_cols=2)", "dark_hex(gameversion=adh,num_rows=4,num_cols=2)"]


@pytest.mark.parametrize("name", SMALL)
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    game = factored_game(name, num_threads=2)
    # Strings of classical dark hex tell more than its tensors.
    check_gradients(
        game, tree_of_tensors(game.game) if name in PHANTOM else GameTree.from_game(name)
    )


@pytest.mark.parametrize("name", [*SMALL, *WAITING, *LARGER])
def test_what_is_said_of_infosets_is_what_states_say(name: str) -> None:
    check_playouts(factored_game(name), 20)


@pytest.mark.parametrize("name", [*SMALL, WAITING[0]])
def test_every_infoset_has_a_state_of_its_own(name: str) -> None:
    game = factored_game(name)
    for player in (0, 1):
        for infoset in range(game.num_infosets(player)):
            state = game.state(player, infoset)
            assert game.find_infoset(state, player) == infoset
            assert game.legal_actions(player, infoset).tolist() == state.legal_actions()
        tensors = game.observations(player, 0, game.num_infosets(player)).tensors
        assert len(np.unique(tensors, axis=0)) == len(tensors)


@pytest.mark.parametrize("name", [*(n for n in SMALL if n.startswith("python_")), WAITING[0]])
@pytest.mark.parametrize("player", [0, 1])
def test_features_in_batches_are_those_of_states(name: str, player: int) -> None:
    game = factored_game(name)
    begin, end = 1, game.num_infosets(player)
    states = [game.state(player, infoset) for infoset in range(begin, end)]
    found, legal = game.features(player, begin, end), game.legal_rows(player, begin, end)
    np.testing.assert_array_equal(found, [features(state, player) for state in states])
    assert [np.flatnonzero(row).tolist() for row in legal] == [s.legal_actions() for s in states]
    # Networks see more than a seat and a time.
    assert len(np.unique(found, axis=0)) > 0.3 * len(found)


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker",
        "phantom_ttt(obstype=reveal-numturns)",
        "dark_hex(board_size=4)",
        "goofspiel(num_cards=3,imp_info=true)",
    ],
)
def test_other_games_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="has no factored form here"):
        factored_game(name)
