"""Factored liar's dice beside its list of histories, and beside numbers of other programs."""

import pytest

from spiel_dl.factored.families import factored_game
from spiel_dl.tree.game_tree import GameTree
from tests.factored_checks import (
    check_gradients,
    check_playouts,
    uniform_numbers,
)

SMALL = [
    "liars_dice(numdice=1,dice_sides=4)",
    "liars_dice(numdice=1,dice_sides=3,bidding_rule=reset-quantity)",
    "liars_dice(numdice=2,dice_sides=2)",
    "python_liars_dice(numdice=1,dice_sides=3)",
    "python_liars_dice(numdice=2,dice_sides=2,bidding_rule=reset-quantity)",
]


@pytest.mark.parametrize("name", SMALL)
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    game, tree = factored_game(name, num_threads=2), GameTree.from_game(name)
    check_gradients(game, tree)


@pytest.mark.parametrize("name", SMALL)
def test_infosets_are_openspiels(name: str) -> None:
    check_playouts(factored_game(name), 60)


@pytest.mark.parametrize("name", SMALL)
def test_every_infoset_has_a_state_of_its_own(name: str) -> None:
    game = factored_game(name)
    for player in (0, 1):
        tensors = set()
        for infoset in range(game.num_infosets(player)):
            assert game.find_infoset(game.state(player, infoset), player) == infoset
            tensors.add(game.observations(player, infoset, infoset + 1).tensors.tobytes())
        assert len(tensors) == game.num_infosets(player)


def test_the_uniform_policy_of_two_dice_of_five_sides() -> None:
    game = factored_game("liars_dice(numdice=2,dice_sides=5)")
    # The number of infosets that is published, 15.7 million.
    assert [game.num_infosets(player) for player in (0, 1)] == [15 * 2**19] * 2
    value, best_0, best_1 = uniform_numbers(game)
    assert value == pytest.approx(-0.014, abs=1e-6)
    assert (best_0 + best_1) / 2 == pytest.approx(0.890598, abs=1e-6)
    check_playouts(game, 50)
