"""Pieces of Kuhn poker by hand.

Its public states are 0 root, 1 first card, 2 dealt, 3 passed, 4 bet, 5 passed and bet. Player 0
acts in 2 and 5, player 1 in 3 and 4.
"""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

from spiel_dl import ArrayPolicy, DepthLimit, ExactValue, GameTree
from spiel_dl.algorithms.cdbr import CDBRPolicy
from spiel_dl.algorithms.continual_resolving import ContinualResolvingPolicy
from spiel_dl.tree.pieces import ROOT, Pieces, look_ahead_sizes
from tests import tiny_games


@pytest.fixture(scope="module")
def tree() -> GameTree:
    return GameTree.from_game("kuhn_poker")


def pieces_of_public_states(pieces: Pieces) -> list[int]:
    """The piece of each public state's first history."""
    partition = pieces.tree.public_states
    return [
        int(pieces.of_history[partition.histories(state)[0]])
        for state in range(partition.num_public_states)
    ]


def test_sliding_pieces_begin_at_every_level(tree: GameTree) -> None:
    for levels in (1, 2):
        pieces = Pieces(tree, DepthLimit(moves=levels), "sliding")
        assert pieces.num_kept == 1
        assert pieces_of_public_states(pieces) == [ROOT, ROOT, ROOT, 3, 4, 5]
        assert [pieces.horizon(depth) for depth in (0, 1, 2)] == [levels, 1 + levels, 2 + levels]


def test_blocks_begin_where_the_last_one_ends(tree: GameTree) -> None:
    pieces = Pieces(tree, DepthLimit(moves=2), "block")
    assert pieces.num_kept == 2
    assert pieces_of_public_states(pieces) == [ROOT, ROOT, ROOT, ROOT, ROOT, 5]
    assert [pieces.first_kept(depth) for depth in (0, 1, 2, 3)] == [0, 0, 2, 2]
    assert [pieces.horizon(depth) for depth in (0, 1, 2, 3)] == [2, 2, 4, 4]
    assert pieces.limit(3) == DepthLimit(moves=3)


def test_the_way_to_a_piece(tree: GameTree) -> None:
    pieces = Pieces(tree, DepthLimit(moves=1), "sliding")
    assert pieces.path(ROOT) == [ROOT]
    assert pieces.path(4) == [ROOT, 4]
    assert pieces.path(5) == [ROOT, 3, 5]
    assert Pieces(tree, DepthLimit(moves=2), "block").path(5) == [ROOT, 5]
    assert [pieces.start(piece) for piece in (ROOT, 3, 4, 5)] == [0, 1, 1, 2]


def test_what_lies_below_a_piece(tree: GameTree) -> None:
    pieces = Pieces(tree, DepthLimit(moves=1), "sliding")
    assert pieces.below(ROOT).all()
    # Of each of six deals: passed; passed twice; passed, bet; then folded and called.
    assert pieces.below(3).sum() == 6 * 5
    # Bet; folded; called.
    assert pieces.below(4).sum() == 6 * 3
    assert pieces.below(5).sum() == 6 * 3
    below = np.flatnonzero(pieces.below(5))
    assert pieces.below(3)[below].all()
    assert not pieces.below(4)[below].any()


def test_other_schemes_and_units_are_refused(tree: GameTree) -> None:
    with pytest.raises(ValueError, match=r"scheme='blocks' must be one of .*sliding"):
        Pieces(tree, DepthLimit(moves=1), "blocks")
    with pytest.raises(ValueError, match="has no rounds"):
        Pieces(tree, DepthLimit(rounds=1), "block")


def test_an_infoset_at_several_depths_is_refused() -> None:
    game = pyspiel.load_efg_game(tiny_games.NO_CLOCK)
    pieces = Pieces(GameTree.from_game(game), DepthLimit(moves=1), "sliding")
    with pytest.raises(ValueError, match=r"player 1's infoset '.*late' lies at several depths"):
        _ = pieces.infoset_depths


def test_the_first_piece_ends_where_the_solver_starts(tree: GameTree) -> None:
    pieces = Pieces(tree, DepthLimit(moves=2), "block", first_level=1)
    # Levels 1 and 2 are one block.
    assert pieces_of_public_states(pieces) == [ROOT, ROOT, ROOT, 3, 4, 3]


def test_below_what_is_left_out_the_solver_tries_again(tree: GameTree) -> None:
    for left_out, expected in (
        ([ROOT], [ROOT, ROOT, ROOT, 3, 4, 3]),
        ([ROOT, 3], [ROOT, ROOT, ROOT, 3, 4, 5]),
        ([4], [ROOT, ROOT, ROOT, ROOT, ROOT, 5]),
    ):
        flags = np.zeros(tree.num_public_states + 1, np.bool_)
        flags[left_out] = True
        pieces = Pieces(tree, DepthLimit(moves=2), "block", left_out=flags)
        assert pieces_of_public_states(pieces) == expected


def test_sizes_of_look_aheads_by_hand(tree: GameTree) -> None:
    """Six deals. Below each there are 2 histories, then 2 after a pass and 2 after a bet, then 2.

    A public state counts, as well as what ends the game, and leaves.
    """
    for moves, sizes in (
        (1, [0, 0, 18, 18, 18, 18]),
        (2, [0, 0, 42, 30, 18, 18]),
        (3, [0, 0, 54, 30, 18, 18]),
    ):
        assert look_ahead_sizes(tree, DepthLimit(moves=moves)).tolist() == sizes


AT_THE_ROOT_AGAIN = """EFG 2 R "" { "A" "B" } ""
p "" 2 1 "first" { "a" "b" } 0
p "" 1 1 "same" { "a" } 0
t "" 1 "" { 0.0 0.0 }
p "" 2 2 "second" { "a" "b" "c" } 0
p "" 2 3 "third" { "a" } 0
c "" 1 "" { "c" 1.0 } 0
t "" 2 "" { 1.0 -1.0 }
p "" 1 1 "same" { "a" } 0
t "" 3 "" { -0.5 0.5 }
t "" 4 "" { 0.125 -0.125 }
"""
"""Player 0's infoset lies at two depths, and so does the root's public state."""
BESIDE_CHANCE = """EFG 2 R "" { "A" "B" } ""
c "" 1 "" { "x" 0.5 "y" 0.5 } 0
c "" 2 "" { "x" 0.5 "y" 0.5 } 0
p "" 1 1 "i1" { "a" } 0
t "" 1 "" { 2 -2 }
p "" 1 2 "i2" { "a" } 0
t "" 2 "" { 2 -2 }
p "" 1 3 "i3" { "a" "b" } 0
c "" 3 "" { "x" 1 } 0
t "" 3 "" { -2 2 }
p "" 1 4 "i4" { "a" "b" } 0
t "" 4 "" { -1 1 }
t "" 5 "" { -2 2 }
"""
"""Chance acts in a history of a public state in which the player acts elsewhere."""


@pytest.mark.parametrize("text", [AT_THE_ROOT_AGAIN, BESIDE_CHANCE])
@pytest.mark.parametrize("scheme", ["sliding", "block"])
def test_pieces_of_a_part_of_a_public_state_are_refused(text: str, scheme: str) -> None:
    tree = GameTree.from_game(pyspiel.load_efg_game(text))
    for limit in (DepthLimit(moves=1), DepthLimit(plies=1)):
        with pytest.raises(ValueError, match=r"public state \d is only partly below"):
            _ = Pieces(tree, limit, scheme).of_history
        for player in (0, 1):
            with pytest.raises(ValueError, match=r"public state \d is only partly below"):
                CDBRPolicy(tree, player, ArrayPolicy.uniform(tree), limit, scheme=scheme)


def test_a_game_without_decisions_has_no_horizon() -> None:
    tree = GameTree.from_game("oshi_zumo(coins=0,size=1)")
    assert Pieces(tree, DepthLimit(moves=1), "sliding").horizons() == []
    policy = ContinualResolvingPolicy(tree, ExactValue(), DepthLimit(moves=1))
    assert policy.to_array_policy().strategies[0].tolist() == [1.0]
