"""Trees from rules against trees from walking OpenSpiel's states of the same games."""

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.tree import GameTree, from_openspiel, public_states
from spiel_dl.tree.public_states import PublicStates

SMALL_GAMES = [
    "python_goofspiel_ii(num_cards=3,points_order=random,forced_last_round=True)",
    "python_goofspiel_ii(num_cards=3,points_order=ascending,returns_type=point_difference)",
    "python_oshi_zumo_ii(coins=4,start_location=1)",
    "python_leduc(num_ranks=2,max_raises=0)",
    "python_battleships(board_width=2,board_height=1,ship_sizes=[1])",
]
PAPER_GOOFSPIEL = "python_goofspiel_ii(num_cards=5,points_order=descending,forced_last_round=True)"


@pytest.mark.parametrize("game_string", SMALL_GAMES)
def test_equals_the_walk_over_states(game_string):
    game = pyspiel.load_game(game_string)
    ours = GameTree.from_game(game)
    walked = GameTree.from_histories(from_openspiel.enumerate_game(game, 10**6))
    for name in ("parent", "depth", "action", "player", "infoset", "sequence", "move_number"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(walked, name), err_msg=name)
    np.testing.assert_allclose(ours.chance_reach, walked.chance_reach, rtol=1e-15)
    np.testing.assert_array_equal(ours.utility, walked.utility)
    for player in (0, 1):
        for field in ("parent_sequence", "first_sequence", "num_actions"):
            np.testing.assert_array_equal(
                getattr(ours.treeplexes[player], field), getattr(walked.treeplexes[player], field)
            )
    # The walk knows strings only, so its public states are by common knowledge.
    assert_same_partition(
        public_states.common_knowledge(ours).of_history,
        public_states.common_knowledge(walked).of_history,
    )


def assert_same_partition(one: np.ndarray, other: np.ndarray) -> None:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    assert len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


def assert_coarsens(coarse: PublicStates, fine: PublicStates) -> None:
    pairs = set(zip(fine.of_history.tolist(), coarse.of_history.tolist(), strict=True))
    assert len(pairs) == len(set(fine.of_history.tolist()))


@pytest.mark.parametrize("game_string", [*SMALL_GAMES, PAPER_GOOFSPIEL])
def test_public_tensors_equal_or_coarsen_common_knowledge(game_string):
    tree = GameTree.from_game(game_string)
    by_tensor = public_states.by_public_tensor(tree)
    closure = public_states.common_knowledge(tree)
    public_states.check(tree, by_tensor)
    public_states.check(tree, closure)
    assert_coarsens(by_tensor, closure)
    assert tree.public_states.num_public_states == by_tensor.num_public_states


def test_goofspiel_5_has_few_public_tensors_and_many_closures():
    """3, 9, 27 public states by tensors and 7, 44, 248 by common knowledge after 1, 2, 3 rounds."""
    tree = GameTree.from_game(PAPER_GOOFSPIEL)
    for partition, expected in (
        (public_states.by_public_tensor(tree), [3, 9, 27]),
        (public_states.common_knowledge(tree), [7, 44, 248]),
    ):
        assert [int((partition.depth == 2 * rounds).sum()) for rounds in (1, 2, 3)] == expected
