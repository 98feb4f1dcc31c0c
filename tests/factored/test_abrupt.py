"""Factored abrupt phantom games beside their lists of histories, and OpenSpiel's states."""

import pytest

from spiel_dl.factored import merged
from spiel_dl.factored.families import factored_game
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import (
    check_gradients,
    check_playouts,
    uniform_numbers,
)

SMALL = [
    "dark_hex(gameversion=adh,board_size=2)",
    "dark_hex(gameversion=adh,num_rows=2,num_cols=3)",
]
OWN = [
    "python_abrupt_dark_hex(num_rows=2,num_cols=2)",
    "python_abrupt_dark_hex(num_rows=4,num_cols=2)",
]


@pytest.mark.parametrize("name", [*SMALL, OWN[0]])
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    # Players of abrupt games know how many turns there were, so strings tell what tensors tell.
    game, tree = factored_game(name, num_threads=2), GameTree.from_game(name)
    check_gradients(game, tree)


def test_gradients_do_not_depend_on_what_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged, "_MOST_ENTRIES", 30)  # Fewer than in one level of the game.
    game = factored_game(SMALL[1], num_threads=2)
    assert len(game.sequence_form.skeletons.edges) > 1000
    check_gradients(game, GameTree.from_game(SMALL[1]))


@pytest.mark.parametrize("name", [*SMALL, *OWN, "dark_hex(gameversion=adh,num_rows=4,num_cols=2)"])
def test_infosets_are_the_games(name: str) -> None:
    check_playouts(factored_game(name), 40)


@pytest.mark.parametrize("name", SMALL)
def test_every_infoset_has_a_state_of_its_own(name: str) -> None:
    game = factored_game(name)
    for player in (0, 1):
        for infoset in range(game.num_infosets(player)):
            assert game.find_infoset(game.state(player, infoset), player) == infoset


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "exploitability"),
    [
        ("phantom_ttt(gameversion=abrupt)", 0.316275, 0.619334),
        ("dark_hex(gameversion=adh)", 0.266926, 0.762605),
    ],
)
def test_the_uniform_policy_of_the_whole_games(
    name: str, value: float, exploitability: float
) -> None:
    game = factored_game(name)
    check_playouts(game, 30)
    found, best_0, best_1 = uniform_numbers(game)
    assert found == pytest.approx(value, abs=1e-6)
    assert (best_0 + best_1) / 2 == pytest.approx(exploitability, abs=1e-6)
