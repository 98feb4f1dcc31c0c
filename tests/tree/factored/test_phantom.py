"""Factored phantom games beside their lists of histories, and beside numbers of other programs."""

import dataclasses
import random
from collections.abc import Callable

import numpy as np
import pyspiel
import pytest

from spiel_dl.solvers.best_response import best_response, expected_value, realization_plan
from spiel_dl.tree.factored.factored_game import FactoredGame
from spiel_dl.tree.factored.families import factored_game
from spiel_dl.tree.from_openspiel import enumerate_game
from spiel_dl.tree.game_tree import GameTree

SMALL = ["dark_hex(board_size=2)", "dark_hex(num_rows=2,num_cols=3)"]


def tree_of_tensors(game: pyspiel.Game) -> GameTree:
    """The list of histories, with the infosets that dark hex's tensors tell apart.

    Its strings are these tensors and the number of all turns, in the line before the last.
    """
    histories = enumerate_game(game, None)
    keys = histories.infoset_key.copy()
    assert histories.infoset_strings is not None
    for player in (0, 1):
        merged: dict[str, int] = {}
        for key, text in histories.infoset_strings[player].items():
            lines = text.split("\n")
            first = merged.setdefault("\n".join(lines[:-2] + lines[-1:]), key)
            keys[player, histories.infoset_key[player] == key] = first
    return GameTree.from_histories(dataclasses.replace(histories, infoset_key=keys))


def place_of_sequences(tree: GameTree, game: FactoredGame, player: int) -> np.ndarray:
    """Which of the factored game's sequences each of the tree's is: int [S]."""
    place = np.zeros(tree.treeplexes[player].num_sequences, np.int64)
    for infoset in range(tree.num_infosets(player)):
        state = tree.state(int(tree.first_history[player][infoset]))
        own = game.find_infoset(state, player)
        assert game.legal_actions(player, own).tolist() == state.legal_actions()
        sequences = game.treeplexes[player].sequences(own)
        place[tree.treeplexes[player].sequences(infoset)] = np.arange(
            sequences.start, sequences.stop
        )
    return place


def random_plan(game: FactoredGame, player: int, seed: int) -> np.ndarray:
    """A plan that is far from uniform: probabilities of 0 and of nearly 1 occur."""
    treeplex = game.treeplexes[player]
    weights = np.random.default_rng(seed).exponential(size=treeplex.num_sequences) ** 4
    weights[weights < 0.01] = 0.0
    weights[treeplex.first_sequence] += 1e-9
    sums = np.repeat(treeplex.sum_per_infoset(weights), treeplex.num_actions)
    return realization_plan(treeplex, np.concatenate([[1.0], weights[1:] / sums]))


@pytest.mark.parametrize("name", SMALL)
def test_gradients_are_those_of_the_list_of_histories(name: str) -> None:
    game = factored_game(name, num_threads=2)
    tree = tree_of_tensors(game.game)
    places = [place_of_sequences(tree, game, player) for player in (0, 1)]
    for player, place in enumerate(places):
        # Both have the same infosets and sequences.
        assert sorted(place) == list(range(game.treeplexes[player].num_sequences))
        for seed in (1, 2):
            plan = random_plan(game, 1 - player, seed)
            found = game.sequence_form.values_against(player, plan)
            expected = tree.sequence_form.values_against(player, plan[places[1 - player]])
            np.testing.assert_allclose(found[place], expected, atol=1e-14)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    one, three = (factored_game(SMALL[1], num_threads=n) for n in (1, 3))
    for player in (0, 1):
        plan = random_plan(one, 1 - player, seed=3)
        np.testing.assert_array_equal(
            one.sequence_form.values_against(player, plan),
            three.sequence_form.values_against(player, plan),
        )


def check_playouts(game: FactoredGame, num_playouts: int) -> None:
    """Holds what is said of infosets to OpenSpiel's states, along random playouts."""
    generator = random.Random(0)
    for _ in range(num_playouts):
        state = game.game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(generator.choice(outcomes)[0])
                continue
            player = state.current_player()
            infoset = game.find_infoset(state, player)
            tensor = np.array(state.information_state_tensor(player), np.float32)
            tensors, legal = game.observations(player, infoset, infoset + 1)
            np.testing.assert_array_equal(tensors[0], tensor)
            assert np.flatnonzero(legal[0]).tolist() == state.legal_actions()
            assert game.legal_actions(player, infoset).tolist() == state.legal_actions()
            others = [game.history(player, infoset), game.other_history(player, infoset)]
            for history in others:
                if history is not None:
                    twin = game.state_after(history)
                    assert twin.current_player() == player
                    assert twin.information_state_tensor(player) == tensor.tolist()
            state.apply_action(generator.choice(state.legal_actions()))


@pytest.mark.parametrize("name", [*SMALL, "dark_hex(num_rows=4,num_cols=2)"])
def test_infosets_are_openspiels(name: str) -> None:
    check_playouts(factored_game(name), 60)


def test_every_infoset_has_a_state_of_its_own() -> None:
    game = factored_game(SMALL[1])
    for player in (0, 1):
        for infoset in range(game.num_infosets(player)):
            assert game.find_infoset(game.state(player, infoset), player) == infoset


def uniform_numbers(game: FactoredGame) -> tuple[float, float, float]:
    """The uniform policy's value and the best responses to it."""
    plans = [realization_plan(t, t.uniform_strategy()) for t in game.treeplexes]
    form = game.sequence_form
    best = [best_response(form, player, plans[1 - player]).value for player in (0, 1)]
    return expected_value(form, (plans[0], plans[1])), best[0], best[1]


ANCHORS: dict[str, tuple[tuple[float, float, float], tuple[int, int]]] = {
    # The second: infosets of both players, as counted by enumerating own tries outside this house.
    "phantom_ttt": ((0.2968253968, 0.953125, 0.624339), (3_683_314, 2_307_355)),
    "dark_hex": ((1 / 3, 1.0, 0.832804), (3_720_850, 2_352_067)),
}


@pytest.mark.parametrize("name", ANCHORS)
def test_the_uniform_policy_of_the_whole_games(name: str) -> None:
    game = factored_game(name)
    numbers, sizes = ANCHORS[name]
    assert (game.num_infosets(0), game.num_infosets(1)) == sizes
    np.testing.assert_allclose(uniform_numbers(game), numbers, atol=1e-6)
    check_playouts(game, 100)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda game: game.legal_actions(0, game.num_infosets(0)), "infoset=17 must be from 0"),
        (lambda game: game.num_infosets(2), "player=2 must be 0 or 1"),
        (lambda game: game.find_infoset(game.game.new_initial_state(), 1), "player 1 does not mo"),
        (
            lambda game: game.find_infoset(pyspiel.load_game("dark_hex").new_initial_state(), 0),
            "the state is of dark_hex",
        ),
    ],
)
def test_questions_about_nothing_are_refused(
    call: Callable[[FactoredGame], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call(factored_game(SMALL[0]))


@pytest.mark.parametrize(
    "name", ["kuhn_poker", "phantom_ttt(obstype=reveal-numturns)", "dark_hex(board_size=4)"]
)
def test_other_games_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="has no factored form here"):
        factored_game(name)
