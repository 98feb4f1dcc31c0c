"""Depth limits: how deep histories are, by hand, and which limits are refused."""

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.depth_limit import default_depth_limit
from spiel_dl.tree.from_openspiel import load_turn_based
from spiel_dl.tree.histories import Histories
from tests import tiny_games

LEDUC = "leduc_poker"


def test_depths_in_kuhn_poker_by_hand():
    """Two cards, then one to three moves: the first of the six deals is history 4."""
    tree = GameTree.from_game("kuhn_poker")
    assert DepthLimit(moves=1).depths(tree)[:10].tolist() == [0] * 10
    assert DepthLimit(moves=1).depths(tree)[10:22].tolist() == [1] * 12
    assert DepthLimit(moves=1).depths(tree).max() == 3
    # Both cards come before the first move, so plies count moves here.
    assert (DepthLimit(plies=1).depths(tree) == DepthLimit(moves=1).depths(tree)).all()


def test_rounds_of_a_converted_game_are_joint_moves():
    tree = GameTree.from_game("goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    depths = DepthLimit(rounds=1).depths(tree)
    assert depths[tree.move_number == 1].tolist() == [0] * 3
    assert depths[tree.move_number == 2].tolist() == [1] * 9


@pytest.mark.parametrize("idle_player", [0, 1])
def test_a_game_in_which_a_player_moves_alone_has_no_rounds(idle_player: int) -> None:
    tree = GameTree.from_game(tiny_games.MovesAlone(idle_player))
    with pytest.raises(ValueError, match="has no rounds; give the depth limit in moves or plies"):
        default_depth_limit(tree.game).depths(tree)
    assert DepthLimit(moves=2).depths(tree).max() == 5


def test_depths_of_very_long_games() -> None:
    number = np.arange(33_000, dtype=np.int32)
    chain = Histories(
        game=load_turn_based("kuhn_poker"),
        parent=number - 1,
        depth=number,
        action=np.zeros_like(number),
        player=np.zeros(len(number), np.int8),
        chance_reach=np.ones(len(number)),
        utility=np.zeros(len(number)),
        infoset_key=np.zeros((2, len(number)), np.int64),
        idle_keys_valid=True,
        public_key=None,
        rounds_over=None,
    )
    np.testing.assert_array_equal(chain.move_number, number)


@pytest.mark.parametrize(
    ("game_string", "expected"),
    [
        (LEDUC, DepthLimit(moves=2)),
        ("goofspiel(num_cards=3,imp_info=True)", DepthLimit(rounds=1)),
        ("python_leduc", DepthLimit(rounds=1)),
        ("python_battleships", DepthLimit(moves=1)),
    ],
)
def test_the_default(game_string, expected):
    assert default_depth_limit(load_turn_based(game_string)) == expected


def test_plies_count_the_public_card_and_moves_do_not():
    tree = GameTree.from_game(LEDUC)
    # The board card follows two moves at the earliest: check, check.
    assert DepthLimit(plies=3).depths(tree).max() == tree.depth.max() - 2
    assert DepthLimit(moves=3).depths(tree).max() == tree.depth.max() - 3
    # 30 deals, then 4 cards where a round is over. By 3 plies: cc, crc, rc and rrc, and crr, which
    # goes on. By 3 moves, cc and rc go on with either of two moves after the card.
    assert len(cut(tree, DepthLimit(plies=3)).leaves.histories) == 30 * (4 * 4 + 1)
    assert len(cut(tree, DepthLimit(moves=3)).leaves.histories) == 30 * (4 * 2 + 4 * 2 * 2 + 1)


@pytest.mark.parametrize("limit", [DepthLimit(moves=1), DepthLimit(plies=20), DepthLimit(rounds=3)])
def test_what_is_written_can_be_read(limit: DepthLimit) -> None:
    assert DepthLimit.parse(str(limit)) == limit


@pytest.mark.parametrize("text", ["", "2", "rounds", "2 turns", "two rounds", "-1 plies"])
def test_what_is_no_depth_limit_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match=f"'{text}' must be a depth limit such as '2 rounds'"):
        DepthLimit.parse(text)
