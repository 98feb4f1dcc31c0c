"""Factored abrupt phantom games beside their lists of histories, and OpenSpiel's states."""

import numpy as np
import pytest

from spiel_dl.tree.factored.families import factored_game
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import (
    check_playouts,
    place_of_sequences,
    random_plan,
)

SMALL = [
    "dark_hex(gameversion=adh,board_size=2)",
    "dark_hex(gameversion=adh,num_rows=2,num_cols=3)",
]


@pytest.mark.parametrize("name", SMALL)
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    # Players of abrupt games know how many turns there were, so strings tell what tensors tell.
    game, tree = factored_game(name, num_threads=2), GameTree.from_game(name)
    places = [place_of_sequences(tree, game, player) for player in (0, 1)]
    for player, place in enumerate(places):
        assert sorted(place) == list(range(game.treeplexes[player].num_sequences))
        for seed in (1, 2):
            plan = random_plan(game, 1 - player, seed)
            found = game.sequence_form.values_against(player, plan)
            expected = tree.sequence_form.values_against(player, plan[places[1 - player]])
            np.testing.assert_allclose(found[place], expected, atol=1e-14)


@pytest.mark.parametrize("name", [*SMALL, "dark_hex(gameversion=adh,num_rows=4,num_cols=2)"])
def test_infosets_are_openspiels(name: str) -> None:
    check_playouts(factored_game(name), 40)


@pytest.mark.parametrize("name", SMALL)
def test_every_infoset_has_a_state_of_its_own(name: str) -> None:
    game = factored_game(name)
    for player in (0, 1):
        for infoset in range(game.num_infosets(player)):
            assert game.find_infoset(game.state(player, infoset), player) == infoset
