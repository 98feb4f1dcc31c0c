"""Helpers for tests of factored games: compiled trees of the same games, playouts, policies."""

import dataclasses
import random

import numpy as np
import pyspiel

from spiel_dl.games.features import features
from spiel_dl.solvers import kernels
from spiel_dl.solvers.best_response import realization_plan
from spiel_dl.solvers.strategies import behaviour_strategy
from spiel_dl.tree.factored_game import FactoredGame
from spiel_dl.tree.from_openspiel import enumerate_game
from spiel_dl.tree.game_tree import GameTree
from spiel_dl.tree.sequence_form import SequenceForm


def tree_of_tensors(game: pyspiel.Game) -> GameTree:
    """The list of histories, with the infosets that dark hex's tensors tell apart.

    Its strings are these tensors and the number of all turns, in the line before the last.
    """
    histories = enumerate_game(game, None)
    keys = histories.infoset_key.copy()
    for player in (0, 1):
        merged: dict[str, int] = {}
        acting = np.flatnonzero(histories.player == player)
        distinct, first = np.unique(histories.infoset_key[player, acting], return_index=True)
        for key, history in zip(distinct.tolist(), acting[first].tolist(), strict=True):
            lines = histories.state(history).information_state_string(player).split("\n")
            name = "\n".join(lines[:-2] + lines[-1:])
            keys[player, histories.infoset_key[player] == key] = merged.setdefault(name, key)
    return GameTree.from_histories(dataclasses.replace(histories, infoset_key=keys))


def place_of_sequences(tree: GameTree, game: FactoredGame, player: int) -> np.ndarray:
    """The factored game's sequence of each of the tree's sequences: int [S]."""
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


def random_plan(game: FactoredGame | SequenceForm, player: int, seed: int) -> np.ndarray:
    """The plan of a `random_strategy`."""
    return realization_plan(game.treeplexes[player], random_strategy(game, player, seed))


def random_strategy(game: FactoredGame | SequenceForm, player: int, seed: int) -> np.ndarray:
    """A strategy that is far from uniform: probabilities of 0 and of nearly 1 occur."""
    treeplex = game.treeplexes[player]
    weights = np.random.default_rng(seed).exponential(size=treeplex.num_sequences) ** 4
    weights[weights < 0.01] = 0.0
    weights[treeplex.first_sequence] += 1e-9
    return behaviour_strategy(treeplex, weights)


def check_gradients(game: FactoredGame, tree: GameTree) -> None:
    """Both have the same sequences, and the same cfvs of them for plans drawn at random."""
    places = [place_of_sequences(tree, game, player) for player in (0, 1)]
    for player, place in enumerate(places):
        assert sorted(place) == list(range(game.treeplexes[player].num_sequences))
        for seed in (1, 2):
            plan = random_plan(game, 1 - player, seed)
            found = game.sequence_form.values_against(player, plan)
            expected = tree.sequence_form.values_against(player, plan[places[1 - player]])
            np.testing.assert_allclose(found[place], expected, atol=1e-14)


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
            forced = game.forced_action(state)
            if forced is not None:
                assert state.legal_actions() == [forced]
                state.apply_action(forced)
                continue
            infoset = game.find_infoset(state, player)
            tensor = np.array(state.information_state_tensor(player), np.float32)
            tensors, legal = game.observations(player, infoset, infoset + 1)
            np.testing.assert_array_equal(tensors[0], tensor)
            assert np.flatnonzero(legal[0]).tolist() == state.legal_actions()
            seen = game.features(player, infoset, infoset + 1)
            np.testing.assert_array_equal(seen[0], features(state, player))
            assert game.legal_actions(player, infoset).tolist() == state.legal_actions()
            others = [game.history(player, infoset), game.other_history(player, infoset)]
            for history in others:
                if history is not None:
                    twin = game.state_after(history)
                    assert twin.current_player() == player
                    assert twin.information_state_tensor(player) == tensor.tolist()
            state.apply_action(generator.choice(state.legal_actions()))


def uniform_numbers(game: FactoredGame) -> tuple[float, float, float]:
    """The uniform policy's value and the best responses to it, from two gradients."""
    plans = [realization_plan(t, t.uniform_strategy()) for t in game.treeplexes]
    values, best = [], []
    for player, treeplex in enumerate(game.treeplexes):
        cfv = game.sequence_form.values_against(player, plans[1 - player])
        values.append(float(plans[player] @ cfv))
        is_fixed = np.zeros(treeplex.num_infosets, np.bool_)
        kernels.best_response_values(treeplex.arrays, is_fixed, cfv, np.ones(len(cfv)))
        best.append(float(cfv[0]))
    assert abs(values[0] + values[1]) < 1e-9
    return values[0], best[0], best[1]
