"""Trees from rules against trees from walking OpenSpiel's states of the same games."""

import numpy as np
import pyspiel
import pytest

import spiel_dl.games  # noqa: F401 - registers the games
from spiel_dl.tree import GameTree, from_openspiel, public_states, twins
from tests.trees import assert_same_tree

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
    assert_same_tree(ours, walked)
    # The walk knows strings only, so its public states are by common knowledge.
    one, other = (public_states.common_knowledge(t).of_history.tolist() for t in (ours, walked))
    assert len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


@pytest.mark.parametrize("game_string", [*SMALL_GAMES, PAPER_GOOFSPIEL])
def test_public_tensors_equal_or_coarsen_common_knowledge(game_string):
    tree = GameTree.from_game(game_string)
    by_tensor = public_states.of_tree(tree)
    closure = public_states.common_knowledge(tree)
    public_states.check(tree, by_tensor)
    public_states.check(tree, closure)
    coarse, fine = by_tensor.of_history.tolist(), closure.of_history.tolist()
    assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    assert tree.public_states.num_public_states == by_tensor.num_public_states


def test_goofspiel_5_has_few_public_tensors_and_many_closures():
    """3, 9, 27 public states by tensors and 7, 44, 248 by common knowledge after 1, 2, 3 rounds."""
    tree = GameTree.from_game(PAPER_GOOFSPIEL)
    for partition, expected in (
        (public_states.of_tree(tree), [3, 9, 27]),
        (public_states.common_knowledge(tree), [7, 44, 248]),
    ):
        assert [int((partition.depth == 2 * rounds).sum()) for rounds in (1, 2, 3)] == expected


TWINS = [
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=3,points_order=random,returns_type=point_difference)",
    "battleship(board_width=2,board_height=2,ship_sizes=[2],ship_values=[3],num_shots=2)",
    "liars_dice(dice_sides=3)",
]


@pytest.mark.parametrize("game_string", TWINS)
def test_a_game_of_openspiel_is_the_same_by_its_twin(
    game_string: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = GameTree.from_game(game_string)
    monkeypatch.setattr(from_openspiel, "_MAX_WALKED", 10)
    ours = GameTree.from_game(game_string)
    assert_same_tree(ours, walked)
    assert (ours.infoset_key != walked.infoset_key).any(), "it was not walked"
    for name in ("of_history", "parent", "augmented_infoset"):
        np.testing.assert_array_equal(
            getattr(ours.public_states, name), getattr(walked.public_states, name), err_msg=name
        )
    for player in (0, 1):
        assert ours.infoset_string(player, 1) == walked.infoset_string(player, 1)


@pytest.mark.parametrize(
    "ships",
    [
        "ship_sizes=[3],ship_values=[1.0],num_shots=2",  # nobody wins
        "ship_sizes=[1;2],ship_values=[1;1],num_shots=1",  # the first may leave no room
    ],
)
def test_a_game_that_its_twin_refuses_is_walked(
    ships: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = f"board_width=3,board_height=1,{ships}"
    game = from_openspiel.load_turn_based(f"battleship({sizes},allow_repeated_shots=False)")
    assert twins.twin_string(game) is not None
    assert twins.enumerate_by_twin(game) is None
    monkeypatch.setattr(from_openspiel, "_MAX_WALKED", 10)
    assert GameTree.from_game(game).num_histories > 10


def test_a_game_without_a_twin_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(from_openspiel, "_MAX_WALKED", 10)
    monkeypatch.setitem(twins._TWINS, "liars_dice", lambda _: "python_liars_dice(dice_sides=2)")
    assert GameTree.from_game("liars_dice(dice_sides=3)").num_histories > 10
    for given in ("goofspiel", "goofspiel(imp_info=True,num_cards=4,num_turns=3)", "kuhn_poker"):
        assert twins.twin_string(from_openspiel.load_turn_based(given)) is None


@pytest.mark.parametrize(
    "other",
    [
        "goofspiel(num_cards=3,points_order=random,imp_info=False)",  # other infosets
        "goofspiel(num_cards=3,points_order=descending,imp_info=True)",  # other chance
        "goofspiel(num_cards=4,points_order=random,imp_info=True)",  # other actions
        "goofspiel(num_cards=3,points_order=random,imp_info=True,returns_type=point_difference)",
    ],
)
def test_other_games_are_no_twins(other: str) -> None:
    ours = pyspiel.load_game("python_goofspiel_ii(num_cards=3)")
    same = from_openspiel.load_turn_based("goofspiel(num_cards=3,imp_info=True)")
    assert twins.is_twin(same, ours)
    assert not twins.is_twin(from_openspiel.load_turn_based(other), ours)
