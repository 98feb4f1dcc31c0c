"""The histories of trunks, against walks over the whole game."""

from __future__ import annotations

import numpy as np
import pytest

from spiel_dl.tree import DepthLimit, GameTree, cut
from spiel_dl.tree.pieces import ROOT, Pieces
from spiel_dl.tree.trunk import Trunk

CUTS = [
    ("leduc_poker", DepthLimit(plies=2)),
    ("python_goofspiel_ii(num_cards=3,points_order=random)", DepthLimit(rounds=1)),
    ("python_battleships(board_height=2,board_width=2,num_shots=2,ship_sizes=[1])",
     DepthLimit(rounds=1)),
]  # fmt: skip


def walk(tree: GameTree, tops: list[int], limit: DepthLimit) -> tuple[np.ndarray, np.ndarray]:
    """The first history of a part on the way to each history, and the leaf: int [H], -1 elsewhere.

    Parents come before children, so one pass is enough.
    """
    depths = limit.depths(tree)
    top, leaf = np.full(tree.num_histories, -1), np.full(tree.num_histories, -1)
    for history in range(tree.num_histories):
        parent = int(tree.parent[history])
        top[history] = history if history in tops else top[parent] if history else -1
        if top[history] < 0:
            continue
        if parent >= 0 and leaf[parent] >= 0:
            leaf[history] = leaf[parent]
        elif tree.player[history] >= 0 and depths[history] >= depths[top[history]] + limit.value:
            leaf[history] = history
    return top, leaf


def parts(tree: GameTree, limit: DepthLimit) -> list[list[int]]:
    """The public states of some pieces, one by one, and of all pieces of a level at once."""
    pieces = Pieces(tree, limit, "block")
    starts = np.unique(pieces.of_history[pieces.of_history != ROOT]).tolist()
    levels: dict[int, list[int]] = {}
    for start in starts:
        levels.setdefault(pieces.start(start), []).append(start)
    return [*([start] for start in starts[:3]), *levels.values()]


def assert_extent_is(trunk: Trunk[GameTree], top: np.ndarray, leaf: np.ndarray) -> None:
    extent, tree = trunk.extent, trunk.tree
    above = np.flatnonzero((top >= 0) & (leaf < 0))
    leaves = np.flatnonzero(leaf == np.arange(tree.num_histories))
    np.testing.assert_array_equal(extent.histories, above)
    np.testing.assert_array_equal(extent.starts[extent.start_of_history], top[above])
    np.testing.assert_array_equal(extent.leaves, leaves)
    np.testing.assert_array_equal(extent.starts[extent.start_of_leaf], top[leaves])
    held = np.concatenate([above, leaves])
    for player in (0, 1):
        of_starts = np.full(tree.num_histories, -1)
        of_starts[extent.starts] = extent.start_roots[player]
        np.testing.assert_array_equal(extent.roots_at(player, held), of_starts[top[held]])
    is_held, is_start = top >= 0, top == np.arange(tree.num_histories)
    for history in range(0, tree.num_histories, 7):
        assert extent.holds(history) == (is_held[history] and leaf[history] < 0)
        assert extent.starts_at(history) == is_start[history]


@pytest.mark.parametrize(("game", "limit"), CUTS)
def test_trunks_hold_what_lies_between_start_and_leaves(game: str, limit: DepthLimit) -> None:
    tree = GameTree.from_game(game)
    trunk = cut(tree, limit)
    assert trunk.extent.is_whole
    assert_extent_is(trunk, *walk(tree, [0], limit))
    for states in parts(tree, limit):
        trunk = cut(tree, limit, states)
        tops = np.concatenate([tree.public_states.histories(state) for state in states])
        assert trunk.extent.is_whole == (0 in tops)
        assert_extent_is(trunk, *walk(tree, tops.tolist(), limit))
        np.testing.assert_array_equal(trunk.extent.starts, np.sort(tops))


def test_what_follows_histories_of_several_depths_is_in_order() -> None:
    tree = GameTree.from_game("kuhn_poker")
    shallow = int(np.flatnonzero(tree.move_number == 0)[-1])
    of_others = np.flatnonzero(tree.move_number == 1)
    deep = of_others[tree.parent[of_others] != shallow]
    starts = np.sort(np.append(deep, shallow))
    found, start = tree.following(starts)
    assert (np.diff(found) > 0).all()
    for history, place in zip(found.tolist(), start.tolist(), strict=True):
        while history > starts[place]:
            history = int(tree.parent[history])
        assert history == starts[place]
    children = np.isin(tree.parent, found) & (np.arange(tree.num_histories) > 0)
    assert set(found) == set(np.flatnonzero(children)) | set(starts)
