"""Sequence forms of parts of games."""

import numpy as np
import pytest

from spiel_dl.solvers import linear_program
from spiel_dl.tree import GameTree
from spiel_dl.tree.restricted_form import form_of_part


def whole(tree: GameTree) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(tree.num_infosets(0)), np.arange(tree.num_infosets(1))


def at_the_root(_: int, histories: np.ndarray) -> np.ndarray:
    return np.zeros(len(histories), np.int64)


@pytest.mark.parametrize("game", ["kuhn_poker", "python_leduc"])
def test_everything_is_the_game_itself(game):
    tree = GameTree.from_game(game)
    form, originals = form_of_part(
        tree, whole(tree), (1, 1), at_the_root, np.flatnonzero(tree.is_terminal)
    )
    for player in (0, 1):
        assert originals[player].tolist() == list(range(tree.treeplexes[player].num_sequences))
        for field in ("parent_sequence", "first_sequence", "num_actions"):
            np.testing.assert_array_equal(
                getattr(form.treeplexes[player], field), getattr(tree.treeplexes[player], field)
            )
    assert (form.payoffs != tree.sequence_form.payoffs).nnz == 0


def test_forced_moves_may_be_left_out():
    """Goofspiel's last bids: fewer sequences, the same value."""
    tree = GameTree.from_game("python_goofspiel_ii(num_cards=3,forced_last_round=True)")
    free = [np.flatnonzero(treeplex.num_actions > 1) for treeplex in tree.treeplexes]
    forced = [np.flatnonzero(treeplex.num_actions == 1) for treeplex in tree.treeplexes]
    form, originals = form_of_part(
        tree,
        (free[0], free[1]),
        (1, 1),
        at_the_root,
        np.flatnonzero(tree.is_terminal),
        (forced[0], forced[1]),
    )
    for player in (0, 1):
        assert len(free[player]) < tree.num_infosets(player)
        kept = tree.treeplexes[player].infoset_of_sequence[originals[player][1:]]
        np.testing.assert_array_equal(np.unique(kept), free[player])
    assert form.utility_range == tree.sequence_form.utility_range
    expected = linear_program.solve(tree.sequence_form).value
    assert linear_program.solve(form).value == pytest.approx(expected, abs=1e-9)


def test_root_sequences_by_hand():
    """Kuhn poker without player 0's first move: one root for each deal, passed or bet."""
    tree = GameTree.from_game("kuhn_poker")
    after_first_move = np.flatnonzero((tree.move_number == 1) & (tree.player == 1))
    root = np.full((2, tree.num_histories), -1, np.int64)
    root[:, after_first_move] = np.arange(12)
    for start, end in tree.levels_below_root():
        above = root[:, tree.parent[start:end]]
        root[:, start:end] = np.where(above >= 0, above, root[:, start:end])
    second = np.flatnonzero(tree.move_number[tree.first_history[0]] == 2)
    terminals = np.flatnonzero(tree.is_terminal)
    form, originals = form_of_part(
        tree,
        (second, np.zeros(0, np.int64)),
        (12, 12),
        lambda player, histories: root[player, histories],
        terminals[:0],
    )
    assert form.payoffs.nnz == 0
    assert form.treeplexes[1].num_sequences == 12
    treeplex = form.treeplexes[0]
    assert treeplex.num_root_sequences == 12
    assert treeplex.num_actions.tolist() == [2, 2, 2]
    # Each hangs from the root of its first history.
    expected = root[0, tree.first_history[0][second]]
    assert treeplex.parent_sequence.tolist() == expected.tolist()
    assert originals[0][:12].tolist() == [0] * 12
