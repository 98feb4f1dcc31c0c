"""Factored goofspiel beside its list of histories, and OpenSpiel's states."""

import numpy as np
import pytest

from spiel_dl.factored.families import factored_game
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import check_gradients, check_playouts

GAMES = [
    "goofspiel(num_cards=4,imp_info=true)",
    "goofspiel(num_cards=3,imp_info=true,returns_type=point_difference)",
    "goofspiel(num_cards=4,imp_info=true,points_order=descending)",
    "goofspiel(num_cards=3,imp_info=true,points_order=ascending)",
    "goofspiel(num_cards=2,imp_info=true)",
]


@pytest.mark.parametrize("name", GAMES)
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    game, tree = factored_game(name, num_threads=2), GameTree.from_game(name)
    check_gradients(game, tree)


@pytest.mark.parametrize("name", [*GAMES, "goofspiel(num_cards=5,imp_info=true)"])
def test_infosets_are_openspiels(name: str) -> None:
    check_playouts(factored_game(name), 20)


@pytest.mark.parametrize("name", GAMES)
def test_every_infoset_has_a_state_of_its_own(name: str) -> None:
    game = factored_game(name)
    for player in (0, 1):
        for infoset in range(game.num_infosets(player)):
            assert game.find_infoset(game.state(player, infoset), player) == infoset
        tensors, legal = game.observations(player, 0, game.num_infosets(player))
        assert len(np.unique(tensors, axis=0)) == len(tensors)
        for infoset in (0, game.num_infosets(player) - 1):
            assert np.flatnonzero(legal[infoset]).tolist() == (
                game.legal_actions(player, infoset).tolist()
            )


@pytest.mark.parametrize("parameter", ["imp_info=false", "imp_info=true,returns_type=total_points"])
def test_others_have_no_factored_form(parameter: str) -> None:
    with pytest.raises(ValueError, match=r"has no factored form|general-sum|zero-sum|constant"):
        factored_game(f"goofspiel(num_cards=3,{parameter})")
