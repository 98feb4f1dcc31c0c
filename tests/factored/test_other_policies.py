"""Policies far from uniform: OpenSpiel's exploitability of them, and their value by playouts."""

import hashlib
import math
import random

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability

import spiel_dl as dl
from spiel_dl.factored.families import factored_game
from spiel_dl.policies.array_policy import plans_of
from tests.factored_checks import random_strategy
from tests.reference import ByHand


def drawn(state: pyspiel.State, player_id: int | None) -> dict[int, float]:
    """What is drawn for each infoset, by what the player is told; far from uniform."""
    player = state.current_player() if player_id is None else player_id
    observation = np.array(state.information_state_tensor(player), np.int8).tobytes()
    generator = random.Random(hashlib.sha256(observation + bytes([player])).digest())
    weights = {action: generator.expovariate(1.0) ** 4 for action in state.legal_actions()}
    return {action: weight / sum(weights.values()) for action, weight in weights.items()}


@pytest.mark.parametrize(
    "name",
    [
        "dark_hex(board_size=2)",
        "dark_hex(gameversion=adh,board_size=2)",
        "liars_dice(numdice=1,dice_sides=3)",
        "liars_dice(numdice=2,dice_sides=2)",
    ],
)
def test_exploitability_is_openspiels(name: str) -> None:
    game = factored_game(name)
    policy = ByHand(game.game, drawn)
    expected = exploitability.exploitability(game.game, policy)
    assert dl.exploitability(game, policy) == pytest.approx(expected, abs=1e-12)
    assert expected > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "phantom_ttt",
        "dark_hex",
        "dark_hex(gameversion=adh,num_rows=2,num_cols=4)",
        "liars_dice(numdice=2,dice_sides=5)",
    ],
)
def test_values_are_those_of_playouts(name: str) -> None:
    game, generator = factored_game(name), np.random.default_rng(5)
    strategies = [random_strategy(game, player, seed=4 + player) for player in (0, 1)]
    plans = plans_of(game, strategies)
    value = float(plans[0] @ game.sequence_form.values_against(0, plans[1]))
    utilities = []
    for _ in range(1500):
        state = game.game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, chances = zip(*state.chance_outcomes(), strict=True)
            else:
                player = state.current_player()
                infoset = game.find_infoset(state, player)
                actions = state.legal_actions()
                chances = strategies[player][game.treeplexes[player].sequences(infoset)]
            state.apply_action(int(generator.choice(actions, p=chances)))
        utilities.append(state.returns()[0])
    error = float(np.std(utilities)) / math.sqrt(len(utilities))
    # With another seed, this fails once in ten thousand times.
    assert abs(np.mean(utilities) - value) < 4 * error + 1e-9
    assert error < 0.03
